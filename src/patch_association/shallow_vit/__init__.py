"""Li, Wang, Liu & Chen (ICLR 2023): a shallow Vision Transformer that attends to content.

Their question is that of Jelassi, Sander & Li (2022) under the opposite assumption: what matters is what a
patch shows, not where it stands. ``data`` draws their inputs, ``population`` sums over all of them,
``network`` is their model (1) with its gradient by hand, ``initial`` every reading of its printed start,
``training`` Algorithm 1, ``sparsify`` the removal of tokens, ``theory`` what can be said in closed form, and
``extensions`` their appendix G.
"""

from patch_association.shallow_vit.data import PatternData, pattern_sets
from patch_association.shallow_vit.initial import check_assumption, initial_weights
from patch_association.shallow_vit.network import Weights, attention_map, loss_and_gradient, output
from patch_association.shallow_vit.population import (
    mean_fractions,
    measure,
    mixture,
    noise_gain,
    population,
)
from patch_association.shallow_vit.sparsify import keep_attended, remove
from patch_association.shallow_vit.tokens import Tokens, stack, with_neighbors
from patch_association.shallow_vit.training import VARIANTS, train

__all__ = [
    "VARIANTS",
    "PatternData",
    "Tokens",
    "Weights",
    "attention_map",
    "check_assumption",
    "initial_weights",
    "keep_attended",
    "loss_and_gradient",
    "mean_fractions",
    "measure",
    "mixture",
    "noise_gain",
    "output",
    "pattern_sets",
    "population",
    "remove",
    "stack",
    "train",
    "with_neighbors",
]
