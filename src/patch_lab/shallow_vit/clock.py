"""The clock of model (1) on the exact population: eta T alpha_*, constant where steps follow 1 / alpha_*."""

from __future__ import annotations

import numpy as np

from patch_association.shallow import PatternData, initial_weights, population, train


def scaled_time(
    relevant: float,
    confusion: float,
    rate: float,
    variant: str = "trained",
    *,
    num_tokens: int = 100,
    num_neurons: int = 100,
    networks: int = 3,
) -> float:
    """eta T alpha_*, with T the median number of steps to a hinge of zero, without noise.

    Parameters
    ----------
    relevant, confusion : float
        Fractions of the tokens, times ``num_tokens`` integers.
    rate : float
        Step size eta.
    variant : "trained", "frozen", "uniform" or "identity"
        Which attention, see :data:`patch_association.shallow.VARIANTS`.
    networks : int
        Seeds 0 to ``networks - 1``.

    Raises
    ------
    RuntimeError
        If a network needs more than 20,000 steps.
    """
    design = PatternData(num_tokens, relevant, confusion, noise=0.0)
    start = initial_weights(design, range(networks), num_neurons=num_neurons)
    run = train(population(design), start, steps=20_000, rate=rate, variant=variant)
    if (run.fitted_at < 0).any():
        raise RuntimeError(f"expected a hinge of zero within 20,000 steps, at rate {rate:g} it is not")
    return rate * float(np.median(run.fitted_at)) * relevant
