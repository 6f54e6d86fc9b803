"""What no learner can do better: lower bounds on the downstream samples.

**Unknown sets.** Draw the partition uniformly at random and give the learner, for free, the feature
w*, the coefficients s_j = <w*, X_j> without noise, and the signal set of every training sample. What
it does not know is how the patches split that no training sample named: by symmetry, every split of
them into sets is then equally likely. Its Bayes rule can be written down and its error computed
exactly, and no learner that lacks these gifts does better on average over partitions:

    P[s | y = +1] is proportional to T+ = K+ + m binom(n+, C) / binom(Cm, C),

where m sets are unseen, K+ seen sets have all s_j = +1, and n+ of the Cm unseen patches have s_j = +1;
T- likewise; the rule is the sign of T+ - T-. (Given the signal set l, P[s | y = +1, l] is the law of
random patches times (q/2)^-C where all of l is +1, and 0 elsewhere; average over l and over splits.)

If the learner is also told whether the test sample's signal set was seen, it errs only when it was
not (the rest is settled), by hiding C patches among Cm: error (m / L) e0(Cm), with
e0(M) = P[C + Z < 0] + P[C + Z = 0] / 2 and Z the sum of M - C random signs. This is
``told=True``: a weaker bound with a shorter proof.

**Known sets.** A learner that knows the sets but not w* errs half the time without a sample.
:func:`set_mean_cosine` and :func:`wrong_sign` say what one sample more can buy.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, xlogy

from patch_association.checks import divides, fits_memory, positive_int, probability
from patch_association.exact.integer_sums import trinomial
from patch_association.exact.linear import linear_error

# Probabilities below this are left out of sums of nonnegative terms.
_NEGLIGIBLE = 1e-18


def unseen_sets(num_sets: int, samples: int) -> np.ndarray:
    """(L + 1,) P[m sets are unseen after N draws of a uniform set], m = 0, ..., L.

    By the recursion over draws: a new draw hits one of the m unseen sets with probability m / L.
    """
    L = positive_int("num_sets", num_sets)
    N = positive_int("samples", samples, minimum=0)
    fits_memory(f"the law of {L:,} sets", 4 * L)
    law = np.zeros(L + 1)
    law[L] = 1.0
    for _ in range(N):
        law = _one_more(law)
    return law


def genie_error(num_patches: int, set_size: int, q: float, samples: int, told: bool = False) -> float:
    """The least average error after ``samples`` training samples of any learner that must find the sets.

    The exact Bayes error of the informed learner of the module's description, averaged over a
    uniformly random partition, the training samples and the test sample.

    Parameters
    ----------
    num_patches, set_size : int
        D and C.
    q : float in [0, 1]
    samples : int
        N >= 0.
    told : bool
        Also reveal whether the test sample's signal set was seen: E[(m / L) e0(Cm)].
    """
    D, C, L = divides(num_patches, set_size)
    errors = _errors_by_unseen(D, C, probability("q", q), told)
    return float(unseen_sets(L, samples) @ errors)


def lower_bound(num_patches: int, set_size: int, q: float, error: float, told: bool = False) -> int:
    """The samples that any learner needs for an average error of at most ``error``.

    The least N with :func:`genie_error` <= ``error``.

    Raises
    ------
    ValueError
        On bad sizes; and where no N suffices, because the informed learner with all sets errs more often.
    """
    D, C, L = divides(num_patches, set_size)
    error = probability("error", error)
    errors = _errors_by_unseen(D, C, probability("q", q), told)
    if not errors[0] < error:
        raise ValueError(f"error must be above {errors[0]:.3g}, the error with all sets known, got {error:g}")
    law = unseen_sets(L, 0)
    N = 0
    while law @ errors > error:
        law = _one_more(law)
        N = N + 1
    return N


def known_sets_error(num_patches: int, set_size: int, q: float) -> float:
    """The Bayes error with all sets and w* known: what training on the structure leaves."""
    D, C, _ = divides(num_patches, set_size)
    return _bayes_error(D, C, probability("q", q), 0)


def set_mean_cosine(set_size: int, samples: int, dim: int) -> float:
    """cos(v, w*) of the mean of y X_j over the signal sets of N samples, for large dim.

    v = w* + N(0, (sigma^2 / (C N)) (I - w* w*^T)): cos = 1 / sqrt(1 + sigma^2 (d - 1) / (C N)), here
    with sigma^2 = 1 / d.
    """
    C = positive_int("set_size", set_size)
    N = positive_int("samples", samples)
    d = positive_int("dim", dim)
    return 1 / math.sqrt(1 + 1 / d * (d - 1) / (C * N))


def wrong_sign(num_patches: int, set_size: int, q: float, samples: int) -> float:
    """P[the first moment sum_n y_n sum_j X_nj points away from w*], ties by half, exactly.

    Its component along w* is N C plus N (D - C) random signs. Gradient descent from a small start
    follows this moment first (times nu) under every attention whose columns sum to one, block
    attention among them: it is the chance that fine-tuning then sets out in the wrong direction.
    """
    D, C, _ = divides(num_patches, set_size)
    N = positive_int("samples", samples)
    Z = trinomial(N * (D - C), probability("q", q))
    return Z.below(-N * C) + 0.5 * Z.at(-N * C)


def binomial_ratio(n: np.ndarray, C: int, M: int) -> np.ndarray:
    """binom(n, C) / binom(M, C) for counts n of any shape: (n - i) / (M - i) multiplied over i < C."""
    ratio = np.ones(np.shape(n))
    for i in range(C):
        ratio *= np.maximum(n - i, 0) / (M - i)
    return ratio


def _one_more(law: np.ndarray) -> np.ndarray:
    """The law of the unseen sets after one more draw."""
    m = np.arange(law.size, dtype=np.int64)
    hit = law * m / (law.size - 1)
    return law - hit + np.append(hit[1:], 0.0)


def _errors_by_unseen(D, C, q, told) -> np.ndarray:
    L = D // C
    if told:
        return np.array([0.0] + [m / L * linear_error(C * m, C, q, ties="half") for m in range(1, L + 1)])
    return np.array([_bayes_error(D, C, q, m) for m in range(L + 1)])


def _bayes_error(D: int, C: int, q: float, m: int) -> float:
    """P[T+ < T-] + P[T+ = T-] / 2 at y = +1, with m unseen sets."""
    L = D // C
    M = C * m
    full = 2 * (q / 2) ** C  # a seen random set is all +1 or all -1 with this probability
    top = min(M, C + math.ceil(q * M / 2 + 10 * math.sqrt(q * M / 2) + 25))  # more have no weight in float64
    fits_memory(f"the counts of {M:,} patches", 8 * (top + 1) ** 2)
    n_plus, n_minus = np.meshgrid(np.arange(top + 1), np.arange(top + 1), indexing="ij")
    hidden = m * (binomial_ratio(n_plus, C, M) - binomial_ratio(n_minus, C, M)) if m else np.zeros((1, 1))
    error = 0.0
    # The signal set is among the L - m seen sets, or among the unseen patches.
    cases = [((L - m) / L, trinomial(max(L - m - 1, 0), full).shift(1), _pair_law(M, q, 0, top))]
    if m:
        cases.append((m / L, trinomial(L - m, full), _pair_law(M, q, C, top)))
    for weight, seen, pairs in cases:
        for difference, mass in zip(seen.support, seen.mass):
            if weight * mass < _NEGLIGIBLE:
                continue
            T = difference + hidden
            tie = np.abs(T) < 1e-12  # values are integers plus ratios of binomials
            error += weight * mass * float((pairs * np.where(tie, 0.5, T < 0)).sum())
    return error


def _pair_law(M: int, q: float, certain: int, top: int) -> np.ndarray:
    """P[n+ = i, n- = j], i, j <= top, among M patches of which ``certain`` are +1 and the rest random."""
    n = M - certain
    i, j = np.meshgrid(np.arange(top + 1) - certain, np.arange(top + 1), indexing="ij")
    law = np.zeros(i.shape)
    ok = (i >= 0) & (i + j <= n)
    i, j = i[ok], j[ok]
    k = n - i - j
    # xlogy has 0 log 0 = 0: q = 0 and q = 1 need no case of their own.
    law[ok] = np.exp(
        gammaln(n + 1)
        - gammaln(i + 1)
        - gammaln(j + 1)
        - gammaln(k + 1)
        + xlogy(i + j, q / 2)
        + xlogy(k, 1 - q)
    )
    return law
