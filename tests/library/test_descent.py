"""Both descents: gradients against autograd, trajectories against full descents, refusals."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from risk_enumeration import enumerated, family_scores, outcomes
from strategies import small_law

from patch_association.data import SpatialData, random_feature
from patch_association.defaults import initial_alpha
from patch_association.exact.risk import PopulationRisk
from patch_association.model import SimplifiedViT
from patch_association.structure import Partition, association
from patch_association.training import (
    Constant,
    Descent,
    Diverged,
    HeldOut,
    Samples,
    Start,
    descend,
    descend_population,
    idealized_start,
    loss_and_gradients,
    realistic_start,
    recorded_steps,
)

# --- gradients -------------------------------------------------------------------------------


@settings(max_examples=30)
@given(
    st.integers(1, 3),
    st.integers(1, 40),
    st.sampled_from([(4, 2), (6, 3), (6, 1), (4, 4)]),
    st.integers(2, 5),
    st.sampled_from([3, 5, 7]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_hand_gradients_equal_autograd(seeds, n, size, d, degree, scaled, seed):
    law = small_law(d, D=size[0], C=size[1])
    samples = Samples.draw(law, n, range(seed, seed + seeds))
    D, models = size[0], []
    for s in range(seeds):
        models.append(
            SimplifiedViT(D, d, degree, 0.1, diagonal=0.7, init_std=0.3, seed=seed + s, scaled=scaled)
        )
    A = torch.stack([m.scores.detach() for m in models])
    v = torch.stack([m.value.detach() for m in models])
    scale = d**0.5 if scaled else 1.0
    loss, dA, dv = loss_and_gradients(samples.X, samples.y, A, v, degree, 0.1, scale=scale)
    for s, model in enumerate(models):
        yF = samples.y[s] * model(samples.X[s])
        theirs = torch.logaddexp(torch.zeros_like(yF), -yF).mean()
        theirs.backward()
        assert loss[s].item() == pytest.approx(theirs.item(), rel=1e-12)
        for ours, autograd in ((dA[s], model.scores.grad), (dv[s], model.value.grad)):
            assert (ours - autograd).abs().max() <= 1e-10 * max(1.0, autograd.abs().max().item())
        assert (dA[s].diagonal() == 0).all()


def test_prefactor_one_with_the_rate_times_D_squared_is_the_same_descent():
    law = small_law(D=8, C=2, q=0.3)
    samples, D = Samples.draw(law, 400, range(2)), 8
    start = realistic_start(law, range(2), init_std=0.05)
    common = 0.01 * D**2
    ours = descend(samples, start, Constant(0.01, common), steps=40, how=Descent(snapshots=[40]))
    larger = Start(start.scores, D * start.value)
    plain = descend(
        samples, larger, Constant(common, common), steps=40, how=Descent(prefactor=1, snapshots=[40])
    )
    assert np.abs(ours.scores[40] - plain.scores[40]).max() < 1e-12
    assert np.abs(D * ours.alpha - plain.alpha).max() < 1e-12 and np.abs(ours.loss - plain.loss).max() < 1e-12
    assert abs(ours.inside_mean[-1] - ours.inside_mean[0]).min() > 0.01  # it moved


# --- the two processes and the truth ----------------------------------------------------------


@pytest.mark.parametrize("degree, score_rate", [(3, 0.02), (3, 0.72), (5, 0.72)])
def test_three_scalars_run_as_all_parameters_do(degree, score_rate):
    # Gradient descent on the enumerated risk, by autograd over every A_ij and v.
    partition, w = Partition.random(6, 2, seed=5), random_feature(3, seed=6)
    law, rate, steps = outcomes(partition, 0.3), 0.02, 150
    risk = PopulationRisk(6, 2, 0.3, degree=degree, linear=0.02)
    run = descend_population(risk, Constant(rate, score_rate), steps=steps)
    A, v = family_scores(partition, 1.0, 0.0, 0.0), initial_alpha(degree, 0.02) * w
    same = torch.from_numpy(partition.same_set)
    inside, outside = same & ~torch.eye(6, dtype=torch.bool), ~same
    for t in range(steps + 1):
        loss, dA, dv, _, _ = enumerated(partition, law, degree, 0.02, A, v, w)
        assert run.loss[t] == pytest.approx(loss, rel=1e-10)
        # Lemmas 4.1 and 4.2 along the whole path, to 1e-12.
        assert (A[inside] - run.gamma[t]).abs().max() < 1e-12
        assert (A[outside] - run.rho[t]).abs().max() < 1e-12
        assert (v - run.alpha[t] * w).abs().max() < 1e-12
        A = A - score_rate * dA
        v = v - rate * dv
    assert abs(run.gamma[-1]) > 1e-4


def test_on_all_outcomes_the_empirical_process_is_the_population_process():
    # q = 2/3 makes the coefficients of a random set uniform on {-1, 0, 1}: every outcome once is the law.
    partition, w = Partition.random(6, 2, seed=7), random_feature(4, seed=8)
    s, y, p = outcomes(partition, 2 / 3)
    assert (p - p[0]).abs().max() < 1e-15
    law = SpatialData(partition, 4, 2 / 3, feature=w)
    samples = Samples(law, (s[:, :, None] * w)[None], y[None], chunk=100)
    start = idealized_start(law, 1, diagonal=1.0)
    ours = descend(samples, start, Constant(0.02), steps=200)
    risk = PopulationRisk(6, 2, 2 / 3)
    theirs = descend_population(risk, Constant(0.02), steps=200)
    for name in ("loss", "alpha"):
        assert np.abs(getattr(ours, name)[:, 0] - getattr(theirs, name)).max() < 1e-11
    assert np.abs(ours.inside_mean[:, 0] - theirs.gamma).max() < 1e-11
    assert np.abs(ours.outside_mean[:, 0] - theirs.rho).max() < 1e-11
    # Ties apart, which rounding may break either way in the sampled F.
    assert np.abs(ours.train_error[:, 0] - theirs.error).max() < 0.04
    assert ours.inside_std.max() < 1e-11 and ours.orthogonal.max() < 1e-11
    assert abs(theirs.gamma[-1]) > 1e-3


def test_population_run_records_and_divides():
    risk = PopulationRisk(8, 2, 0.3)
    setting = {"step": Constant(0.01, 0.5), "diagonal": 2.0, "alpha": 0.2, "gamma": 0.1, "rho": -0.1}
    run = descend_population(risk, steps=3, **setting)
    gradient = risk.gradient(0.2, 2.0, 0.1, -0.1)
    assert run.gradient[0] == pytest.approx(gradient, rel=1e-14)
    assert run.entry_gradient[0] == pytest.approx(gradient / [1, 8 * 1, 8 * 6], rel=1e-14)
    moves = np.diff([run.alpha, run.gamma, run.rho])[:, 0]
    assert moves == pytest.approx(-np.array([0.01, 0.5, 0.5]) * run.entry_gradient[0], rel=1e-11)
    assert run.error[1] == risk.error(run.alpha[1], 2.0, run.gamma[1], run.rho[1])
    few = descend_population(risk, steps=3, record=2, **setting)
    assert few.steps.tolist() == [0, 2, 3] and few.loss.tolist() == run.loss[[0, 2, 3]].tolist()
    assert initial_alpha(3, 0.01) == pytest.approx(0.1) and initial_alpha(5, 0.0016) == pytest.approx(0.2)
    assert descend_population(risk, Constant(0.01), steps=0).alpha[0] == pytest.approx(0.1)


def test_recorded_quantities_are_what_they_say():
    law = small_law(D=6, C=3)
    samples, start = Samples.draw(law, 300, [2, 9]), realistic_start(law, [2, 9], diagonal=1.5, init_std=0.3)
    run = descend(samples, start, Constant(0.02, 0.2), steps=6, record=3, how=Descent(snapshots=[0, 6]))
    assert run.steps.tolist() == [0, 3, 6] and run.seeds == (2, 9) and run.loss.shape == (3, 2)
    assert (run.scores[0] == start.scores.numpy()).all()
    same = law.partition.same_set
    for s in range(2):
        A, v = run.final.scores[s].numpy(), run.final.value[s]
        assert (A == run.scores[6][s]).all() and (np.diag(A) == 1.5).all()  # the frozen diagonal
        model = SimplifiedViT(6, law.dim, diagonal=1.5)
        with torch.no_grad():
            model.scores.copy_(run.final.scores[s])
            model.value.copy_(v)
            yF = samples.y[s] * model(samples.X[s])
        assert run.loss[2, s] == pytest.approx(torch.log1p(torch.exp(-yF)).mean().item(), rel=1e-12)
        assert run.train_error[2, s] == ((yF < 0).double().mean()).item()
        found = association(A, law.partition)
        assert run.exact[2, s] == found.exact and run.margin[2, s] == found.margin
        assert run.recall[2, s] == found.recall
        alpha = v @ law.feature
        assert run.alpha[2, s] == pytest.approx(alpha.item(), rel=1e-12)
        assert run.orthogonal[2, s] == pytest.approx((v - alpha * law.feature).norm().item(), rel=1e-12)
        assert run.cosine[2, s] == pytest.approx((alpha / v.norm()).item(), rel=1e-12)
        assert run.inside_mean[2, s] == pytest.approx(A[same & ~np.eye(6, dtype=bool)].mean(), rel=1e-12)
        assert run.inside_std[2, s] == pytest.approx(A[same & ~np.eye(6, dtype=bool)].std(), rel=1e-12)
        assert run.outside_mean[2, s] == pytest.approx(A[~same].mean(), rel=1e-12)
        assert run.outside_std[2, s] == pytest.approx(A[~same].std(), rel=1e-12)
    assert np.isnan(run.test_error).all()


def test_the_test_error_has_the_law_of_fresh_inputs():
    # 200,000 draws each way; |z| > 6 has probability 2e-9, and there are two comparisons.
    law, n = small_law(d=4, D=6, C=2, q=0.5), 200_000
    model = SimplifiedViT(6, 4, diagonal=1.0, init_std=0.4, seed=1)
    A, v = model.scores.detach(), 0.2 * law.feature + model.value.detach()
    X, y = law.sample(n, seed=11)
    with torch.no_grad():
        model.value.copy_(v)
        direct = ((y * model(X)) < 0).double().mean().item()
    alpha = v @ law.feature
    tau = law.noise_std * (v - alpha * law.feature).norm()
    test = HeldOut(law, n, seed=12)
    S = torch.softmax(A, -1)[None]
    ours = test.errors(S, alpha[None], tau[None]).item()
    assert abs(ours - direct) < 6 * math.sqrt(2 * direct * (1 - direct) / n)
    silent = test.errors(S, alpha[None], 0 * tau[None]).item()
    assert abs(silent - direct) > 6 * math.sqrt(2 * direct * (1 - direct) / n)  # the noise does matter
    run = descend(Samples.draw(law, 50, [0]), Start(A[None], v[None]), Constant(0.1), steps=0, test=test)
    assert run.test_error[0, 0] == ours
    assert test.errors(S, 0 * alpha[None], 0 * tau[None]).item() == 0.5
    assert not torch.equal(test._noise, HeldOut(law, n, seed=13)._noise)
    assert float(test.errors_of(S.float(), v[None].float())) == pytest.approx(ours, abs=1e-3)
    z = (0.7 * test.s + 0.1 * test._noise) @ S[0].T
    for factor, stated in ((6, None), (6, 6.0), (1, 1.0)):
        F = test.y * ((factor * z) ** 3 + 0.3 * factor * z).sum(1)
        found = test.errors(S, [0.7], [0.1], linear=0.3, prefactor=stated)
        assert float(found) == pytest.approx(float((F < 0).double().mean()))


# --- batches, chunks, streams -----------------------------------------------------------------


def test_a_seed_runs_alone_as_in_a_batch_and_for_any_chunk(tmp_path):
    law = small_law()
    settings_ = {"step": Constant(0.03, 0.5), "steps": 15, "record": 5}
    samples = Samples.draw(law, 730, [4, 1, 7])
    together = descend(samples, realistic_start(law, [4, 1, 7]), **settings_)
    alone = descend(Samples.draw(law, 730, [1]), realistic_start(law, [1]), **settings_)
    assert np.abs(together.loss[:, 1] - alone.loss[:, 0]).max() < 1e-13
    assert (together.final.scores[1] - alone.final.scores[0]).abs().max() < 1e-13
    # Held on disk, or read in chunks of every kind.
    path = tmp_path / "X.npy"
    np.save(path, samples.X.numpy())
    mapped = torch.from_numpy(np.load(path, mmap_mode="c"))
    sources = [Samples(law, samples.X, samples.y, [4, 1, 7], chunk=c) for c in (1, 7, 730, 10_000)]
    sources += [Samples(law, mapped, samples.y, chunk=100)]
    for source in sources:
        assert sum(X.shape[1] for X, _ in source.chunks()) == 730
        run = descend(source, realistic_start(law, [4, 1, 7]), **settings_)
        assert np.abs(run.loss - together.loss).max() < 1e-13
        assert (run.final.scores - together.final.scores).abs().max() < 1e-12
    # More inputs begin with the fewer ones.
    assert torch.equal(Samples.draw(law, 1200, [4]).X[0, :730], samples.X[0])
    assert not torch.equal(samples.X[0], samples.X[1])


# --- Both descents: how they end when they diverge, and what they refuse


def test_divergence_names_seed_step_and_rate():
    law = small_law()
    samples = Samples.draw(law, 300, [3, 8])
    start = realistic_start(law, [3, 8])
    start.value[1] += 3e3 * law.feature  # seed 8 starts out of bounds, seed 3 does not
    start.scores[1, 0, 1] += 30
    message = r"seed 8 diverged at step 0 with rate 0.01 for v and 0.02 for A"
    with pytest.raises(Diverged, match=message) as caught:
        descend(samples, start, Constant(0.01, 0.02), steps=5)
    assert caught.value.seeds == (8,) and caught.value.at == 0 and caught.value.run.steps.size == 0
    run = descend(samples, start, Constant(0.01, 0.02), steps=5, on_divergence="flag")
    assert run.diverged_at.tolist() == [-1, 0]
    assert np.isnan(run.margin[:, 1]).all() and np.isnan(run.loss[1:, 1]).all() and not run.exact[:, 1].any()
    alone = descend(Samples.draw(law, 300, [3]), realistic_start(law, [3]), Constant(0.01, 0.02), steps=5)
    assert np.abs(run.loss[:, 0] - alone.loss[:, 0]).max() < 1e-14
    # Too large a rate blows up on its way.
    with pytest.raises(Diverged) as caught:
        descend(samples, realistic_start(law, [3, 8]), Constant(50.0, 50.0), steps=200)
    assert 0 < caught.value.at < 200 and caught.value.run.steps.size == caught.value.at
    assert np.isfinite(caught.value.run.loss).all()


def test_population_divergence():
    risk = PopulationRisk(16, 4, 0.3)
    with pytest.raises(Diverged, match=r"^diverged at step \d+ with rate 100 for v and 100 for A") as caught:
        descend_population(risk, Constant(100.0, 100.0), steps=50)
    run = descend_population(risk, Constant(100.0, 100.0), steps=50, on_divergence="flag")
    assert run.diverged_at == caught.value.at > 0 and run.steps.tolist() == list(range(run.diverged_at))
    assert descend_population(risk, Constant(0.01), steps=5).diverged_at is None


@given(st.integers(0, 300), st.integers(1, 400))
def test_every_kth_step_and_the_last(steps, every):
    chosen = recorded_steps(steps, every)
    assert chosen[0] == 0 and chosen[-1] == steps and (np.diff(chosen) > 0).all()
    assert all(t % every == 0 or t == steps for t in chosen)
    assert recorded_steps(steps).tolist() == list(range(steps + 1))
    assert recorded_steps(steps, [steps, 0, steps]).tolist() == sorted({0, steps})
