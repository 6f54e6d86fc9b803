"""Model (T) against its triple sum, and its fixed diagonal."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from patch_association.model import SimplifiedViT, polynomial_activation


def naive(X, A, v, degree, linear, scale):
    """F(X) = sum_i sigma(D sum_j S_ij <v, X_j>), each sum a loop."""
    D, outputs = len(A), []
    for x in X:
        F = 0.0
        for i in range(D):
            exponentials = [math.exp(A[i][j] / scale) for j in range(D)]
            z = 0.0
            for j in range(D):
                z += exponentials[j] / sum(exponentials) * sum(a * b for a, b in zip(v, x[j]))
            F += (D * z) ** degree + linear * D * z
        outputs.append(F)
    return outputs


@given(
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from([3, 5]),
    st.floats(0, 2),
    st.floats(-3, 3),
    st.booleans(),
    st.integers(0, 9),
)
def test_by_loops(D, d, degree, linear, diagonal, scaled, seed):
    model = SimplifiedViT(D, d, degree, linear, diagonal, init_std=0.5, seed=seed, scaled=scaled)
    X = torch.randn(3, D, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    expected = naive(
        X.tolist(), model.scores.tolist(), model.value.tolist(), degree, linear, math.sqrt(d) if scaled else 1
    )
    assert model(X).tolist() == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert model(X).shape == (3,)


@given(st.integers(1, 5), st.floats(-4, 4))
def test_the_diagonal_is_used_but_not_trained(D, diagonal):
    model = SimplifiedViT(D, 2, diagonal=diagonal, init_std=1.0, seed=1)
    assert torch.equal(model.scores.diagonal(), torch.full((D,), diagonal, dtype=torch.float64))
    expected = torch.softmax(model.scores, dim=1)
    assert torch.equal(model.attention(), expected)
    X = torch.randn(6, D, 2, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    model(X).sum().backward()
    assert not model.scores.grad.diagonal().any()
    assert model.value.grad.abs().sum() > 0
    # Off the diagonal the gradient is the one of a model whose whole matrix is trained.
    free = model.scores.detach().clone().requires_grad_()
    z = D * (X @ model.value.detach()) @ torch.softmax(free, dim=1).T
    polynomial_activation(z, 3, 0.01).sum().backward()
    off = ~torch.eye(D, dtype=torch.bool)
    assert torch.allclose(model.scores.grad[off], free.grad[off], rtol=1e-9, atol=1e-9)


def test_starts():
    """By default only v is drawn, with 0.01; a given std is that of the scores, too."""
    plain = SimplifiedViT(40, 400, diagonal=0.5, seed=1)
    one, same, other = (SimplifiedViT(40, 400, init_std=0.2, seed=seed) for seed in (1, 1, 2))
    off = ~torch.eye(40, dtype=torch.bool)
    assert torch.equal(plain.scores, 0.5 * torch.eye(40, dtype=torch.float64))
    assert not torch.signbit(plain.scores[off]).any()  # not minus zero
    assert torch.equal(one.scores, same.scores) and torch.equal(one.value, same.value)
    assert not torch.equal(one.scores, other.scores)
    # Six standard errors each.
    assert float(plain.value.detach().std()) == pytest.approx(0.01, rel=6 / 800**0.5)
    assert float(one.scores[off].detach().std()) == pytest.approx(0.2, rel=6 / 3120**0.5)
    assert float(one.value.detach().std()) == pytest.approx(0.2, rel=6 / 800**0.5)
    assert not SimplifiedViT(3, 2, init_std=0.0).value.any()
    with pytest.raises(ValueError, match=r"seed must be below 2\^64"):
        SimplifiedViT(3, 2, seed=2**64)
    assert SimplifiedViT(3, 2, dtype=torch.float32, seed=2**64 - 1).scores.dtype == torch.float32


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (torch.zeros(2, 3, 3, dtype=torch.float64), r"shape \(n, 3, 2\), got \(2, 3, 3\)"),
        (torch.zeros(3, 2, dtype=torch.float64), r"shape \(n, 3, 2\), got \(3, 2\)"),
        (torch.zeros(2, 3, 2), "torch.float64, got torch.float32"),
        (torch.zeros(2, 3, 2).numpy(), "torch.float64, got ndarray"),
        (None, "got NoneType"),
    ],
)
def test_inputs_that_do_not_fit(X, message):
    with pytest.raises(ValueError, match=message):
        SimplifiedViT(3, 2)(X)
