"""How far single scores stray on N inputs, to first order and without a draw; how long association lasts.

Descent on N inputs differs from descent on the population by a noise that each step adds and every later
step feeds back. To first order in N^(-1/2) both are exact moments: the deviation after t steps is the mean
over the inputs of independent copies of Z_t(X),

    Z_0 = 0,    Z_(t+1) = (I - B H_t) Z_t - B (G_t(X) - E G_t),

where G_t is the gradient of one input's loss by all scores and alpha at the population's parameters, H_t the
Hessian of the population risk there and B the diagonal matrix of the rates. The value vector across w* drops
out: turning it leaves the population risk alone. Permutations that map sets to sets leave everything alone,
so that one input a class is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement
from math import factorial

import numpy as np
from scipy.special import expit

from patch_association.attention import attention_values
from patch_association.checks import divides, finite, odd_degree, positive_int, probability
from patch_association.defaults import DEFAULT
from patch_association.structure import Partition

# Classes of inputs times parameters: the table of Z has so many numbers (64 MB).
_LARGEST = 8_000_000
# Inputs that are permuted and added up at a time.
_AT_ONCE = 2000


@dataclass(frozen=True)
class Deviation:
    """How the off-diagonal scores stray from the population's path after some steps, to first order.

    The P = D (D - 1) scores stand row by row.

    Attributes
    ----------
    step : int
    gamma, rho : float
        The population's path.
    influence : (n, P) array
        Z_t of one input of each class.
    probability : (n,) array
        Of the classes.
    start : (P, P) array
        What a small change of the starting scores has become.
    """

    step: int
    gamma: float
    rho: float
    influence: np.ndarray
    probability: np.ndarray
    start: np.ndarray

    def rms(self) -> float:
        """sqrt(N) times the root mean square deviation of a score on N inputs, from the exact start."""
        return float(np.sqrt(self.probability @ (self.influence**2).mean(axis=1)))

    def amplified(self) -> float:
        """The root mean square deviation of a score, over that of its independent noises at the start."""
        return float(np.sqrt((self.start**2).sum() / len(self.start)))


class ScoreNoise:
    """The noise of single scores for given data, exactly to first order.

    Parameters
    ----------
    num_patches, set_size, q
        D, C and q of Assumption 1.
    degree, linear, diagonal
        p and nu of the activation, and the fixed diagonal.

    Raises
    ------
    ValueError
        On sizes that do not fit, and where the inputs have too many classes: a few sets are enough for that.

    Examples
    --------
    >>> noise = ScoreNoise(6, 2, 0.3)
    >>> float(round(noise.probability.sum(), 12))
    1.0
    """

    def __init__(
        self,
        num_patches: int,
        set_size: int,
        q: float,
        degree: int = DEFAULT.degree,
        linear: float = DEFAULT.linear,
        diagonal: float = DEFAULT.diagonal,
    ):
        self.D, self.C, self.L = divides(num_patches, set_size)
        self.q = probability("q", q)
        self.degree = odd_degree(degree)
        self.linear = finite("linear", linear, minimum=0)
        self.diagonal = finite("diagonal", diagonal)
        self.signs, self.probability = _classes(self.C, self.L, self.q, self.D**2)  # (n, D), (n,)
        labels = np.repeat(np.arange(self.L), self.C)
        self.partition = Partition(labels)
        rows, columns = np.nonzero(~np.eye(self.D, dtype=bool))
        self.pairs = rows, columns
        self.inside = labels[rows] == labels[columns]  # (P,)

    @cached_property
    def _orbits(self) -> np.ndarray:
        """(P, P): which pairs of scores a permutation that maps sets to sets can exchange."""
        places = [*self.pairs]
        i, j = (x[:, None] for x in places)
        k, m = (x[None, :] for x in places)
        codes = np.zeros((len(places[0]),) * 2, dtype=np.int64)
        for a, b in combinations((i, j, k, m), 2):  # who is whom, and who shares a set with whom
            same_set = a // self.C == b // self.C
            codes = 3 * codes + np.where(a == b, 2, np.where(same_set, 1, 0))
        return np.unique(codes, return_inverse=True)[1].reshape(codes.shape)

    def _symmetrized(self, matrix: np.ndarray) -> np.ndarray:
        """The mean of a (P, P) matrix over all permutations that map sets to sets."""
        orbits = self._orbits.reshape(-1)
        counts = np.bincount(orbits)
        return (np.bincount(orbits, matrix.reshape(-1)) / counts)[self._orbits]

    def _spread(self, vector: np.ndarray) -> np.ndarray:
        """The mean of a (P,) vector over those permutations."""
        spread = np.zeros_like(vector)
        for pairs in (self.inside, ~self.inside):
            if pairs.any():
                spread[pairs] = vector[pairs].mean()
        return spread

    def moments(self, alpha: float, gamma: float, rho: float):
        """Gradients of each class of inputs, (n, P + 1) with alpha last, and the Hessian, (P + 1, P + 1)."""
        D, p, nu = self.D, self.degree, self.linear
        own, inside, outside = map(float, attention_values(D, self.C, self.diagonal, gamma, rho))
        S = np.where(self.partition.same_set, inside, outside)
        np.fill_diagonal(S, own)
        u = D * alpha * self.signs  # (n, D): D <v, X_j>
        z = u @ S.T  # (n, D)
        # sigma', sigma''
        first = p * z ** (p - 1) + nu
        second = p * (p - 1) * z ** (p - 2)
        w = expit(-(z**p + nu * z).sum(axis=1))  # (n,)
        i, j = self.pairs
        a = S[i, j] * (u[:, j] - z[:, i])  # (n, P): dz_i / dA_ij
        by_score = first[:, i] * a
        by_alpha = (first * z).sum(axis=1) / alpha
        slopes = np.column_stack([by_score, by_alpha])  # dF
        gradient = -w[:, None] * slopes

        mass = self.probability
        P = len(i)
        heavy = np.sqrt(mass * w * (1 - w))[:, None] * slopes
        hessian = heavy.T @ heavy  # E[w (1 - w) dF dF^T]
        pull = mass * w
        curved = np.zeros((P, P))
        for row in range(D):
            at = np.flatnonzero(i == row)
            b = a[:, at]
            share = S[row, j[at]]
            block = (b * (pull * second[:, row])[:, None]).T @ b
            mixed = (pull * first[:, row]) @ b  # (D - 1,)
            block += np.diag(mixed) - np.outer(share, mixed) - np.outer(mixed, share)
            curved[np.ix_(at, at)] = block
        both = (pull[:, None] * (second[:, i] * z[:, i] + first[:, i]) * a).sum(axis=0) / alpha
        hessian[:P, :P] = self._symmetrized(hessian[:P, :P] - curved)
        hessian[P, :P] = hessian[:P, P] = self._spread(hessian[P, :P] - both)
        hessian[P, P] -= pull @ (second * z**2).sum(axis=1) / alpha**2
        return gradient, hessian

    def steps_of(self, path) -> int:
        """How many steps a population run has; ValueError if one is not recorded, or the data are others."""
        steps = len(path.steps) - 1
        if not np.array_equal(path.steps, np.arange(steps + 1)):
            raise ValueError(f"path must be recorded at every step, got steps {path.steps}")
        if (path.num_patches, path.set_size, path.diagonal) != (self.D, self.C, self.diagonal):
            raise ValueError("path must be a run on the same sizes with the same diagonal")
        return steps

    def deviations(self, path, at=None) -> list[Deviation]:
        """Follow the noise along a population run that was recorded at every step.

        Parameters
        ----------
        path : PopulationRun
            Of :func:`~patch_association.training.descend_population` with ``record=1``, on the same data.
        at : list of int, optional
            The steps to report; by default the last.
        """
        steps = self.steps_of(path)
        wanted = {steps} if at is None else {positive_int("at", t, minimum=0) for t in at}
        if max(wanted) > steps:
            raise ValueError(f"at must lie within the path's {steps} steps, got {max(wanted)}")
        P = len(self.inside)
        rates = np.append(np.full(P, path.step.score_rate), path.step.rate)
        Z = np.zeros((len(self.probability), P + 1))  # (n, P+1)
        start = np.eye(P + 1)[:, :P]  # (P+1, P)
        deviations = []
        for t in range(max(wanted) + 1):
            alpha, gamma, rho = (float(values[t]) for values in (path.alpha, path.gamma, path.rho))
            if t in wanted:
                deviations.append(
                    Deviation(t, gamma, rho, Z[:, :P].copy(), self.probability, start[:P].copy())
                )
            gradient, hessian = self.moments(alpha, gamma, rho)
            mean = self.probability @ gradient
            mean[:P] = self._spread(mean[:P])
            Z = Z - (Z @ hessian + gradient - mean) * rates
            start = start - rates[:, None] * (hessian @ start)
        return deviations

    def draw_scores(
        self, at: Deviation, n: int, start_std: float = 0.0, draws: int = 100, seed: int = 0
    ) -> np.ndarray:
        """What training on n inputs should give, in ``draws`` tries: scores (draws, D, D).

        The population's scores, plus the mean of Z_t over n drawn inputs, plus what has become of noise
        N(0, start_std^2) on the starting scores. The same seed draws the same inputs at every step.
        """
        n = positive_int("n", n)
        draws = positive_int("draws", draws)
        omega = finite("start_std", start_std, minimum=0)
        generator = np.random.default_rng(positive_int("seed", seed, minimum=0))
        D, C, L = self.D, self.C, self.L
        Z = np.zeros((len(self.probability), D, D))
        Z[:, self.pairs[0], self.pairs[1]] = at.influence
        base = np.where(self.partition.same_set, at.gamma, at.rho)
        scores = np.empty((draws, D, D))
        for k in range(draws):
            scores[k] = base
            scores[k, self.pairs[0], self.pairs[1]] += at.start @ (
                omega * generator.standard_normal(len(at.start))
            )
            classes = generator.choice(len(Z), size=n, p=self.probability / self.probability.sum())
            for some in np.array_split(classes, -(-n // _AT_ONCE)):
                # A random permutation that maps sets to sets: of the sets, and inside each.
                sets = generator.random((len(some), L)).argsort(axis=1)[:, :, None]
                names = sets * C + generator.random((len(some), L, C)).argsort(axis=2)
                names = names.reshape(len(some), D)
                scores[k] += Z[some[:, None, None], names[:, :, None], names[:, None, :]].sum(axis=0) / n
            np.fill_diagonal(scores[k], self.diagonal)
        return scores


def _classes(C: int, L: int, q: float, numbers: int):
    """One input of each class, given y = +1 with the first set as signal, and the chances of the classes."""
    # How many patches of a set carry either sign: so many kinds of sets have a chance.
    kinds = (C + 1) * (C + 2) // 2
    if q == 0:
        kinds = 1
    elif q == 1:
        kinds = C + 1
    count = 1
    for k in range(L - 1):  # multisets of L - 1 kinds
        count = count * (kinds + k) // (k + 1)
        if count * numbers > _LARGEST:
            break
    if count * numbers > _LARGEST:
        raise ValueError(
            f"the inputs have {count:,} classes or more at D = {C * L}, C = {C}: at most "
            f"{_LARGEST // numbers:,} can be followed"
        )
    types = [(plus, minus) for plus in range(C + 1) for minus in range(C + 1 - plus)]
    chance = {
        (a, b): factorial(C) / (factorial(a) * factorial(b) * factorial(C - a - b)) * (q / 2) ** (a + b)
        * (1 - q) ** (C - a - b)
        for a, b in types
    }  # fmt: skip
    possible = [kind for kind in types if chance[kind] > 0]
    signs = []
    mass = []
    for sets in combinations_with_replacement(possible, L - 1):
        orders = factorial(L - 1)
        for kind in set(sets):
            orders //= factorial(sets.count(kind))
        mass.append(orders * np.prod([chance[kind] for kind in sets]))
        rows = [[1] * C] + [[1] * a + [-1] * b + [0] * (C - a - b) for a, b in sets]
        signs.append(np.concatenate(rows))
    return np.array(signs, dtype=np.float64), np.array(mass)


def order_of_scores(scores, partition: Partition) -> tuple[float, float, int]:
    """How scores (D, D) stand to the sets.

    Returns
    -------
    lead : float
        The mean score of companions minus that of strangers.
    spread : float
        The standard deviation of the scores of companions.
    failing : int
        Patches that score a stranger at least as high as a patch of their own set, themselves included.
    """
    A = np.asarray(scores, dtype=float)
    same = partition.same_set
    companions = A[same & ~np.eye(len(A), dtype=bool)]
    lowest = np.where(same, A, np.inf).min(axis=1)
    highest = np.where(same, -np.inf, A).max(axis=1)
    lead = companions.mean() - A[~same].mean()
    return float(lead), float(companions.std()), int((lowest <= highest).sum())
