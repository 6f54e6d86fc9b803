"""Balls of one precision."""

import pytest
from flint import ctx


@pytest.fixture
def sixty_four_bits():
    """Balls of 64 bits, whatever precision stood before and stands again after."""
    before, ctx.prec = ctx.prec, 64
    yield
    ctx.prec = before
