"""What single rows of attention read: specialists of a set, and blank rows that take the plain sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import fminbound

from patch_association.checks import finite
from patch_association.defaults import DEFAULT
from patch_association.exact.set_sums import law_of_set_sums
from patch_association.structure import Partition


def set_masses(attention, partition: Partition) -> np.ndarray:
    """What each row pays each set, its own patch included: attention (..., D, D) to masses (..., D, L)."""
    S = np.asarray(attention, dtype=np.float64)
    member = (partition.labels[:, None] == np.arange(partition.num_sets)).astype(np.float64)  # (D, L)
    return S @ member  # (..., D, D) @ (D, L)


def sets_read(masses: np.ndarray, least: float = 0.6) -> np.ndarray:
    """The set to which a row pays ``least`` of its attention or more, (..., D); -1: no set gets so much.

    A row that reads a set in this sense is a *specialist* of it. ``least`` must exceed one half.
    """
    if not 0.5 < finite("least", least) <= 1:
        raise ValueError(f"least must lie above 0.5 and at most at 1, so that one set gets it, got {least}")
    return np.where(masses.max(axis=-1) >= least, masses.argmax(axis=-1), -1)


def count_specialists(masses, partition: Partition, least: float = 0.6) -> tuple[int, int]:
    """How many rows of ``masses`` (..., D, L) are specialists, and how many of these of their own set."""
    read = sets_read(np.asarray(masses), least)  # (..., D)
    return int((read >= 0).sum()), int((read == partition.labels).sum())


def over_heads(values) -> np.ndarray:
    """The largest value over layers and heads, (R, ...) to (R,): of truths, whether one of them holds."""
    values = np.asarray(values)
    return values.reshape(len(values), -1).max(axis=1)


def blank_rows(masses: np.ndarray) -> np.ndarray:
    """Whether a row pays every set 1/L, to 0.1: (..., D) bool. Such a row takes the plain sum."""
    return np.abs(masses - 1 / masses.shape[-1]).max(axis=-1) <= 0.1


@dataclass(frozen=True)
class HardEnd:
    """Where ``readers`` rows of each set pay it all their attention and the others pay all patches alike."""

    readers: int
    blank: int
    loss: float
    error: float


def hard_ends(num_patches: int, set_size: int, q: float) -> list[HardEnd]:
    """Model (T) where 1, ..., C rows of each set read it and all others are blank: the least losses.

    Exact but for the minimization over alpha, which is right to 1e-10; the error is
    P[y F < 0] + P[F = 0] / 2 there.
    """
    p = DEFAULT.degree
    law = law_of_set_sums(num_patches, set_size, q, p, 0.0, 2**21)
    total, powers = (law.power_sums[f"P{k}"].astype(np.float64) for k in (1, p))
    num_sets = num_patches // set_size
    ends = []
    for readers in range(1, set_size + 1):
        blank = num_patches - num_sets * readers

        def margin(alpha, readers=readers, blank=blank):
            read = num_patches * alpha / set_size
            linear = DEFAULT.linear * total * (readers * read + blank * alpha)
            return readers * read**p * powers + blank * (alpha * total) ** p + linear

        def loss(alpha, margin=margin):
            return float(law.probability @ np.logaddexp(0, -margin(alpha)))

        best = np.asarray(fminbound(loss, 0, 1, xtol=1e-10)).item()
        F = margin(best)
        wrong = np.where(F == 0, 0.5, np.where(F < 0, 1.0, 0.0))
        error = law.probability @ wrong
        ends.append(HardEnd(readers, blank, loss(best), float(error)))
    return ends
