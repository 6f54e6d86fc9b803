"""The second theory by hand: small numbers worked out on paper, ends of ranges, and what is recorded when."""

import importlib
import math

import numpy as np
import pytest
import torch

from patch_association.shallow import (
    PatternData,
    Weights,
    initial_weights,
    loss_and_gradient,
    measure,
    mixture,
    output,
    population,
    train,
)
from patch_association.shallow.initial import AssumptionCheck, check_assumption
from patch_association.shallow.network import chunk_size
from patch_association.shallow.tokens import stack
from patch_lab.shallow_vit.certificate import noise_bound
from patch_lab.shallow_vit.extensions import ExtendedViT, train_extended
from patch_lab.shallow_vit.slow import follow_logistic
from patch_lab.shallow_vit.sparsify import attention_received, fractions_after
from patch_lab.shallow_vit.theory import (
    attention_ceiling,
    lucky_bound,
    lucky_share,
    relative_noise,
    samples_for_averages,
    samples_for_rare_kinds,
)

LAW = PatternData(10, 0.5, 0.1, num_patterns=4, dim=5)


def start(seeds=(0,), **options):
    return initial_weights(LAW, seeds, **{"num_neurons": 20, "output_std": 0.3, **options})


def scalar_network(head, out, value, key, query):
    """Model (1) with one neuron and one dimension."""
    a, *matrices = (
        torch.tensor(x, dtype=torch.float64).reshape(1, 1, 1) for x in (head, out, value, key, query)
    )
    return Weights(a[0], *matrices)


# --- closed forms


def test_the_ceiling_and_the_noise_by_hand():
    assert attention_ceiling(0.4, 0.1)[0] == pytest.approx(0.8)
    # 0.4 and 0.1: r = 4, t = 7/2; 0.5 * 4/5 + 0.4 * 14/15 + 0.1 * 4/7.5
    assert attention_ceiling(0.4, 0.1)[1] == pytest.approx(0.4 + 5.6 / 15 + 0.4 / 7.5)
    # F = mean of <x_l, mu_1 - mu_2>: mean s, variance |mu_1 - mu_2|^2 c_0^2 / L.
    data = PatternData(25, 0.4, 0.2, noise=0.5, dim=5)
    tokens = data.sample(20_000, seed=1)
    votes = tokens.y * (tokens.X @ (data.patterns[0] - data.patterns[1])).mean(dim=1)
    eps = relative_noise(0.4, 0.2, 0.5, 25)
    assert float(votes.mean()) == pytest.approx(0.2, abs=6 * 0.2 * eps / 20_000**0.5)
    assert float(votes.std() / 0.2) == pytest.approx(eps, rel=6 / (2 * 20_000) ** 0.5)


def test_the_numbers_of_samples_solve_their_equations():
    few, enough = samples_for_averages(0.3, 0.05)
    assert (1 - 0.3) ** few == pytest.approx(0.05) and 2 * math.exp(-enough * 0.3 / 12) == pytest.approx(0.05)
    for kinds in (1, 2, 3):
        n = samples_for_rare_kinds(0.1, 0.02, kinds)
        seen = sum((-1) ** k * math.comb(kinds, k) * (1 - 0.1 * k) ** n for k in range(kinds + 1))
        assert 1 - seen == pytest.approx(0.02, rel=1e-9)
    assert samples_for_rare_kinds(0.5, 0.25, 2) == pytest.approx(3)  # two sides of a coin: 2 / 2^n
    assert samples_for_rare_kinds(1.0, 0.5, 1) < 1e-20  # a kind that always comes
    for bad in ((0.0, 0.1), (0.51, 0.1), (0.2, 0.0), (0.2, 1.0)):
        with pytest.raises(ValueError, match="chance must be in"):
            samples_for_rare_kinds(*bad)
    for bad in ((0.0, 0.1), (1.0, 0.1), (0.3, 0.0)):
        with pytest.raises(ValueError, match="relevant and failure must be in"):
            samples_for_averages(*bad)


def test_lucky_neurons_at_the_ends():
    assert lucky_bound(0.1, 5, slack=0.2) == pytest.approx((1 - 0.2 - 0.5 / math.pi) / 5)
    assert lucky_share(math.pi / 2, 2) == pytest.approx(0.5)
    assert lucky_share(math.pi / 3, 2) == pytest.approx(1 / 3)  # in the plane the angle is uniform
    assert lucky_share(math.pi / 3, 3) == pytest.approx(
        (1 - math.cos(math.pi / 3)) / 2
    )  # a cap of the sphere
    with pytest.raises(ValueError, match="dim must be at least 2"):
        lucky_share(0.1, 1)


@pytest.mark.parametrize(
    "function", [lambda a, b: attention_ceiling(a, b), lambda a, b: fractions_after(a, b, 0.5)]
)
def test_fractions_may_add_up_to_one_and_must_differ(function):
    function(0.6, 0.4)
    function(0.5, 0.0)
    for bad in ((0.3, 0.3), (0.6, 0.401)):
        with pytest.raises(ValueError, match="relevant must be above confusion and at most"):
            function(*bad)


def test_the_noise_bound_of_one_neuron_by_hand():
    """|a w v| (tau + exp(2 |k q| (2 tau + tau^2)) - 1); without the last terms where scores play no part."""
    weights = scalar_network(-2.0, 3.0, 5.0, 0.5, -0.4)
    scores = 0.5 * 0.4 * (2 * 0.3 + 0.3**2)
    assert noise_bound(weights, 0.3) == pytest.approx(30 * (0.3 + math.exp(2 * scores) - 1))
    for attention in ("uniform", "identity"):
        assert noise_bound(weights, 0.3, attention) == pytest.approx(30 * 0.3)
    assert noise_bound(weights, 0.0) == 0


def test_what_a_token_receives_by_the_softmax_itself():
    f = np.array([0.5, 0.3, 0.2])
    for own in (0.7, 1.0):
        scores = own * np.eye(3)
        S = f[:, None] * np.exp(scores)
        S /= S.sum(axis=0)
        found = attention_received(f, own) if own != 1.0 else attention_received(f)
        assert found.tolist() == pytest.approx((S @ f / f).tolist())
    for bad in ([0.5, 0.6], [1.2, -0.2]):
        with pytest.raises(ValueError, match="fractions must be at least 0 and sum to one"):
            attention_received(bad)


# --- laws, starts, populations: ends of what is allowed


def test_a_ball_of_noise_stays_below_a_quarter_of_the_distance():
    edge = 2**0.5 / 4  # patterns are orthonormal
    with pytest.raises(ValueError, match="noise must be below a quarter"):
        PatternData(10, 0.4, 0.2, noise_kind="ball", noise=edge)
    assert PatternData(10, 0.4, 0.2, noise_kind="ball", noise=0.999 * edge).noise < edge
    assert PatternData(10, 0.4, 0.2).pattern_distance == pytest.approx(2**0.5)


def test_classes_may_fill_the_input_and_patterns_the_space():
    full = PatternData(10, 0.6, 0.4, num_patterns=3, dim=3)
    assert full.class_counts().tolist() == [[6, 4, 0], [4, 6, 0]]
    with pytest.raises(ValueError, match="relevant must be at most 1 - confusion"):
        PatternData(10, 0.7, 0.4)
    with pytest.raises(ValueError, match="relevant must give more tokens than confusion"):
        PatternData(10, 0.2, 0.2 - 1e-11)
    assert len(full.balanced(2, seed=1)) == 2
    with pytest.raises(ValueError, match="n must be at least 2"):
        full.balanced(0)
    chances = PatternData(10, 0.5, 0.1, num_patterns=6).chances()
    assert chances.tolist() == [pytest.approx(row) for row in ([0.5, *[0.1] * 5], [0.1, 0.5, *[0.1] * 4])]


def test_a_start_has_heads_of_both_signs_and_its_polar_factor_is_the_identity():
    weights = start(num_neurons=4000)
    assert abs(float(weights.head.sign().mean())) < 6 / 4000**0.5
    own = start(head="per position", num_neurons=400)
    assert abs(float(own.head.sign().mean())) < 6 / 4000**0.5
    # Images of the patterns stretched along the axes: the nearest orthonormal frame is the axes.
    eye = torch.eye(5, dtype=torch.float64)[None]
    stretched = Weights(weights.head, weights.output, 1.2 * eye, 1.4 * eye, 0.7 * eye)
    found = check_assumption(stretched, LAW)
    assert (found.sigma[0], found.delta[0], found.norm[0]) == pytest.approx((0.2, 0.4, 1.4))
    found = check_assumption(Weights(weights.head, weights.output, 0.9 * eye, 0.8 * eye, 0.3 * eye), LAW)
    assert (found.sigma[0], found.delta[0], found.norm[0]) == pytest.approx((0.1, 0.7, 0.9))


@pytest.mark.parametrize(
    ("sigma", "delta", "holds"),
    [(0.2, 0.49, True), (0.21, 0.1, False), (0.1, 0.5, False), (0.3, 0.6, False)],
)
def test_the_constants_of_assumption_1(sigma, delta, holds):
    """sigma at most 1/M, delta below one half."""
    assert AssumptionCheck(np.array([sigma]), np.array([delta]), np.ones(1)).holds(5).tolist() == [holds]


def test_a_mixture_needs_populations_and_chances_that_sum_to_one():
    law = population(LAW)
    assert len(mixture([law, law, law], [0.2, 0.3, 0.5])) == 3 * len(law)
    for bad in ([], [0.5], [0.5, 0.5 + 1e-8]):
        with pytest.raises(ValueError, match="chances must be one for each"):
            mixture([law] * max(len(bad), 2 * (len(bad) == 1)), bad)
    with pytest.raises(ValueError, match="laws must be populations over the same patterns"):
        mixture([law, LAW.sample(2)], [0.5, 0.5])


def test_inputs_in_parts_give_what_they_give_together(monkeypatch):
    weights, tokens = start((0, 1)), LAW.sample(7, seed=1)
    assert chunk_size(weights, tokens, entries=2 * 20 * 10 * 3) == 3
    assert chunk_size(weights, tokens, entries=2 * 20 * 10 * 3 - 1) == 2
    assert chunk_size(weights, tokens, entries=1) == 1
    whole, found = output(weights, tokens), measure(weights, tokens)
    for name in ("network", "population"):
        module = importlib.import_module(f"patch_association.shallow.{name}")
        monkeypatch.setattr(module, "chunk_size", lambda *_: 3)
    assert (output(weights, tokens) - whole).abs().max() < 1e-14
    for name, value in vars(measure(weights, tokens)).items():
        assert value == pytest.approx(getattr(found, name), abs=1e-14)


# --- what is recorded, and when a run stops


@pytest.mark.parametrize(
    ("record", "steps"),
    [(None, [10]), (4, [0, 4, 8, 10]), (5, [0, 5, 10]), ([3], [3, 10]), ([0, 10], [0, 10])],
)
def test_the_steps_that_are_recorded(record, steps):
    run = train(population(LAW), start(), steps=10, rate=1e-3, record=record)
    assert run.steps.tolist() == steps and run.loss.shape == (len(steps), 1)
    for t in steps[:-1]:
        alone = train(population(LAW), start(), steps=t, rate=1e-3)
        k = steps.index(t)
        assert (alone.loss[-1, 0], alone.mass[-1, 0]) == (run.loss[k, 0], run.mass[k, 0])


def test_no_steps_and_no_rate_change_nothing():
    for steps, rate in ((0, 0.1), (3, 0.0)):
        run = train(population(LAW), start(), steps=steps, rate=rate)
        assert torch.equal(run.weights.value, start().value) and run.fitted_at.tolist() == [-1]


def test_a_batch_of_everything_is_no_batch_and_a_fit_is_seen_after_a_quiet_epoch():
    law = population(PatternData(6, 0.5, 1 / 6, num_patterns=3, counts="multinomial"))
    small = initial_weights(PatternData(6, 0.5, 1 / 6, num_patterns=3), [0], num_neurons=4)
    whole = train(law, small, steps=3, rate=0.1)
    assert torch.equal(
        train(law, small, steps=3, rate=0.1, batch=len(law)).weights.value, whole.weights.value
    )
    noisy = PatternData(10, 0.5, 0.1, noise=0.05, num_patterns=4, dim=5)
    run = train(noisy.sample(30, seed=0), start(num_neurons=50), steps=5000, rate=0.2, batch=7, seed=1)
    # Five batches of 7 are an epoch of 30: only after so many quiet steps are all inputs looked at.
    assert run.fitted_at[0] > 0 and (run.steps[-1] - run.fitted_at[0]) % 5 == 4
    full = train(noisy.sample(30, seed=0), start(num_neurons=50), steps=5000, rate=0.2)
    assert full.steps[-1] == full.fitted_at[0] > 0


def test_the_extended_run_records_and_stops_as_it_says():
    tokens, model = population(LAW), ExtendedViT([start(num_neurons=50)])
    labels = tokens.y[:, None]
    run = train_extended(model, tokens, labels, tokens.relevant, steps=23, rate=1e-4)
    assert run.steps.tolist() == [0, 10, 20, 23]
    F, S = (x.detach() for x in model(tokens.X.expand(2, -1, -1), tokens.share))
    wrong = (tokens.probability * (labels * F <= 0).any(-1)).sum()
    assert run.error == pytest.approx(float(wrong))
    mass = sum(0.5 * float((S[n, 0] * tokens.share[n]).sum(-1)[tokens.relevant[n]].sum()) for n in range(2))
    assert run.mass[-1] == pytest.approx(mass, abs=1e-12)
    done = train_extended(model, tokens, labels, tokens.relevant, steps=5000, rate=0.5, every=7)
    assert done.loss[-1] == 0 and done.steps[-1] < 5000 and done.loss[-2] > 0 and done.error == 0
    # An output of exactly zero is an error.
    silent = ExtendedViT([start(output_std=0.0)])
    assert train_extended(silent, tokens, labels, tokens.relevant, steps=1, rate=0.0).error == 1


def test_outputs_after_the_first_have_drawn_signs():
    """One a an output, of one size; the first is the start's, the signs of the second are fair coins."""
    first = start(num_neurons=4000)
    head = ExtendedViT([first], num_outputs=3).head
    assert head.shape == (3, 4000) and torch.equal(head[0], first.head[0])
    assert torch.equal(head.abs(), first.head[0].abs().expand(3, -1))
    for k in (1, 2):
        assert abs(float(head[k].sign().mean())) < 6 / 4000**0.5
        assert abs(float((head[k] * head[0]).sign().mean())) < 6 / 4000**0.5
    assert not torch.equal(head[1], head[2])


def test_the_logistic_flow_is_followed_step_by_step():
    """The same steps with the plain gradient: divided by sum p / (1 + e^(yF)), which is time's measure."""
    law, weights = population(LAW), start(output_std=0.5)
    step, caution, log_t, seen = 0.3, 0.2, -math.inf, []
    for _ in range(8):
        yF = law.y * output(weights, law)[0]
        total = float((law.probability / (1 + yF.exp())).sum())
        mean = float((law.probability * yF).sum())
        seen.append((mean, log_t))
        rate = min(step, caution / (1 + max(mean, 0.0)))
        _, _, slope = loss_and_gradient(weights, law, loss="logistic")
        weights = weights.moved(slope, rate / total)
        log_t = math.log(math.exp(log_t) + rate / total)
    assert seen[7][0] > max(0.1, *(mean for mean, _ in seen[:7]))
    until = seen[7][0] * (1 - 1e-9)
    run = follow_logistic(law, start(output_std=0.5), until=until, step=step, growth=1.0)
    assert (run.output[-1, 0], run.log_time[-1, 0]) == pytest.approx(seen[7])
    assert (np.diff(run.output[:, 0]) > 0).all() and run.output[0, 0] >= 0.1
    far = follow_logistic(law, start(output_std=0.5), until=3.0, step=step, growth=2.0)
    assert (far.output[1:-1, 0] >= 2 * far.output[:-2, 0]).all() and far.output[-1, 0] >= 3
    found = measure(far.weights, law)
    assert (far.mass[-1], far.confused[-1]) == (pytest.approx(found.mass), pytest.approx(found.confused))


@pytest.mark.parametrize("trials", [None, 2])
def test_inputs_of_a_population_that_are_taken_still_share_their_tokens(trials):
    """n inputs with one X: what is taken has that X, and the labels and shares of what was asked for."""
    whole = population(LAW)
    index = torch.tensor([1, 0, 1])
    assert whole.X.shape[0] == 1 < len(whole)
    if trials:
        whole, index = stack([whole] * trials), index.expand(trials, 3)
    found = whole.take(index)
    assert torch.equal(found.X, whole.X) and found.pattern.shape == whole.pattern.shape
    each = torch.tensor([1, 0, 1])
    assert torch.equal(found.y, whole.y[..., each]) and torch.equal(found.share, whole.share[..., each, :])
