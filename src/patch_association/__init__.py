"""Patch association: how a simplified Vision Transformer learns which patches belong together.

The library behind an executable book of Jelassi, Sander & Li, *Vision Transformers provably
learn spatial structure* (NeurIPS 2022), and of its sister theory by Li, Wang, Liu & Chen (ICLR 2023).
The names below are its front door; each is imported when it is first used. Behind it are rooms, here
from the ground up; each imports only what stands above it in this list.

``defaults``     the one default setting
``structure``    which patches belong together, and how well scores recover it
``intervals``    what a measured number is worth
``data``         the distribution of Assumption 1, and what another must give
``attention``    self-attention and positional attention
``model``        the simplified ViT (T)
``exact``        what needs no sampling: laws, errors, the population risk
``training``     gradient descent on (T), on samples and on the population
``images``       a ViT with either attention, networks that others trained, and what they learn
``shallow``      the second theory: one attention layer under an MLP, on patterns
"""

from importlib import import_module, metadata, util

import lazy_loader

try:
    __version__ = metadata.version("patch-association")
except metadata.PackageNotFoundError:  # the source tree is on the path, but was never installed
    __version__ = "0+unknown"

_named, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str):
    """A name of the front door, or a room."""
    if name not in __all__ and not name.startswith("_") and util.find_spec(f"{__name__}.{name}"):
        return import_module(f"{__name__}.{name}")
    return _named(name)
