"""Li, Wang, Liu & Chen (ICLR 2023): a shallow Vision Transformer that attends to content.

Their question is that of Jelassi, Sander & Li (2022) under the opposite assumption: what matters is what a
patch shows, not where it stands. ``data`` draws their inputs, ``population`` sums over all of them,
``network`` is their model (1) with its gradient by hand, ``initial`` every reading of its printed start,
and ``training`` Algorithm 1.
"""

from patch_association.shallow.data import PatternData
from patch_association.shallow.initial import initial_weights
from patch_association.shallow.network import Weights, attention_map, loss_and_gradient, output
from patch_association.shallow.population import mean_fractions, measure, population
from patch_association.shallow.tokens import Tokens, stack
from patch_association.shallow.training import VARIANTS, Sgd, train

__all__ = [
    "VARIANTS", "PatternData", "Sgd", "Tokens", "Weights", "attention_map", "initial_weights",
    "loss_and_gradient", "mean_fractions", "measure", "output", "population", "stack",
    "train",
]  # fmt: skip
