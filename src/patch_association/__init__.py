"""Patch association: how a simplified Vision Transformer learns which patches belong together.

The library behind an executable book of Jelassi, Sander & Li, *Vision Transformers provably
learn spatial structure* (NeurIPS 2022), and of its sister theory by Li, Wang, Liu & Chen (ICLR 2023).
The names below are its front door; each is imported when it is first used. Behind it are rooms, here
from the ground up; each imports only what stands above it in this list.

``conventions``  the one default setting, and every departure from it
``structure``    which patches belong together, and how well scores recover it
``intervals``    what a measured number is worth
``records``      runs with their provenance
``data``         the distributions
``attention``    self-attention and positional attention
``model``        the simplified ViT (T)
``exact``        what needs no sampling: laws, errors, the population risk
``training``     gradient descent on (T), on samples and on the population, and on what is compared with it
``certify``      descent on the population in ball arithmetic: runs that are proofs
``transfer``     structure learned once and used again
``images``       ViTs with positional attention on real images
``shallow_vit``  the second theory: one attention layer under an MLP, on patterns
``beyond``       both theories on one bench, deeper networks, and what a function knows
``claims``       the ledger of statements, verdicts and evidence
``sweeps``       the commands that make the records again
``figures``      one look for every plot; no other room imports it
``prose``        numbers and tables for the chapters' sentences
``cli``          the command ``patch-association``
"""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from patch_association._faces import face

if TYPE_CHECKING:  # what a type checker and an editor see; at run time ``face`` does the same, lazily
    from patch_association.attention import positional_attention, self_attention
    from patch_association.data import SpatialData
    from patch_association.exact.linear import labeling_error, linear_error
    from patch_association.exact.risk import PopulationRisk
    from patch_association.model import SimplifiedViT
    from patch_association.structure import Partition, association
    from patch_association.training import (
        Constant,
        HeldOut,
        Samples,
        descend,
        descend_population,
        realistic_start,
    )

_HOME = {
    "Constant": "training",
    "HeldOut": "training",
    "Partition": "structure",
    "PopulationRisk": "exact.risk",
    "Samples": "training",
    "SimplifiedViT": "model",
    "SpatialData": "data",
    "association": "structure",
    "descend": "training",
    "descend_population": "training",
    "labeling_error": "exact.linear",
    "linear_error": "exact.linear",
    "positional_attention": "attention",
    "realistic_start": "training",
    "self_attention": "attention",
}

__all__ = [
    "Constant",
    "HeldOut",
    "Partition",
    "PopulationRisk",
    "Samples",
    "SimplifiedViT",
    "SpatialData",
    "association",
    "descend",
    "descend_population",
    "labeling_error",
    "linear_error",
    "positional_attention",
    "realistic_start",
    "self_attention",
]

try:
    __version__ = version("patch-association")
except PackageNotFoundError:  # the source tree is on the path, but was never installed
    __version__ = "0+unknown"

__getattr__, __dir__ = face(__name__, _HOME)
