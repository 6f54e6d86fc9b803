"""Floating-point operations of one attention layer, counted as 2 m n k per matrix product.

The softmax, the activation and additions are left out, as profilers do. ``num_inputs`` = n inputs of
``num_patches`` = D patches of ``dim`` = d, with square W_Q, W_K, W_V.
"""

from __future__ import annotations

from patch_association.checks import positive_int


def self_attention_flops(num_inputs: int, num_patches: int, dim: int) -> int:
    """n (6 D d^2 + 4 D^2 d): three projections, the scores and S V, all of them for each input."""
    n, D, d = _sizes(num_inputs, num_patches, dim)
    return n * (6 * D * d**2 + 4 * D**2 * d)


def positional_attention_flops(num_inputs: int, num_patches: int, dim: int) -> int:
    """4 D d^2 + 2 D^2 d once for S, and n (2 D d^2 + 2 D^2 d) for X W_V and S V."""
    n, D, d = _sizes(num_inputs, num_patches, dim)
    return 4 * D * d**2 + 2 * D**2 * d + n * (2 * D * d**2 + 2 * D**2 * d)


def simplified_flops(num_inputs: int, num_patches: int, dim: int) -> int:
    """n (2 D d + 2 D^2): model (T), where X v comes first and S then acts on one number per patch."""
    n, D, d = _sizes(num_inputs, num_patches, dim)
    return n * (2 * D * d + 2 * D**2)


def descent_cost(
    num_inputs: int, num_patches: int, dim: int, steps: int, element_size: int = 4
) -> dict[str, int]:
    """What full-batch gradient descent on model (T) needs, for N inputs of D patches of dimension d.

    ``memory``: the inputs, ``element_size`` N D d bytes (all else is chunks). ``traffic``: bytes
    of X that are read, twice in each of T + 1 passes, once for X v and once for X^T h. ``flops``: per pass
    and input 2 D d and 2 D^2 forward, and 2 D d and 4 D^2 backward.
    """
    N, D, d = _sizes(num_inputs, num_patches, dim)
    passes = positive_int("steps", steps, minimum=0) + 1
    memory = positive_int("element_size", element_size) * N * D * d
    flops = passes * N * (4 * D * d + 6 * D**2)
    return {"memory": memory, "traffic": 2 * passes * memory, "flops": flops}


def _sizes(num_inputs: int, num_patches: int, dim: int) -> tuple[int, int, int]:
    return (
        positive_int("num_inputs", num_inputs),
        positive_int("num_patches", num_patches),
        positive_int("dim", dim),
    )
