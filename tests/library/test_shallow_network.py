"""Model (1) and its gradient by hand, against the printed formula and autograd."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shallow_oracle import mean_loss, printed_output

from patch_association.shallow import (
    PatternData,
    Weights,
    initial_weights,
    loss_and_gradient,
    network,
    output,
    stack,
)
from patch_association.shallow.network import ATTENTION
from patch_association.shallow.tokens import Tokens
from patch_lab.shallow_vit.extensions import ExtendedViT
from patch_lab.shallow_vit.robustness import with_neighbors

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


@given(L=st.integers(2, 6), seed=st.integers(0, 1000))
def test_weighted_tokens_are_repeated_tokens(L, seed):
    """A token of weight k / L is the same as k tokens of weight 1 / L, and weight 0 is absence."""
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


# --- Appendix G token by token: the extended network with loops, and its gradient by autograd


def one_input(heads, W_O, head, X, skip):
    """F (c,) of the tokens X (L, d): every query and every neuron for itself."""
    outputs = torch.zeros(len(head), dtype=X.dtype)
    for x in X:
        parts = []
        for W_V, W_K, W_Q in heads:
            scores = torch.stack([(W_K @ key) @ (W_Q @ x) for key in X])
            weight = (scores - scores.max()).exp()
            parts.append(sum(w * (W_V @ key) for w, key in zip(weight / weight.sum(), X)))
        u = torch.cat(parts) + (x if skip else 0)
        outputs = outputs + head @ torch.relu(W_O @ u) / len(X)
    return outputs


@settings(max_examples=15)
@given(
    num_heads=st.integers(1, 3),
    classes=st.sampled_from([1, 2]),
    skip=st.booleans(),
    seed=st.integers(0, 500),
)
def test_heads_outputs_and_the_skip_connection_are_their_formulas(num_heads, classes, skip, seed):
    skip = skip and num_heads == 1
    data = PatternData(5, 0.4, 0.2, num_patterns=3, dim=4, noise=0.3)
    starts = initial_weights(data, range(seed, seed + num_heads), num_neurons=9, output_std=0.6)
    model = ExtendedViT(
        [starts.trial(h) for h in range(num_heads)], num_outputs=classes, skip=skip, seed=seed
    )
    tokens = data.sample(3, seed=seed)
    F, S = model(tokens.X, tokens.share)
    labels = torch.where(
        torch.rand(3, classes, generator=torch.Generator().manual_seed(seed)) < 0.5, -1.0, 1.0
    )
    ours = torch.autograd.grad((1 - (labels * F).sum(-1)).clamp(min=0).mean(), list(model.parameters()))

    leaves = [parameter.detach().clone().requires_grad_() for parameter in model.parameters()]
    W_O, V, K, Q = leaves
    heads = list(zip(V, K, Q))
    G = torch.stack([one_input(heads, W_O, model.head, X, skip) for X in tokens.X])
    theirs = torch.autograd.grad((1 - (labels * G).sum(-1)).clamp(min=0).mean(), leaves)
    assert (F - G).abs().max() < 1e-12
    assert max(float((x - y).abs().max()) for x, y in zip(ours, theirs)) < 1e-12
    assert S.shape == (3, num_heads, 5, 5) and (S.sum(dim=-2) - 1).abs().max() < 1e-12


def four_classes(own=0.4, other=0.05):
    """The population of G.1: six orthonormal patterns, of which each class has one that is its own."""
    share = torch.full((4, 6), other, dtype=torch.float64).fill_diagonal_(own)
    share[:, 4:] = (1 - own - 3 * other) / 2
    ones = torch.ones(4).double()
    tokens = Tokens(torch.eye(6, 10).double()[None], ones, share, ones / 4, torch.arange(6)[None])
    return tokens, torch.tensor([[1, 1], [1, -1], [-1, 1], [-1, -1]]).double()


def test_a_neuron_of_four_classes_hears_the_class_of_its_signs_and_its_opposite():
    """A row with a = (1, -1)/sqrt m: s/(2 sqrt m) ([w.v_2 > 0] v_2 - [w.v_3 > 0] v_3), nothing else."""
    tokens, labels = four_classes()
    start = initial_weights(PatternData(20, 0.4, 0.1), [0], num_neurons=64, output_std=0.5, score_error=0.0)
    model = ExtendedViT([start], num_outputs=2)
    with torch.no_grad():  # attention is the identity
        model.key.mul_(100)
        model.query.mul_(100)
    F, _ = model(tokens.X.expand(4, -1, -1), tokens.share)
    gain = ((labels * F).sum(-1) / 4).sum()  # every hinge active
    slope = torch.autograd.grad(gain, model.output)[0]
    values, signs = tokens.X[0] @ model.value[0].detach().T, model.head.sign()
    for row in torch.nonzero((signs[0] > 0) & (signs[1] < 0))[:, 0]:
        opened = (values @ model.output[row].detach() > 0).double()
        told = (0.4 - 0.05) / (2 * 64**0.5) * (opened[1] * values[1] - opened[2] * values[2])
        assert (slope[row] - told).abs().max() < 1e-12


def test_a_skip_connection_changes_the_gates_and_the_gradient_of_the_rows_alone():
    """With u_k = z_k + mu_k: sum f_k (D_k 1) u_k^T, f_k A_jk g_k and f_k A_jk g_k.(v_j - z_k)."""
    data = PatternData(20, 0.4, 0.2, num_patterns=4, dim=6, noise=0.0)
    start = initial_weights(data, [2], num_neurons=30, output_std=0.5, score_error=0.4)
    model = ExtendedViT([start], skip=True)
    f = torch.tensor([[0.4, 0.2, 0.2, 0.2]]).double()
    F, A = model(data.patterns[None], f)
    slopes = torch.autograd.grad(F.sum(), [model.output, model.value, model.key, model.query])
    W_O, V, K, Q = (x.detach() for x in (model.output, model.value[0], model.key[0], model.query[0]))
    X, f, A = data.patterns, f[0], A.detach()[0, 0]
    v, z = X @ V.T, A.T @ X @ V.T
    gate = model.head[0] * ((z + X) @ W_O.T > 0)  # (L, m): D_k 1
    g = gate @ W_O
    by_score = f * A * (v @ g.T - (z * g).sum(-1))  # (key, query)
    told = [(gate * f[:, None]).T @ (z + X), ((f * A) @ g).T @ X,
            Q @ X.T @ by_score.T @ X, K @ X.T @ by_score @ X]  # fmt: skip
    for ours, theirs in zip(told, slopes):
        assert (ours - theirs).abs().max() < 1e-12


@pytest.mark.parametrize("shared", [False, True])
def test_trials_one_after_the_other_are_those_at_once(monkeypatch, shared):
    """Large networks are computed trial by trial: here any network is large, and then none."""
    data = PatternData(10, 0.4, 0.1)
    weights = initial_weights(data, range(3), num_neurons=8)
    tokens = data.sample(5, 0) if shared else stack(data.sample(5, seed) for seed in range(3))
    found = []
    for large in (0, 10**9):
        monkeypatch.setattr(network, "LARGE", large)
        value, F, gradient = loss_and_gradient(weights, tokens)
        found.append([value, F, *(getattr(gradient, name) for name in ("output", "value", "key", "query"))])
    assert all(a.shape == b.shape and torch.allclose(a, b, atol=1e-12) for a, b in zip(*found))
