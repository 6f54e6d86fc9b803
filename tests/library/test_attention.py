"""Definitions 3.1 and 3.2 against torch's own attention."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from patch_association.attention import positional_attention, self_attention, softmax_attention


def matrices(D, d, k, m, lead=(), seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = ((*lead, D, d), (D, d), (d, k), (d, k), (d, m))
    return [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]


shapes = st.tuples(*(st.integers(1, 5) for _ in range(4)))
leads = st.sampled_from([(), (3,), (2, 3), (0,), (1, 1, 2)])


@given(shapes, leads, st.integers(0, 99), st.booleans())
def test_both_are_scaled_dot_product_attention(shape, lead, seed, positional):
    """Of X + P, or with one attention for the batch; the attention is what it gives to unit values."""
    X, P, W_Q, W_K, W_V = matrices(*shape, lead, seed)
    seen, read = (P, X) if positional else (X + P, X + P)
    Q, K = ((seen @ W).expand(*lead, -1, -1) for W in (W_Q, W_K))

    def theirs(V):
        return scaled_dot_product_attention(Q, K, V, scale=1 / math.sqrt(shape[1]))

    out, S = (positional_attention if positional else self_attention)(
        X, P, W_Q, W_K, W_V, return_attention=True
    )
    assert torch.allclose(out, theirs(read @ W_V), atol=1e-12)
    eye = torch.eye(shape[0], dtype=torch.float64).expand(*lead, -1, -1)
    assert S.ndim == (2 if positional else 2 + len(lead))
    assert torch.allclose(S.expand(*lead, -1, -1), theirs(eye), atol=1e-12)


@given(shapes, st.floats(0.1, 10), st.integers(0, 99))
def test_rows_are_distributions_and_scale_divides(shape, scale, seed):
    X, P, W_Q, W_K, W_V = matrices(*shape, (2,), seed)
    for attend in (self_attention, positional_attention):
        _, S = attend(X, P, W_Q, W_K, W_V, scale=scale, return_attention=True)
        assert (S >= 0).all() and torch.allclose(S.sum(dim=-1), torch.ones_like(S[..., 0]), atol=1e-12)
        _, rescaled = attend(X, P, W_Q / scale, W_K, W_V, scale=1.0, return_attention=True)
        assert torch.allclose(S, rescaled, atol=1e-10)


def test_softmax_forgets_the_level_of_a_row_and_survives_large_scores():
    A = torch.tensor([[1000.0, 0.0], [3.0, 4.0]], dtype=torch.float64)
    S = softmax_attention(A + torch.tensor([[5.0], [-7.0]]))
    assert torch.allclose(S, softmax_attention(A), atol=1e-12) and S[0].tolist() == [1, 0]
    assert S[1, 1].item() == pytest.approx(1 / (1 + math.exp(-1)))
    assert softmax_attention(A, 2.0)[1, 1].item() == pytest.approx(1 / (1 + math.exp(-0.5)))


@pytest.mark.parametrize("which", range(5))
@pytest.mark.parametrize("attend", [self_attention, positional_attention])
def test_shapes_and_types_that_do_not_fit(attend, which):
    """One of the five matrices replaced by one of another shape, type or kind."""
    name, good = ("X", "P", "W_Q", "W_K", "W_V")[which], matrices(4, 3, 2, 5, (2,))
    # Where X is wrong it may be the others, measured by it, that no longer fit.
    said = r" must (have|be)" if which == 0 else rf"^{name} must (have|be)"
    for bad in (good[which][..., :1, :], good[which].long(), good[which].numpy(), None):
        with pytest.raises(ValueError, match=said):
            attend(*good[:which], bad, *good[which + 1 :])
