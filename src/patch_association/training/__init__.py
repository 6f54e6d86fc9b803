"""Gradient descent on model (T), recorded: on the population risk and on the empirical risk.

``population``  three scalars on the exact risk (the paper's idealized process)
``gradients``   hand-derived gradients of the empirical risk, many seeds at once
``samples``     where the inputs come from: memory, or drawn again at each pass
``empirical``   all scores and the value vector on N samples (the realistic process)
"""

from patch_association.training.empirical import (
    EmpiricalRun,
    Start,
    descend,
    idealized_start,
    realistic_start,
)
from patch_association.training.gradients import loss_and_gradients
from patch_association.training.population import PopulationRun, descend_population, initial_alpha
from patch_association.training.samples import Samples, StreamedSamples, TestCoefficients
from patch_association.training.steps import Diverged, recorded_steps

__all__ = [
    "Diverged",
    "EmpiricalRun",
    "PopulationRun",
    "Samples",
    "Start",
    "StreamedSamples",
    "TestCoefficients",
    "descend",
    "descend_population",
    "idealized_start",
    "initial_alpha",
    "loss_and_gradients",
    "realistic_start",
    "recorded_steps",
]
