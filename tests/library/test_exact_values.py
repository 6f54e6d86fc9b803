"""The exact room by hand: expansions, edges of searches, and draws that need no many-sample bound."""

import pytest
import torch

from patch_association.exact.linear import search_weights
from patch_association.exact.linear_bounds import any_weights_bound, any_weights_boundary
from patch_association.training.gradients import accumulate
from patch_lab.transfer.sample_bounds import genie_error, known_sets_error, lower_bound
from patch_lab.transfer.sample_limits import samples_per_set


def test_bounds_begin_and_end_where_they_say():
    D = any_weights_boundary(4, 0.3, error=0.1)
    assert any_weights_bound(D, 4, 0.3) >= 0.1 > any_weights_bound(D - 4, 4, 0.3)
    for q, error in ((0.0, 0.1), (0.3, 0.25)):
        with pytest.raises(ValueError, match="the bound reaches error only for"):
            any_weights_boundary(4, q, error)
    floor = known_sets_error(16, 4, 0.9)
    with pytest.raises(ValueError, match="error must be above"):
        lower_bound(16, 4, 0.9, floor)
    N = lower_bound(16, 4, 0.9, 1.001 * floor)
    assert genie_error(16, 4, 0.9, N) <= 1.001 * floor < genie_error(16, 4, 0.9, N - 1)
    assert lower_bound(16, 4, 0.9, 0.5) == 0
    assert samples_per_set(lambda t: 1 - t / 4, 0.25) == pytest.approx(3, abs=1e-4)
    assert samples_per_set(lambda t: 1 - t / 4, 0.25) >= 3 and samples_per_set(lambda t: 0.0, 0.1) <= 1e-4
    assert samples_per_set(lambda t: 1 - t / 4, 0.5, most=2.0) == 2.0
    with pytest.raises(ValueError, match=r"the error must reach 0\.25 by t = 2, got 0\.5 there"):
        samples_per_set(lambda t: 1 - t / 4, 0.25, most=2.0)


def test_among_weights_of_equal_error_the_first_is_returned():
    """One set: whatever its weight, the sign is the same."""
    error, weights = search_weights(1, 2, 0.4, largest=3)
    assert weights.tolist() == [1] and error == pytest.approx(0, abs=1e-15)


def test_an_output_of_zero_is_half_an_error():
    X, y = torch.ones(1, 3, 4, 2, dtype=torch.float64), torch.tensor([[1.0, -1.0, 1.0]], dtype=torch.float64)
    S = torch.full((1, 4, 4), 0.25, dtype=torch.float64)
    for entry, wrong in ((0.0, 1.5), (1.0, 1.0), (-1.0, 2.0)):
        value = torch.full((1, 2), entry, dtype=torch.float64)
        assert accumulate(X, y, S, value, 3, 0.1, 1.0).wrong.tolist() == [wrong]
