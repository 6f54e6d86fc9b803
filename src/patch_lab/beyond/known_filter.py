"""The best predictor of a cubic label on Gaussian patches by whoever knows the filter and not the sets.

Every partition of the patches into L sets of C gives the input another label. All share one mean t of the
answers, and each label is a threshold on t (:mod:`patch_lab.beyond.gaussian`). A vote of all
partitions is therefore a threshold, too: the median of theirs. It is the best of all predictors that are
blind to the sets, and equally good whichever partition is the true one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import ndtr

from patch_association.checks import fits_memory, positive_int
from patch_association.intervals import Estimate, mean
from patch_association.streams import Stream, generator

CHUNK = 200  # inputs that share one draw of partitions


@dataclass(frozen=True)
class BlindErrors:
    """Errors of the two predictors on the same inputs.

    Attributes
    ----------
    linear : Estimate
        Of the sign of the sum of all answers.
    blind : Estimate
        Of the vote; where partitions were drawn, of a vote of half of them on the labels of the others,
        which can only be larger.
    saved : Estimate
        The first less the second.
    partitions : int
        How many vote.
    exact : bool
        Whether these are all partitions.
    """

    linear: Estimate
    blind: Estimate
    saved: Estimate
    partitions: int
    exact: bool


def num_partitions(num_sets: int, set_size: int) -> int:
    """How many partitions of L C patches into L sets of C there are: (L C)! / (C!^L L!).

    Examples
    --------
    >>> num_partitions(4, 2), num_partitions(4, 4)
    (105, 2627625)
    """
    L = positive_int("num_sets", num_sets)
    C = positive_int("set_size", set_size)
    fits_memory(f"the factorial of {L * C:,}", L * C * (L * C).bit_length() // 64)
    return math.factorial(L * C) // (math.factorial(C) ** L * math.factorial(L))


def partitions(num_sets: int, set_size: int) -> np.ndarray:
    """(P, L, C): all partitions, a row of patch numbers for each set."""

    def completed(patches: tuple[int, ...]):
        if not patches:
            yield []
            return
        first = patches[0]
        rest = patches[1:]
        for others in combinations(rest, set_size - 1):
            for sets in completed(tuple(j for j in rest if j not in others)):
                yield [(first, *others), *sets]

    count = num_partitions(num_sets, set_size)
    fits_memory(f"{count:,} partitions", 2 * count * num_sets * set_size)  # listed, and as an array
    return np.array(list(completed(tuple(range(num_sets * set_size)))), dtype=np.int64)


def blind_errors(num_sets: int, set_size: int, n: int = 10_000, seed: int = 0) -> BlindErrors:
    """The errors of the sum and of the vote of all partitions, averaged over ``n`` inputs without their mean.

    Given all answers up to their mean, the mean t is N(0, 1/L), and a label with the threshold t_pi differs
    from a prediction with the threshold s with the probability |Phi(sqrt(L) t_pi) - Phi(sqrt(L) s)|: nothing
    is left to draw. The average over pi is least at the median s.

    Parameters
    ----------
    num_sets, set_size : int
        L >= 2 and C.
    n, seed : int
        Inputs, and the seed of their draw. Of more than 2,000 partitions as many are drawn anew for every
        200 inputs.

    Examples
    --------
    With sets of one patch there is one partition, and nothing to be blind to.

    >>> round(blind_errors(4, 1, n=100).blind.value, 12)
    0.0
    """
    L = positive_int("num_sets", num_sets, minimum=2)
    C = positive_int("set_size", set_size)
    n = positive_int("n", n, minimum=2)
    most = 2000
    rng = generator(seed, Stream.SET_BLIND)
    count = num_partitions(L, C)
    exact = count <= most
    # Who is in which set, and the sums of a draw's inputs, over all partitions at a time.
    together = min(count, most) * L * (L * C + 4 * min(n, CHUNK))
    fits_memory(f"{min(count, most):,} partitions of {L * C:,} patches, {n:,} inputs", together + 2 * n)
    every = _indicators(partitions(L, C)) if exact else None
    linear = []
    blind = []
    for start in range(0, n, CHUNK):
        eta = rng.standard_normal((min(CHUNK, n - start), L * C))
        eta -= eta.mean(axis=1, keepdims=True)
        drawn = None if exact else rng.permuted(np.tile(np.arange(L * C), (most, 1)), axis=1)
        sums = every if drawn is None else _indicators(drawn.reshape(most, L, C))
        shares = ndtr(math.sqrt(L) * _thresholds(eta @ sums / math.sqrt(C), L))  # (n, D) @ (D, P L) -> (n, P)
        judged = shares if exact else shares[:, most // 2 :]
        vote = np.median(shares if exact else shares[:, : most // 2], axis=1, keepdims=True)
        linear.append(np.abs(judged - 0.5).mean(axis=1))
        blind.append(np.abs(judged - vote).mean(axis=1))
    a, b = np.concatenate(linear), np.concatenate(blind)
    return BlindErrors(mean(a), mean(b), mean(a - b), count if exact else most // 2, exact)


def _indicators(sets: np.ndarray) -> np.ndarray:
    """(D, P L): which patches a set adds up, from (P, L, C)."""
    P, L, C = sets.shape
    made = np.zeros((L * C, P * L))
    made[sets.reshape(P * L, C), np.arange(P * L)[:, None]] = 1.0
    return made


def _thresholds(h: np.ndarray, num_sets: int) -> np.ndarray:
    """(n, P): the t with L t^3 + 3 t Q + K = 0, Q and K the sums of squares and cubes of h (n, P L)."""
    L = num_sets
    h = h.reshape(len(h), -1, L)
    Q = (h**2).sum(axis=2)
    K = (h**3).sum(axis=2)
    root = np.arcsinh(math.sqrt(L) * K / (2 * np.maximum(Q, 1e-300) ** 1.5)) / 3
    return -2 * np.sqrt(Q / L) * np.sinh(root)
