"""The profile of hypothesis, and a process that leaves the other cores and the screen alone."""

import os

import pytest
from flint import ctx
from hypothesis import settings

# Derandomized, so that a red run is red for everyone; without a deadline, since the cores are shared.
settings.register_profile("book", deadline=None, max_examples=30, derandomize=True, database=None)
settings.load_profile("book")

# Before torch and matplotlib are imported: tiny matrices gain nothing from threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture
def sixty_four_bits():
    """Balls of 64 bits, whatever precision stood before and stands again after."""
    before, ctx.prec = ctx.prec, 64
    yield
    ctx.prec = before
