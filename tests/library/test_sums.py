"""Attention from sums of rows and columns: what the propositions ask for, against association itself."""

import numpy as np

from patch_association.structure import Partition, association


def a_matrix(rng, groups):
    """A symmetric matrix that favors groups: any, or a Gram matrix."""
    n = len(groups)
    M = rng.standard_normal((n, n)) if rng.random() < 0.5 else (X := rng.standard_normal((n, 3))) @ X.T
    return M + M.T + rng.uniform(0, 6) * np.equal.outer(groups, groups)


def gap_and_spread(M, groups):
    """Of each row: how far its companions, itself among them, lie above its strangers, and apart."""
    own = np.equal.outer(groups, groups)
    low, high = M.min(1, where=own, initial=np.inf), M.max(1, where=own, initial=-np.inf)
    return low - M.max(1, where=~own, initial=-np.inf), high - low


def test_gap_and_spread_decide_association():
    """1,500 random sums on grids of up to 6 x 9 patches, with 1 to 3 groups a direction: Definition 2.2."""
    rng, agreeing, found = np.random.default_rng(0), 0, 0
    for _ in range(1500):
        rows, columns = (rng.permutation(np.repeat(range(rng.integers(1, 4)), size)) for size in (2, 3))
        A, B = a_matrix(rng, rows), a_matrix(rng, columns)
        (g, s), (h, t) = gap_and_spread(A, rows), gap_and_spread(B, columns)
        says = (g[:, None] > t).all() and (h[:, None] > s).all()  # what the proposition asks for
        partition = Partition((3 * rows[:, None] + columns).reshape(-1))
        scores = A[:, None, :, None] + B[None, :, None, :]
        does = association(scores.reshape(partition.num_patches, -1), partition).exact
        agreeing, found = agreeing + (says == does), found + does
    assert agreeing == 1500 and 150 < found < 1200
