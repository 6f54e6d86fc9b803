"""What several files of tests share: balls of one precision, the style of drawings."""

import matplotlib.pyplot as plt
import pytest
from flint import ctx

from patch_lab.kit.figures import use_style


@pytest.fixture
def sixty_four_bits():
    """Balls of 64 bits, whatever precision stood before and stands again after."""
    before, ctx.prec = ctx.prec, 64
    yield
    ctx.prec = before


@pytest.fixture
def book_style():
    """The book's style for what a test draws, and no figure left open."""
    with plt.rc_context():
        use_style()
        yield
    plt.close("all")
