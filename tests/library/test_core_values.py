"""The first theory by hand: bounds and constructions from their formulas, and what is recorded when."""

import itertools
import math

import numpy as np
import pytest
import torch
from small import small_law

from patch_association.data import GaussianData, SpatialData
from patch_association.exact.labels import labeling_bounds
from patch_association.exact.risk import PopulationRisk
from patch_association.exact.set_sums import SupportTooLarge, support_bound
from patch_association.model import SimplifiedViT
from patch_association.structure import Partition, as_scores, association, row_separation
from patch_association.training import Clipped, Constant, HeldOut, Samples, recorded_steps
from patch_association.training.evaluate import two_numbers
from patch_association.training.population import descend_population
from patch_lab.beyond.adam import error_on, first_step, train
from patch_lab.beyond.gaussian_learners import OneLayerViT, make_learner
from patch_lab.dynamics.events import spread_steps, stable_rate
from patch_lab.dynamics.valley import best_alpha, curvature, largest_settling_rate, upward_crossing
from patch_lab.setting.constructions import (
    chain_encodings,
    hard_attention_bound,
    hard_attention_error,
    paired_encodings,
    query_key_for,
)
from patch_lab.setting.optimality import CubicForm, cubic_form

FOUR = Partition([0, 0, 1, 1])
SCATTERED = Partition([0, 1, 2, 0, 1, 2])


# --- partitions and scores


def test_a_stack_of_scores_only_where_a_stack_is_asked_for():
    stack = np.zeros((3, 4, 4))
    assert as_scores(stack, 4, stacked=True).shape == (3, 4, 4)
    for bad in (stack, np.zeros(4), np.zeros((4, 3))):
        with pytest.raises(ValueError, match=r"scores must have shape \(4, 4\)"):
            as_scores(bad, 4)
    assert as_scores(np.eye(4, dtype=bool), 4).dtype == np.float64
    with pytest.raises(ValueError, match="must be real numbers"):
        as_scores(np.eye(4) * 1j, 4)
    holes = np.zeros((4, 4))
    holes[0, 1], holes[2, 3] = np.nan, np.inf
    with pytest.raises(ValueError, match="got 2 NaN or infinite entries"):
        as_scores(holes, 4)


def test_margins_at_the_ends_of_float64():
    """Two scores near the ends of float64 lie infinitely far apart, without a warning."""
    far = np.where(FOUR.same_set, 1e308, -1e308)
    assert association(far, FOUR).margin == math.inf and association(-far, FOUR).margin == -math.inf
    assert row_separation(far, FOUR) == (1.0, 0.0) and row_separation(-far, FOUR) == (0.0, 1.0)


# --- what is drawn


def test_labels_and_signal_sets_are_fair_and_signs_come_with_their_chances():
    data, n = SpatialData(SCATTERED, 4, 0.4), 30_000
    s, y, signal = data.sample_coefficients(n, seed=2)
    spread = 6 / (2 * n**0.5)  # six standard errors of a fair coin: 2e-9
    assert abs((y > 0).mean() - 0.5) < spread and set(np.unique(y)) == {-1.0, 1.0}
    assert all(abs((signal == k).mean() - 1 / 3) < spread for k in range(3))
    outside = s[SCATTERED.labels[None, :] != signal[:, None]]
    assert abs((outside == 1).mean() - 0.2) < spread and abs((outside == -1).mean() - 0.2) < spread
    X, y = data.sample(4000, seed=2)
    noise = X - X @ data.feature.outer(data.feature)
    assert float(noise[..., 1:].std()) == pytest.approx(0.5, rel=6 / (2 * noise[..., 1:].numel()) ** 0.5)


def test_the_threshold_of_the_labels_lies_at_nine_tenths():
    """Sets of ten: nine patches are 0.9 C and say nothing; a little noise in the sum changes no label."""
    data = SpatialData(Partition(np.repeat([0, 1], 10)), 2, 0.5)
    X = torch.zeros(5, 20, 2, dtype=torch.float64)
    X[0, :10, 0], X[1, :9, 0], X[2, 10:, 0] = 1.0, 1.0, -1.0
    X[3, :9, 0] = 1.0 + 1e-9
    X[4, :9, 0] = 9.01 / 9  # above nine tenths by far more than rounding
    assert data.labeling_function(X).tolist() == [10.0, 0.0, -10.0, 0.0, pytest.approx(9.01)]
    assert data.labeling_function(X[:4].float()).tolist() == [10.0, 0.0, -10.0, 0.0]
    # Twenty patches in 8 bits: rounding by 1.8 could be, but 19 lies a whole patch above 18 and counts.
    large = SpatialData(Partition(np.repeat([0, 1], 20)), 2, 0.5)
    X = torch.zeros(1, 40, 2, dtype=torch.bfloat16)
    X[0, :19, 0] = 1.0
    assert large.labeling_function(X).tolist() == [19.0]


def test_filters_are_unit_vectors_and_features_must_be():
    shared, conv = (GaussianData(FOUR, 5, filters=kind).filters for kind in ("shared", "convolution"))
    assert torch.equal(shared[0], shared[1]) and not torch.equal(conv[0], conv[1])
    for W in (shared, conv):
        assert (W.norm(dim=1) - 1).abs().max() < 1e-12
    w = np.array([0.6, 0.8])
    assert SpatialData(FOUR, 2, 0.5, feature=w * (1 + 9e-7)).feature.norm() == pytest.approx(1, abs=1e-14)
    for factor in (1 + 2e-6, 1 - 2e-6):
        with pytest.raises(ValueError, match="feature must be a unit vector"):
            SpatialData(FOUR, 2, 0.5, feature=w * factor)


def test_the_start_of_the_model():
    """By default only v is drawn, with 0.01; a given std is that of the scores, too; scaled by sqrt(d)."""
    plain, drawn = SimplifiedViT(40, 400, seed=1), SimplifiedViT(40, 400, init_std=0.3, seed=1)
    off = ~torch.eye(40, dtype=torch.bool)
    assert not plain.scores[off].any() and not torch.signbit(plain.scores[off]).any()  # not minus zero
    assert (plain.scores.diagonal() == plain.diagonal).all()
    assert float(plain.value.detach().std()) == pytest.approx(0.01, rel=6 / 800**0.5)
    assert float(drawn.scores[off].detach().std()) == pytest.approx(0.3, rel=6 / 3120**0.5)
    assert float(drawn.value.detach().std()) == pytest.approx(0.3, rel=6 / 800**0.5)
    scaled = SimplifiedViT(4, 9, scaled=True, diagonal=3.0)
    assert scaled.attention()[0, 0].item() == pytest.approx(math.e / (math.e + 3))
    assert SimplifiedViT(4, 9, seed=2**64 - 1) is not None
    with pytest.raises(ValueError, match=r"seed must be less than 2\^64"):
        SimplifiedViT(4, 9, seed=2**64)


# --- bounds and constructions


@pytest.mark.parametrize(
    ("D", "C", "q", "k", "p"), [(400, 40, 0.01, 1, 3), (400, 40, 0.01, 2, 3), (60, 20, 0.05, 1, 3)]
)
def test_the_bound_on_hard_attention_by_sums_of_binomials(D, C, q, k, p):
    def above(n, b):
        return sum(math.comb(n, i) * q**i * (1 - q) ** (n - i) for i in range(n + 1) if i > b)

    least = min(
        D / C / k * above(k * C, b)
        + above(D, 2 * q * D)
        + math.exp(-((C - (b if k > 1 else 0)) ** (2 * p)) / (4 * b ** (2 * p - 1) * q * D))
        for b in range(1, C)
    )
    assert hard_attention_bound(D, C, q, p, k) == pytest.approx(min(1.0, least), rel=1e-9)
    assert least < 1
    if C**p < 10_000:
        assert hard_attention_error(D, C, q, p, k, "error") <= least
    with pytest.raises(ValueError, match="pooled_sets must divide"):
        hard_attention_bound(D, C, q, p, 7)


def test_the_bounds_on_the_labeling_error_by_hand():
    """C = 11 lets ten through, C = 10 asks for all; three sets, so M = 2."""
    for C, passed in ((10, 0.25**10), (11, 0.25**11 + 11 * 0.5 * 0.25**10)):
        r = 0.25**C
        low, high = labeling_bounds(3 * C, C, 0.5)
        assert low == pytest.approx(2 * r * (1 - 2 * passed), rel=1e-12)
        assert high == pytest.approx(2 * r + (C > 10) * (2 * passed) ** 2 / 2, rel=1e-12)
    assert labeling_bounds(200, 1, 1.0) == (0.0, 1.0)  # a sign a patch: the bounds say nothing


def test_encodings_have_the_inner_products_that_they_promise():
    P = chain_encodings(SCATTERED, growth=5.0, gap=0.1)
    a, b = SCATTERED.labels[:, None], SCATTERED.labels[None, :]
    near = np.where(abs(a - b) == 1, 1.1 * 5.0 ** np.minimum(a, b), 0.0)
    assert P @ P.T == pytest.approx(np.where(a == b, 5.0**a, near))
    two = Partition([0, 1, 0, 1, 2, 3, 2, 3])
    P = paired_encodings(two, share=7.0, repel=0.5, lift=0.3)
    a, b = two.labels[:, None], two.labels[None, :]
    gram = np.where(a == b, 6.5, np.where(a // 2 == b // 2, 7.0, 0.0))
    np.fill_diagonal(gram, 7.0 + 0.5 + 0.3)
    assert P @ P.T == pytest.approx(gram)
    W_Q, W_K = query_key_for(np.arange(64.0).reshape(8, 8), P)
    assert (P @ W_Q) @ (P @ W_K).T == pytest.approx(np.arange(64.0).reshape(8, 8))
    for bad in (dict(lift=0.0), dict(lift=-1.0)):
        with pytest.raises(ValueError, match="lift must be positive"):
            paired_encodings(two, **bad)
    with pytest.raises(ValueError, match="even number of sets, got 3"):
        paired_encodings(SCATTERED)


@pytest.mark.parametrize("seed", range(3))
def test_the_search_over_rows_finds_what_trying_each_finds(seed):
    """Masses in sixths, shares inside a set of two in hundredths: every row, for forms made up at random."""
    form = CubicForm(6, 2, *np.random.default_rng(seed).standard_normal(6), strength=1.0)
    inside = np.stack([np.linspace(0.5, 1, 101), np.linspace(0.5, 0, 101)], axis=1)
    best = -np.inf
    for i in range(7):
        for j in range(7 - i):
            rows = [m / 6 * inside for m in (i, j, 6 - i - j)]
            if i <= j <= 6 - i - j:
                a, b = rows[0][::4], rows[1][::4]
                grid = np.concatenate(
                    [
                        np.broadcast_to(a[:, None, None], (len(a), len(b), 101, 2)),
                        np.broadcast_to(b[None, :, None], (len(a), len(b), 101, 2)),
                        np.broadcast_to(rows[2], (len(a), len(b), 101, 2)),
                    ],
                    axis=-1,
                )
                best = max(best, float(form(grid).max()))
    value, row = form.largest(grid=6)
    assert value == pytest.approx(best, abs=5e-3) and value >= best - 1e-9
    assert row.min() >= 0 and row.sum() == pytest.approx(1) and form(row) == pytest.approx(value)
    masses = row.reshape(3, 2).sum(axis=1) * 6
    assert np.abs(masses - masses.round()).max() < 1e-9


def test_three_sets_of_one_patch_have_a_form_of_their_own():
    """C = 1 has neither pairs nor triples: by every input."""
    form, total = cubic_form(4, 1, 0.5), np.zeros(2)
    rows = np.array([[0.4, 0.3, 0.2, 0.1], [1.0, 0.0, 0.0, 0.0]])
    whole = 0.0
    for signal in range(4):
        for code in range(27):
            signs = [code // 3**k % 3 - 1 for k in range(3)]
            s = np.array([*signs[:signal], 1, *signs[signal:]])
            w = (
                np.prod([0.25 if x else 0.5 for x in signs])
                / 4
                / (1 + math.exp(form.strength * (s**3).sum()))
            )
            total, whole = total + w * (rows @ s) ** 3, whole + w
    assert form(rows) * whole == pytest.approx(total, abs=1e-12)


# --- the exact risk


def test_how_many_atoms_and_how_much_may_be_left_out():
    assert support_bound(8, 2, 0.3) == math.comb(3 + 5, 5)  # three random sets of six types
    assert support_bound(8, 2, 1.0) == math.comb(3 + 2, 2)  # no zeros: 2, 0 and -2
    size = PopulationRisk(8, 2, 0.3).probability.size
    assert PopulationRisk(8, 2, 0.3, max_atoms=size).probability.size == size
    with pytest.raises(SupportTooLarge, match=f"needs more than the {size - 1:,} atoms allowed"):
        PopulationRisk(8, 2, 0.3, max_atoms=size - 1)
    pruned = PopulationRisk(16, 2, 0.05, prune=1e-3)
    assert 0 < pruned.lost_mass <= 1e-3 and pruned.probability.sum() == pytest.approx(1 - pruned.lost_mass)
    with pytest.raises(ValueError, match="prune must be at most 1e-3"):
        PopulationRisk(16, 2, 0.05, prune=1.01e-3)
    z = 16 * 0.2
    bound = pruned.lost_mass * (math.log(2) + 16 * (z**3 + pruned.linear * z))
    assert pruned.lost_loss(-0.2, 1.0, 0.0, 0.0) == pytest.approx(bound)
    whole = PopulationRisk(16, 2, 0.05)
    assert 0 <= whole.loss(0.2, 1.0, 0.5, -0.3) - pruned.loss(0.2, 1.0, 0.5, -0.3) <= bound
    assert whole.lost_mass == 0 and whole.nbytes == 7 * 8 * whole.probability.size


# --- descents


def test_clipping_is_by_the_share_of_the_length():
    step = Clipped(0.5, 2.0, clip=0.1)
    assert float(step.share(1.0, 0.2)) == 1.0  # a move of 0.1: as far as allowed
    assert float(step.share(1.0, 0.4)) == pytest.approx(0.5) and float(step.share(0.0, 0.0)) == 1.0
    assert Constant(0.5).share(1.0, 1e9) == 1.0
    assert recorded_steps(0).tolist() == [0] and recorded_steps(7, 3).tolist() == [0, 3, 6, 7]
    risk = PopulationRisk(6, 2, 0.3)
    run = descend_population(risk, step, steps=3, alpha=0.2, gamma=0.3, rho=-0.1)
    for t in range(3):
        gradient = risk.gradient(run.alpha[t], 1.0, run.gamma[t], run.rho[t])
        share = min(1.0, 0.1 * run.alpha[t] / (0.5 * abs(gradient[0])))
        moved = share * np.array([0.5, 2.0 / 6, 2.0 / 24]) * gradient
        after = [run.alpha[t] - moved[0], run.gamma[t] - moved[1], run.rho[t] - moved[2]]
        assert [run.alpha[t + 1], run.gamma[t + 1], run.rho[t + 1]] == pytest.approx(after, rel=1e-12)
        assert run.entry_gradient[t] == pytest.approx(gradient / [1, 6, 24])


def test_the_two_numbers_of_a_value_vector_and_the_error_without_a_prefactor():
    law = small_law()
    v = (
        0.7 * law.feature
        + 0.2 * torch.linalg.qr(torch.stack([law.feature, torch.ones(5).double()], 1))[0][:, 1]
    )
    alpha, tau = two_numbers(v[None], law)
    assert (alpha[0], tau[0]) == pytest.approx((0.7, 0.2 * law.noise_std))
    with pytest.raises(ValueError, match="value must end in the law's 5 dimensions"):
        two_numbers(v[:4], law)
    held, S = (
        HeldOut(law, 200, 1),
        torch.softmax(torch.randn(1, 6, 6, generator=torch.Generator().manual_seed(1)).double(), -1),
    )
    z = (0.7 * held.s + 0.1 * held._noise) @ S[0].T
    for factor, given in ((6, None), (6, 6.0), (1, 1.0)):
        F = held.y * ((factor * z) ** 3 + 0.3 * factor * z).sum(1)
        found = held.errors(S, [0.7], [0.1], linear=0.3, prefactor=given)
        assert float(found) == pytest.approx(float((F < 0).double().mean()))
    assert not torch.equal(held._noise, HeldOut(law, 200, 2)._noise)


def test_which_steps_are_spread_and_which_rate_is_stable():
    assert spread_steps(9, 30) == list(range(10)) and spread_steps(0) == [0]
    far = spread_steps(10**6, 50)
    assert far[0] == 0 and far[-1] == 10**6 and len(far) <= 50
    assert max(b / a for a, b in itertools.pairwise(far[25:])) < 1.4
    for q in (0.1, 0.5):
        risk = PopulationRisk(12, 4, q)
        rate = 0.1 / curvature(risk, best_alpha(risk, 1.0), 1.0)
        assert stable_rate(risk, 1.0) == pytest.approx(min(rate, 0.08 / 12))
    flat = PopulationRisk(12, 4, 0.01)
    assert stable_rate(flat, 1.0) == 0.08 / 12 < 0.1 / curvature(flat, best_alpha(flat, 1.0), 1.0)


def test_a_crossing_is_found_from_the_left_and_from_zero():
    assert upward_crossing([0.0, 1.0, 3.0, 4.0, 5.0], [-1.0, 1.0, -1.0, -1.0, 5.0]) == pytest.approx(0.5)
    assert upward_crossing([0.0, 2.0], [-3.0, 0.0]) == 2.0  # zero itself is reached
    with pytest.raises(ValueError, match="must cross zero upwards"):
        upward_crossing([0.0, 1.0, 2.0], [0.0, 1.0, 2.0])  # it starts there


def test_the_settling_rate_lies_in_the_range_that_is_searched():
    risk = PopulationRisk(6, 2, 0.5)
    assert largest_settling_rate(risk, 1.0, low=1e-6, high=1e-5, halvings=2) == 1e-6


# --- learners and their training


class Fixed:
    """Data whose batches are known: one input a seed, and who asked for which."""

    def __init__(self):
        self.asked = []

    def sample(self, n, seed):
        self.asked.append((n, seed))
        draws = np.random.default_rng(seed)
        return torch.from_numpy(draws.standard_normal((n, 4, 3))), torch.from_numpy(
            draws.integers(0, 2, n) * 2.0 - 1
        )


def test_training_is_adam_on_the_logistic_loss_with_a_cosine_and_a_clipped_gradient():
    """Five steps written out: moments 0.9 and 0.999, rate (1 + cos(pi t / T)) / 2, norm at most 0.5."""
    data, model = Fixed(), make_learner("linear", 4, 3, seed=1)
    theta = np.append(model.weights.detach().numpy().ravel(), 0.0)
    curve = train(model, data, steps=5, batch=7, learning_rate=0.03, clip=0.5, seed=0, points=2, n_curve=9)
    assert [step for step, _ in curve] == [0, 2, 5] and data.asked[0][0] == 9
    m, s, clipped = np.zeros(13), np.zeros(13), 0
    for t, (n, seed) in enumerate(data.asked[1:]):
        assert n == 7
        X, y = (x.numpy() for x in Fixed().sample(n, seed))
        F = X.reshape(7, 12) @ theta[:12] + theta[12]
        pull = -y / (1 + np.exp(y * F)) / 7
        g = np.append(pull @ X.reshape(7, 12), pull.sum())
        clipped += np.linalg.norm(g) > 0.5
        g *= min(1.0, 0.5 / (np.linalg.norm(g) + 1e-6))
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
        rate = 0.03 * (1 + math.cos(math.pi * t / 5)) / 2
        theta -= rate * (m / (1 - 0.9 ** (t + 1))) / (np.sqrt(s / (1 - 0.999 ** (t + 1))) + 1e-8)
    assert np.append(model.weights.detach().numpy().ravel(), model.bias.item()) == pytest.approx(
        theta, rel=1e-9
    )
    assert 0 < clipped <= 5
    assert curve[-1][1] == error_on(model, *Fixed().sample(*data.asked[0]))


def test_the_first_step_is_the_mean_of_the_gradient_over_its_parts():
    """One step of plain autograd at the best length of v, over all inputs."""
    data = GaussianData(SCATTERED, 1, filters=np.ones((2, 1)))
    X, y = data.sample(600, seed=3)
    found = first_step(data, 1.5, n=600, parts=4, seed=3)
    A = (1.5 * torch.eye(6, dtype=torch.float64)).requires_grad_()

    def loss(r):
        z = 6 * r * X[..., 0] @ torch.softmax(A, 1).T
        return torch.nn.functional.softplus(-y * (z**3 + 0.01 * z).sum(1)).mean()

    lengths = np.linspace(0.0, 1.0, 1001)
    r = min(lengths, key=lambda r: loss(r).item())
    (g,) = torch.autograd.grad(loss(r), A)
    same = torch.from_numpy(data.partition.same_set)
    pulled = float(g[~same].mean() - g[same & ~torch.eye(6, dtype=torch.bool)].mean())
    assert found.value == pytest.approx(pulled, rel=0.05, abs=0.02 * float(g.abs().max()))
    assert found.low < found.value < found.high
    with pytest.raises(ValueError, match="parts must be at least 2"):
        first_step(data, 1.0, n=400, parts=1)


def test_the_matrices_of_the_small_transformer_have_the_sizes_of_their_draws():
    """Embeddings 1/sqrt(d), encodings 1, all others 1/sqrt(m); no two of one draw."""
    model = OneLayerViT(16, 50, seed=3, width=40)
    sizes = {"embed": 50**-0.5, "encodings": 1.0, "head": 40**-0.5} | dict.fromkeys(
        ("W_Q", "W_K", "W_V", "W_O", "W_in", "W_out"), 40**-0.5
    )
    seen = []
    for name, std in sizes.items():
        values = getattr(model, name).detach().double()
        assert float(values.pow(2).mean().sqrt()) == pytest.approx(std, rel=6 / (2 * values.numel()) ** 0.5)
        seen.append(round(float(values.flatten()[0] / std), 4))
    assert len(set(seen)) == len(seen) and model.W_in.shape == (40, 80) and model.W_out.shape == (80, 40)
    assert len(model.b_in) == 80 and [tuple(norm.normalized_shape) for norm in model.norms] == [(40,)] * 3


def test_held_inputs_are_the_blocks_that_they_are_drawn_in():
    """The first n inputs of a seed are the same for every n; a block is 500 inputs."""
    law = small_law()
    few, many = Samples.draw(law, 3, [5]), Samples.draw(law, 503, [5])
    assert torch.equal(few.X[0], many.X[0, :3]) and torch.equal(few.y[0], many.y[0, :3])
    from patch_association.training.samples import draw_block

    X, y = draw_block(law, 5, 1, torch.float64)
    assert len(X) == 500 and torch.equal(many.X[0, 500:], X[:3]) and torch.equal(many.y[0, 500:], y[:3])
