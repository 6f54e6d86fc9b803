"""Li, Wang, Liu & Chen (ICLR 2023): a shallow Vision Transformer that attends to content.

Their question is that of Jelassi, Sander & Li (2022) under the opposite assumption: what matters is what a
patch shows, not where it stands. ``data`` draws their inputs, ``population`` sums over all of them,
``network`` is their model (1) with its gradient by hand, ``initial`` every reading of its printed start,
and ``training`` Algorithm 1.
"""

from patch_association.shallow.data import PatternData, pattern_sets
from patch_association.shallow.initial import check_assumption, initial_weights
from patch_association.shallow.network import Weights, attention_map, loss_and_gradient, output
from patch_association.shallow.population import mean_fractions, measure, mixture, population
from patch_association.shallow.tokens import Tokens, stack
from patch_association.shallow.training import VARIANTS, train

__all__ = [
    "VARIANTS", "PatternData", "Tokens", "Weights", "attention_map", "check_assumption", "initial_weights",
    "loss_and_gradient", "mean_fractions", "measure", "mixture", "output", "pattern_sets",
    "population", "stack", "train",
]  # fmt: skip
