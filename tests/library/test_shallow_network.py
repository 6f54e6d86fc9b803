"""Model (1) and its gradient by hand, against the printed formula and autograd."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shallow_oracle import mean_loss, printed_mass, printed_output

from patch_association.shallow import (
    PatternData,
    Tokens,
    Weights,
    initial_weights,
    loss_and_gradient,
    measure,
    output,
    stack,
    with_neighbors,
)
from patch_association.shallow.network import ATTENTION

NAMES = ("output", "value", "key", "query")


def random_weights(R, L, m=7, ma=4, mb=3, d=5, per_position=False, seed=0):
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    head = torch.sign(normal(R, L, m) if per_position else normal(R, m)) / m**0.5
    return Weights(head, normal(R, m, ma), normal(R, ma, d), normal(R, mb, d), normal(R, mb, d))


def random_tokens(n, L, d=5, seed=0):
    generator = torch.Generator().manual_seed(seed + 100)
    X = torch.randn(n, L, d, generator=generator, dtype=torch.float64)
    y = torch.sign(torch.randn(n, generator=generator, dtype=torch.float64))
    even = torch.ones(n, dtype=torch.float64)
    return Tokens(X, y, even[:, None].repeat(1, L) / L, even / n, torch.zeros(n, L, dtype=torch.long))


@given(
    R=st.integers(1, 3),
    n=st.integers(1, 3),
    L=st.integers(1, 5),
    per_position=st.booleans(),
    attention=st.sampled_from(ATTENTION),
    loss=st.sampled_from(["hinge", "logistic"]),
    own_inputs=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_loss_and_gradient_are_those_of_autograd(R, n, L, per_position, attention, loss, own_inputs, seed):
    weights = random_weights(R, L, per_position=per_position, seed=seed)
    sets = [random_tokens(n, L, seed=seed + r * own_inputs) for r in range(R)]
    tokens = stack(sets) if own_inputs else sets[0]
    value, F, gradient = loss_and_gradient(weights, tokens, attention, loss, margin=1.2)
    assert F.shape == (R, n)
    for r, each in enumerate(sets):
        wanted, slopes = mean_loss(weights, r, each.X, each.y, each.probability, attention, loss, 1.2)
        assert abs(value[r] - wanted) < 1e-12 * max(1, abs(wanted))
        for name in NAMES:
            scale = max(1.0, float(slopes[name].abs().max()))
            assert (getattr(gradient, name)[r] - slopes[name]).abs().max() < 1e-12 * scale, name
    assert not gradient.head.any()


@given(L=st.integers(2, 6), seed=st.integers(0, 1000), per_position=st.booleans())
def test_weighted_tokens_are_repeated_tokens(L, seed, per_position):
    """A token of weight k / L is the same as k tokens of weight 1 / L, and weight 0 is absence."""
    del per_position  # a head per position has no meaning for weighted tokens
    weights = random_weights(1, L, seed=seed)
    distinct = random_tokens(1, 3, seed=seed).X[0]  # (3, d)
    generator = torch.Generator().manual_seed(seed)
    which = torch.randint(0, 2, (L,), generator=generator)  # the third token never occurs
    share = torch.bincount(which, minlength=3).double()[None] / L
    weighted = Tokens(
        distinct[None], torch.ones(1, dtype=torch.float64), share, torch.ones(1, dtype=torch.float64), None
    )
    for attention in ATTENTION:
        wanted = printed_output(
            weights.head[0], *(getattr(weights, name)[0] for name in NAMES), distinct[which], attention
        )
        assert abs(output(weights, weighted, attention)[0, 0] - wanted) < 1e-12 * max(1, abs(wanted))
    value, _, gradient = loss_and_gradient(weights, weighted)
    total, slopes = mean_loss(weights, 0, [distinct[which]], [1.0], [1.0])
    assert abs(value[0] - total) < 1e-12 * max(1.0, abs(total))
    for name in NAMES:
        assert torch.isfinite(getattr(gradient, name)).all()
        scale = max(1.0, float(slopes[name].abs().max()))
        assert (getattr(gradient, name)[0] - slopes[name]).abs().max() < 1e-12 * scale


def test_attention_mass_is_the_left_side_of_15():
    data = PatternData(10, 0.4, 0.2, dim=6)
    tokens, weights = data.sample(5, seed=3), initial_weights(data, [2], num_neurons=4)
    found = measure(weights, tokens)
    masses = [
        printed_mass(weights.key[0], weights.query[0], X, relevant)
        for X, relevant in zip(tokens.X, tokens.relevant)
    ]
    assert abs(found.mass[0] - float(sum(masses)) / 5) < 1e-14
    confused = [
        printed_mass(weights.key[0], weights.query[0], X, where)
        for X, where in zip(tokens.X, tokens.confusion)
    ]
    assert abs(found.confused[0] - float(sum(confused)) / 5) < 1e-14


@settings(max_examples=10)
@given(width=st.integers(1, 4), seed=st.integers(0, 100))
def test_identity_attention_on_joined_neighbors_is_a_convolution(width, seed):
    tokens = random_tokens(2, 5, seed=seed)
    weights = random_weights(1, 5, d=5 * width, seed=seed)
    found = output(weights, with_neighbors(tokens, width), "identity")[0]
    padded = torch.cat([tokens.X, tokens.X[:, : width - 1]], dim=1).mT  # (n, d, L + width - 1), circular
    kernel = weights.value[0].view(4, width, 5).mT  # (ma, d, width)
    features = torch.nn.functional.conv1d(padded, kernel)  # (n, ma, L)
    wanted = (torch.relu(weights.output[0] @ features) * weights.head[0][:, None]).sum(1).mean(-1)
    assert (found - wanted).abs().max() < 1e-12
