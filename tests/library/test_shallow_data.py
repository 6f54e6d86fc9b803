"""The data of section 3.2, its starts and its sparsification."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from patch_association.shallow import (
    PatternData,
    initial_weights,
    mean_fractions,
    population,
)
from patch_lab.shallow_vit.assumption import READINGS, check_assumption, cut, printed_start
from patch_lab.shallow_vit.sparsify import keep_attended, remove
from patch_lab.shallow_vit.sweeps.shallow_removal import AT_MOST

EYE = torch.eye(6, dtype=torch.float64)


@st.composite
def laws(draw, **fixed):
    L = draw(st.integers(4, 16))
    M = draw(st.integers(3, 5))
    n1 = draw(st.integers(1, L))
    n2 = draw(st.integers(0, min(n1 - 1, L - n1)))
    options = dict(
        num_patterns=M,
        dim=draw(st.integers(M, 7)),
        noise=draw(st.sampled_from([0.0, 0.01, 0.2])),
        noise_kind=draw(st.sampled_from(["gaussian", "ball"])),
        counts=draw(st.sampled_from(["fixed", "multinomial"])),
        shuffled=draw(st.booleans()),
        ties=draw(st.sampled_from(["redraw", "coin"])),
    )
    return PatternData(L, n1 / L, n2 / L, **{**options, **fixed})


@given(data=laws(), seed=st.integers(0, 100))
def test_labels_are_majority_votes_of_what_the_tokens_show(data, seed):
    tokens = data.sample(40, seed=seed)
    counts = np.stack([np.bincount(row, minlength=data.num_patterns) for row in tokens.pattern.numpy()])
    lead = counts[:, 0] - counts[:, 1]
    y = tokens.y.numpy()
    assert set(np.unique(y)) <= {-1.0, 1.0} and (lead * y >= 0).all()
    if data.counts == "fixed" or data.ties == "redraw":
        assert (lead * y > 0).all()
    assert (counts.sum(axis=1) == data.num_tokens).all()
    relevant = np.where(y > 0, counts[:, 0], counts[:, 1])
    assert (tokens.relevant.sum(dim=1).numpy() == relevant).all()
    assert (tokens.confusion.sum(dim=1).numpy() == counts[:, 0] + counts[:, 1] - relevant).all()
    if data.counts == "fixed":
        wanted = data.class_counts()[(y < 0).astype(int)]
        assert (counts == wanted).all()
    if not data.shuffled:
        assert (np.diff(tokens.pattern.numpy(), axis=1) >= 0).all()


@given(data=laws(), seed=st.integers(0, 100))
def test_noise_is_what_it_says(data, seed):
    tokens = data.sample(60, seed=seed)
    noise = (tokens.X - data.patterns[tokens.pattern]).numpy()
    if data.noise == 0:
        assert not noise.any()
    elif data.noise_kind == "ball":
        radius = np.linalg.norm(noise, axis=-1)
        assert radius.max() <= data.noise * (1 + 1e-12)
        # The distance of tokens of different patterns never shrinks to half of that of the patterns.
        assert 2 * data.noise < data.pattern_distance / 2
        # (radius / tau)^d is uniform: its mean has standard deviation below 0.29 / sqrt(240).
        assert abs(((radius / data.noise) ** data.dim).mean() - 0.5) < 0.12
    else:
        deviation = noise.std() / data.noise
        assert abs(deviation - 1) < 6 / (2 * noise.size) ** 0.5


def test_balanced_sets_have_as_many_of_each_label():
    tokens = PatternData(10, 0.4, 0.2).balanced(8, seed=5)
    assert tokens.y.tolist() == [1, -1] * 4 and len(tokens) == 8
    with pytest.raises(ValueError, match="n must be even for a balanced set, got 7"):
        PatternData(10, 0.4, 0.2).balanced(7)


@pytest.mark.parametrize("reading", READINGS)
def test_every_reading_of_the_start_is_what_it_says(reading):
    data = PatternData(10, 0.4, 0.2, dim=6, noise=0.05)
    weights = printed_start(data, [0, 1], reading, 0.1, 0.2, num_neurons=2000, output_std=0.03)
    assert weights.head.abs().unique().tolist() == [pytest.approx(2000**-0.5)]
    assert float(weights.output.std()) == pytest.approx(0.03, rel=0.03)
    if reading == "assumption":
        assert ((weights.key - EYE).norm(dim=-2)[:, :5] - 0.2).abs().max() < 1e-12
        assert ((weights.query - EYE).norm(dim=-2)[:, :5] - 0.2).abs().max() < 1e-12
        found = check_assumption(weights, data)
        assert (found.sigma <= 0.15).all() and (found.delta <= 0.25).all() and found.holds(5).all()
    else:
        scale, value_scale = {
            "printed": (16.0, 4.0),
            "square root": (4.0, 2.0),
            "no noise": (0.2, 0.1),
            "no noise, squared": (0.04, 0.01),
            "unit": (1.0, 1.0),
        }[reading]
        assert (weights.key - scale * EYE).abs().max() < 1e-12
        assert torch.equal(weights.key, weights.query)
        gram = weights.value @ weights.value.mT
        assert (gram - value_scale**2 * EYE).abs().max() < 1e-12


@given(sigma=st.floats(0, 1.5), delta=st.floats(0, 1.5), longest=st.floats(0.5, 2), seed=st.integers(0, 99))
def test_a_cut_start_is_the_nearest_of_its_norm(sigma, delta, longest, seed):
    """No matrix of that spectral norm is nearer than the cut one: the projection onto a convex set."""
    data = PatternData(10, 0.4, 0.2, dim=6)
    free = initial_weights(data, [seed], value_error=sigma, score_error=delta, num_neurons=2)
    shorter = cut(free, longest)
    assert check_assumption(shorter, data).norm[0] <= longest * (1 + 1e-9)
    generator = torch.Generator().manual_seed(seed)
    for name in ("value", "key", "query"):
        A, B = getattr(free, name)[0], getattr(shorter, name)[0]
        U, _, Vh = torch.linalg.svd(A)
        drawn = torch.randn(6, 6, generator=generator, dtype=torch.float64)
        for other in (drawn / torch.linalg.matrix_norm(drawn, ord=2), U @ Vh):
            # <A - B, C - B> <= 0 for every C of the set: what makes B the projection.
            assert float(((A - B) * (longest * other - B)).sum()) <= 1e-9
        if torch.linalg.matrix_norm(A, ord=2) <= longest:
            assert torch.allclose(A, B, atol=1e-12)
    assert torch.equal(free.output, shorter.output) and torch.equal(free.head, shorter.head)


@given(data=laws(counts="fixed"), share=st.floats(0, 1), seed=st.integers(0, 50))
def test_removal_takes_the_asked_share_of_the_asked_kind(data, share, seed):
    tokens = data.sample(6, seed=seed)
    less = remove(tokens, share, "irrelevant", seed)
    n_relevant = int(tokens.relevant[0].sum())
    gone = round(share * (data.num_tokens - n_relevant))
    assert less.num_tokens == data.num_tokens - gone
    assert (less.relevant.sum(dim=1) == n_relevant).all()
    assert (less.share.sum(dim=1) - 1).abs().max() < 1e-12
    assert less.X.shape == (6, less.num_tokens, data.dim)
    # What is left is part of what was there, in its order.
    for before, after in zip(tokens.X, less.X):
        rows = [int((before == token).all(dim=1).nonzero()[0, 0]) for token in after]
        assert data.noise == 0 or rows == sorted(rows)


def test_magnitude_pruning_keeps_what_is_attended_to():
    data = PatternData(20, 0.4, 0.2)
    tokens, weights = data.sample(10, seed=0), initial_weights(data, [0], num_neurons=4)
    toward = 5 * (data.patterns[0] + data.patterns[1])
    # Keys of mu_1 and mu_2 score high with every query; those tokens stay.
    seeking = type(weights)(
        weights.head,
        weights.output,
        weights.value,
        torch.eye(10).double()[None] * toward,
        torch.ones(1, 10, 10).double(),
    )
    kept = keep_attended(tokens, seeking, 12)
    assert kept.num_tokens == 12 and (kept.relevant | kept.confusion).all()
    with pytest.raises(ValueError, match="count must be at most the 20 tokens, got 21"):
        keep_attended(tokens, weights, 21)


def test_populations_of_fixed_counts_are_two_points():
    data = PatternData(100, 0.3, 0.2)  # the rest is dealt out evenly
    assert data.class_counts().tolist() == [[30, 20, 17, 17, 16], [20, 30, 17, 17, 16]]
    law = population(data)
    assert law.share.tolist() == [[0.3, 0.2, 0.17, 0.17, 0.16], [0.2, 0.3, 0.17, 0.17, 0.16]]
    assert law.y.tolist() == [1, -1] and mean_fractions(law) == (pytest.approx(0.3), pytest.approx(0.2))


def test_the_recorded_removals_may_take_all_of_a_kind():
    tokens = PatternData(50, 0.3, 0.1, noisy_share=0.5, noisy_std=0.4).sample(4, seed=1)
    for kind in ("irrelevant", "noisy"):
        assert remove(tokens, 1.0, kind).num_tokens == 50 - AT_MOST[kind]
    assert AT_MOST["random"] == tokens.num_tokens
