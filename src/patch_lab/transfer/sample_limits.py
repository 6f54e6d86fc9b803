"""The samples that the sets cost as D grows: errors with N = t L samples, in the limit of many patches.

C and chi = q D / C^2 stay fixed, so that an input has a Poisson number of clutter patches of each sign,
of mean lambda = chi C^2 / 2, and a training sample shares at most one patch with it unless both have
one signal set. An input is lost only where its signal set is unseen, which has probability e^-t. Then
what is known of a patch is how likely it lies in an unseen set, its weight w, and the best rule compares

    e_C(w over the input's patches with +w*)   with   e_C(w over those with -w*),

e_C the elementary symmetric polynomial. Learners differ in their weights alone:

- ``equal_weights``: w = 1. An upper bound on the least error, and so is
- ``weights_by_count``: w = 1 / (1 + k C e^t / lambda) after k activations in samples whose signal set no
  other sample has, and 0 in a set that two samples share.
- ``far_sets_known``: a lower bound, for a learner that is told every signal set but those of the samples
  that share a patch with the input. Then w = 1 / (1 + sum_n C / b_n) over these samples, where C - 1 + b_n
  further patches of n may be its signal.
- ``all_sets_known``: a lower bound. w = 1 in unseen sets and 0 elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.stats import skellam

from patch_association.checks import finite, fits_memory, function, positive_int, probability
from patch_association.intervals import Estimate, mean
from patch_association.streams import Stream, generator


def equal_weights(set_size: int, ratio: float, per_set: float) -> float:
    """e^-t e(lambda): the limit of the error when all patches weigh alike.

    Parameters
    ----------
    set_size : int
        C.
    ratio : float
        chi = q D / C^2.
    per_set : float
        t, samples per set.
    """
    C, clutter, t = _checked(set_size, ratio, per_set)
    return math.exp(-t) * _plain_sum(C, clutter)


def all_sets_known(set_size: int, ratio: float, per_set: float) -> float:
    """e^-t e(lambda e^-t): the limit of the least error of a learner that is told all signal sets."""
    C, clutter, t = _checked(set_size, ratio, per_set)
    return math.exp(-t) * _plain_sum(C, clutter * math.exp(-t))


def weights_by_count(set_size: int, ratio: float, per_set: float, draws: int = 100_000) -> Estimate:
    """The limit of the error when patches weigh by the samples that they are active in.

    From ``draws`` inputs whose signal set is unseen; the other parameters are those of :func:`equal_weights`.

    Examples
    --------
    >>> weights_by_count(4, 1.0, 0.8).value < 0.052 < equal_weights(4, 1.0, 0.8)
    True
    """
    C, clutter, t = _checked(set_size, ratio, per_set)

    def odds(once, random):
        # Of "its set was seen once" against "unseen": k C e^t / lambda after k activations.
        k = random.poisson(t * math.exp(-t) * clutter / C, once.size) + once
        return k * C * math.exp(t) / clutter if clutter else np.where(once, np.inf, 0.0)

    return _error(C, clutter, t, odds, draws)


def far_sets_known(set_size: int, ratio: float, per_set: float, draws: int = 100_000) -> Estimate:
    """The limit of the least error when all is told but the signal sets of samples that meet the input."""
    C, clutter, t = _checked(set_size, ratio, per_set)

    def odds(once, random):
        met = random.poisson(t * math.exp(-t) * clutter / C, once.size)  # samples with it as clutter
        patch = np.repeat(np.arange(once.size), met)
        spare = random.poisson(clutter * math.exp(-t), patch.size)  # clutter of theirs that no set explains
        total = np.bincount(patch, C / (1.0 + spare), minlength=once.size)
        with np.errstate(divide="ignore"):  # no spare patch: it must be the signal's
            signal_odds = C / random.poisson(clutter * math.exp(-t), once.size).astype(float)
        return total + np.where(once, signal_odds, 0.0)

    return _error(C, clutter, t, odds, draws)


def small_errors(set_size: int, ratio: float, per_set: float) -> tuple[float, float]:
    """Bounds of the least error, and of that of ``weights_by_count``, that meet as samples per set grow.

    With x = lambda e^-t both errors lie between e^-t x^C / C! times e^-2x / 2 and times
    1/2 + x (1 + t)^C (t + (1 + t) / (C + 1)). The parameters are those of :func:`equal_weights`.

    Returns
    -------
    (float, float)
        Below both errors, and above both.
    """
    C, clutter, t = _checked(set_size, ratio, per_set)
    x = clutter * math.exp(-t)
    scale = math.exp(-t) * x**C / math.factorial(C)
    return scale * math.exp(-2 * x) / 2, scale * (0.5 + x * (1 + t) ** C * (t + (1 + t) / (C + 1)))


def mean_offspring(set_size: int, ratio: float, per_set: float) -> float:
    """How many patches, on average, the next step along samples leads to: t x (1 + (1 + t) x / C).

    Here x = lambda e^-t. A patch is clutter of t x / C samples whose set no other sample has. Each of these
    has C signal patches and (1 + t) x clutter patches whose set was not seen twice. The parameters are
    those of :func:`equal_weights`.
    """
    C, clutter, t = _checked(set_size, ratio, per_set)
    x = clutter * math.exp(-t)
    return t * x * (1 + (1 + t) * x / C)


def samples_per_set(
    error: Callable[[float], float], target: float, most: float = 20.0, accuracy: float = 1e-4
) -> float:
    """The least t at which a decreasing error(t) reaches ``target``: bisection, up to ``accuracy`` above it.

    Raises
    ------
    ValueError
        If the error is still above the target at ``most``.
    """
    function("error", error)
    target = probability("target", target)
    most = finite("most", most, minimum=0)
    if finite("accuracy", accuracy, minimum=0) == 0:
        raise ValueError("accuracy must be positive, got 0")
    if error(most) > target:
        raise ValueError(f"the error must reach {target:g} by t = {most:g}, got {error(most):.3g} there")
    low, high = 0.0, most
    while high - low > accuracy:
        middle = (low + high) / 2
        if error(middle) > target:
            low = middle
        else:
            high = middle
    return high


def elementary_symmetric(power_sums, degree: int) -> np.ndarray:
    """e_C of numbers from their power sums p_1, ..., p_C (Newton): k e_k = sum_i (-1)^(i-1) e_(k-i) p_i.

    Parameters
    ----------
    power_sums : (C, ...) array
        The last C of them that are needed: ``power_sums[i - 1]`` is the sum of i-th powers.
    degree : int
        C.
    """
    p = np.asarray(power_sums, dtype=np.float64)
    e = [1.0]
    if p.ndim == 0 or len(p) < positive_int("degree", degree):
        raise ValueError(f"power_sums must hold those of the powers 1 to {degree}, got shape {p.shape}")
    for k in range(1, degree + 1):
        e.append(sum((-1) ** (i - 1) * e[k - i] * p[i - 1] for i in range(1, k + 1)) / k)
    return np.asarray(e[-1])


def _checked(set_size, ratio, per_set) -> tuple[int, float, float]:
    C = positive_int("set_size", set_size, minimum=2)
    return C, finite("ratio", ratio, minimum=0) * C**2 / 2, finite("per_set", per_set, minimum=0)


def _plain_sum(C: int, clutter: float) -> float:
    """P[C + Z < 0] + P[C + Z = 0] / 2 with Z a difference of two Poisson numbers."""
    if clutter == 0:
        return 0.0
    return float(skellam.cdf(-C - 1, clutter, clutter) + skellam.pmf(-C, clutter, clutter) / 2)


def _error(C, clutter, t, odds, draws) -> Estimate:
    """e^-t times the error on inputs with an unseen signal set; ``odds`` draws the odds of seen patches."""
    draws = positive_int("draws", draws, minimum=2)
    random = generator(0, Stream.LIMIT_PATCHES)
    patches = math.ceil(draws * (C + clutter * math.exp(-t) * (1 + t)))
    fits_memory(f"{draws:,} inputs of {patches:,} patches in all", 6 * patches)

    def side(signal: int):
        # A clutter patch is in a set that was seen never, once, or more often: then its weight is zero.
        count = random.poisson(clutter * math.exp(-t) * (1 + t), draws)
        row = np.concatenate([np.repeat(np.arange(draws), count), np.repeat(np.arange(draws), signal)])
        once = random.random(row.size) < t / (1 + t)
        once[count.sum() :] = False
        weight = 1 / (1 + odds(once, random))
        sums = [np.bincount(row, weight**i, minlength=draws) for i in range(1, C + 1)]
        return elementary_symmetric(sums, C)

    positive, negative = side(C), side(0)
    tie = np.abs(positive - negative) <= 1e-9 * (positive + 1e-3)
    share = math.exp(-t)
    estimate = mean(share * np.where(tie, 0.5, positive < negative))
    return Estimate(estimate.value, max(estimate.low, 0.0), estimate.high, draws, estimate.level)
