"""The profile of hypothesis, and balls of one precision."""

import pytest
from flint import ctx
from hypothesis import settings

# Derandomized, so that a red run is red for everyone; without a deadline, since the cores are shared.
settings.register_profile("book", deadline=None, max_examples=30, derandomize=True, database=None)
settings.load_profile("book")


@pytest.fixture
def sixty_four_bits():
    """Balls of 64 bits, whatever precision stood before and stands again after."""
    before, ctx.prec = ctx.prec, 64
    yield
    ctx.prec = before
