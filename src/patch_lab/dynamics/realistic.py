"""The settings of Figure 4 (Theorem 4.2), a run of one from the Gaussian start, and a start with noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from patch_association.checks import finite, positive_int
from patch_association.data import Law, SpatialData
from patch_association.defaults import DEFAULT
from patch_association.streams import Stream, generator
from patch_association.structure import Partition
from patch_association.training.empirical import (
    USUAL,
    Descent,
    EmpiricalRun,
    Start,
    descend,
    idealized_start,
    realistic_start,
)
from patch_association.training.evaluate import HeldOut
from patch_association.training.samples import Samples
from patch_association.training.steps import Constant

SET_SIZE = DEFAULT.set_size  # a 2 x 2 block of patches
N_TEST = 50_000


@dataclass(frozen=True)
class Setting:
    """One run of Theorem 4.2: a square of ``side`` x ``side`` patches in 2 x 2 blocks, d = D.

    ``ratio`` is kappa, the rate of the scores over the rate of v: D^2 ("common rate without the factor
    D in the activation") or 1 (the paper's single rate). ``dtype`` is what it was recorded in.
    """

    side: int
    q: float
    n: int
    steps: int
    rate: float
    ratio: int
    diagonal: float = DEFAULT.diagonal
    init_std: float = DEFAULT.init_std
    dtype: str = "float64"

    @property
    def num_patches(self) -> int:
        return self.side**2


SETTINGS = {
    "D16": Setting(side=4, q=0.4, n=20_000, steps=250, rate=0.02, ratio=16**2),
    "D36": Setting(side=6, q=0.2, n=20_000, steps=110, rate=0.02, ratio=36**2),
    "D64": Setting(side=8, q=0.1, n=20_000, steps=75, rate=0.015, ratio=64**2, dtype="float32"),
    "single-rate": Setting(4, 0.3, 8000, 5000, 0.1, ratio=1, diagonal=1.5, init_std=0.001, dtype="float32"),
    "D196": Setting(side=14, q=0.02, n=100_000, steps=60, rate=0.01, ratio=196**2, dtype="float32"),
}


def make_law(setting: Setting, layout: str = "blocks", dim: int | None = None) -> SpatialData:
    """The distribution: contiguous sets ("blocks") or scattered ones ("random", drawn once with seed 1).

    Raises
    ------
    ValueError
        For another layout.
    """
    D = setting.num_patches
    side = setting.side
    if layout not in ("blocks", "random"):
        raise ValueError(f'layout must be "blocks" or "random", got {layout!r}')
    sets = Partition.blocks(side, side, 2, 2) if layout == "blocks" else Partition.random(D, SET_SIZE, seed=1)
    return SpatialData(sets, D if dim is None else dim, setting.q)


def train_setting(
    setting: Setting,
    layout: str,
    seed: int,
    *,
    records: int = 12,
    dim=None,
    device=None,
    how: Descent = USUAL,
    on_divergence: str = "raise",
) -> EmpiricalRun:
    """One seed from the Gaussian start, recorded ``records`` times, with fresh test inputs of its own."""
    law = make_law(setting, layout, dim)
    dtype = getattr(torch, setting.dtype)
    samples = Samples.draw(law, setting.n, [seed], dtype=dtype, device=device)
    test = HeldOut(law, N_TEST, seed=1000 + seed, dtype=dtype, device=device)
    start = realistic_start(law, [seed], setting.diagonal, setting.init_std)
    return descend(
        samples,
        start,
        Constant(setting.rate, setting.ratio * setting.rate),
        steps=setting.steps,
        record=np.linspace(0, setting.steps, records).round().astype(int),
        test=test,
        how=how,
        on_divergence=on_divergence,
        progress=False,
    )


def frame_steps(setting: Setting) -> list[int]:
    """The steps at which A is shown."""
    return [round(setting.steps * share) for share in (0, 0.2, 0.4, 0.6, 0.8, 1)]


def scaled_descent(factor: float, rate: float, steps: int) -> np.ndarray:
    """What descent on (u - 1)^2 / 2 makes of u = ``factor`` x, from x = 0: (steps + 1,) values of u.

    A number that the loss sees ``factor`` times as large, as model (T) sees v; 1 for a score.

    Parameters
    ----------
    factor, rate : float (the rate is that of x)
    steps : int (at least 1)

    Raises
    ------
    ValueError
        If a number is not finite, or there is no step.
    """
    factor, rate = finite("factor", factor), finite("rate", rate)
    x = np.zeros(positive_int("steps", steps) + 1)
    for step in range(steps):
        slope = factor * (factor * x[step] - 1)
        x[step + 1] = x[step] - rate * slope
    return factor * x


def perturbed_start(law: Law, seed: int, omega: float, alpha: float | None = None) -> Start:
    """Case 1 with N(0, omega^2) added to the off-diagonal scores and each coordinate of v; one seed.

    Parameters
    ----------
    law, alpha : as in :func:`~patch_association.training.empirical.idealized_start`
    seed, omega : int, float (of the noise; omega at least 0)

    Raises
    ------
    ValueError
        If ``law`` or a number does not fit.
    """
    omega = finite("omega", omega, minimum=0)
    draws = generator(seed, Stream.PERTURBED_START)
    start = idealized_start(law, alpha=alpha)
    noise, value = (torch.from_numpy(draws.standard_normal(x.shape[1:])) for x in (start.scores, start.value))
    noise.fill_diagonal_(0.0)
    return Start(start.scores + omega * noise, start.value + omega * value)
