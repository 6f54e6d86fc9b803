"""Gradient descent on model (T), recorded: on the population risk and on the empirical risk.

``steps``       the rates as values: constant, or clipped
``population``  three scalars on the exact risk (the paper's idealized process)
``gradients``   hand-derived gradients of the empirical risk, many seeds at once
``samples``     the inputs, held in memory and read in chunks
``evaluate``    the test error, without test inputs of dimension d
``empirical``   all scores and the value vector on N samples (the realistic process)

Rates are those of (T): ``rate`` of v, ``score_rate`` of A.
"""

from patch_association.training.empirical import (
    EmpiricalRun,
    Start,
    descend,
    idealized_start,
    perturbed_start,
    realistic_start,
)
from patch_association.training.evaluate import HeldOut
from patch_association.training.gradients import loss_and_gradients
from patch_association.training.population import PopulationRun, descend_population
from patch_association.training.samples import Samples
from patch_association.training.steps import Clipped, Constant, Diverged, recorded_steps

__all__ = [
    "Clipped", "Constant", "Diverged", "EmpiricalRun", "HeldOut", "PopulationRun", "Samples", "Start",
    "descend", "descend_population", "idealized_start", "loss_and_gradients",
    "perturbed_start", "realistic_start", "recorded_steps",
]  # fmt: skip
