"""Patch association: how a simplified Vision Transformer learns which patches belong together.

The library behind an executable book of Jelassi, Sander & Li, *Vision Transformers provably
learn spatial structure* (NeurIPS 2022). The rooms, from the ground up:

``structure``  which patches belong together, and how well scores recover it
``data``       the distributions
``attention``  self-attention and positional attention
``model``      the simplified ViT (T)
``exact``      what needs no sampling
``learners``   the trained models that the chapters compare
``records``    runs with their provenance; ``claims``: the ledger of verdicts
``figures``    one look for every plot

Imports run downwards in this list's reverse: ``structure`` imports nothing of the package,
and nothing imports ``figures``.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("patch-association")
except PackageNotFoundError:  # the source tree is on the path, but was never installed
    __version__ = "0+unknown"
