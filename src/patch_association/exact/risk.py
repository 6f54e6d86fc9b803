"""The population risk of model (T), exactly, when A has three values and v = alpha w*.

Lemmas 4.1 and 4.2 of Jelassi et al.: gradient descent on the population risk keeps A_ii = beta,
A_ij = gamma inside a set, A_ij = rho across sets, and v = alpha w*. The attention then has three
values too, Lambda, Gamma, Xi, and with a = Lambda - Gamma, b = Gamma - Xi, c = Xi

    y F(X) = (D alpha)^p sum_i (a s_i + b n_{l(i)} + c M)^p + nu D alpha M,

where s_i = y <w*, X_i> in {-1, 0, 1}, n_l is the sum of s over set l and M over all patches; the
noise is orthogonal to w* and does not enter. Multiplied out, this is linear in p (p + 1) / 2 integer
features (six for p = 3) whose law no parameter moves: the population risk is a weighted logistic
regression on finitely many points.
"""

from __future__ import annotations

import math

import numpy as np

from patch_association.checks import divides, finite, odd_degree, positive_int, probability
from patch_association.defaults import DEFAULT
from patch_association.exact.set_sums import SupportTooLarge, law_of_set_sums

# Up to this many atoms the law is kept whole by default; beyond it, atoms of this total mass go.
_KEEP_WHOLE = 400_000
_DEFAULT_PRUNE = 1e-13
# An atom whose terms cancel to within this share of their absolute sum has no sign in float64.
_TIE = 64 * np.finfo(np.float64).eps
# Numbers in a block of features. OpenBLAS multiplies a matrix of under 9,216 by a vector with one thread.
_BLOCK = 9_000


class PopulationRisk:
    """Loss, gradient and error of (T) on the whole distribution of Assumption 1, in float64.

    Softmax without the 1 / sqrt(d) of (T), as in section 4.1 of the paper.

    Parameters
    ----------
    num_patches, set_size : int
        D and C; C divides D.
    q : float in [0, 1]
        The chance that a patch of a random set carries the feature.
    degree, linear : int, float
        sigma(x) = x^p + nu x, with p odd and at least 3, nu >= 0.
    prune : float, optional
        The probability that may be left out in all. By default nothing is left out where the law
        has at most 400,000 atoms, and at most 1e-13 beyond.
    max_atoms : int
        Refuse laws of more atoms. The tables take 8 (p (p+1) / 2 + 1) bytes an atom (56 for p = 3,
        128 for p = 5: 117 and 268 MB at the default); the set-up needs at most 1.5 GB.

    Attributes
    ----------
    lost_mass : float
        The probability that was left out: at most ``prune``, and 0 where nothing was.
        :meth:`lost_loss` turns it into a bound on the loss.
    names : tuple of str
        The integer features, ``"M*P2"`` for M sum_l n_l^2 with P_m = sum_l n_l^m, Q_m = sum_l r_l n_l^m
        and r_l the number of nonzero s in set l; for p = 3: ``P1 Q1 P3 M*Q0 M*P2 M^2*P1``.
    support : (features, n) float64 array
        The integer features of each atom (exact below 2^53).
    probability : (n,) float64 array
    nbytes : int

    Raises
    ------
    ValueError
        On arguments that do not fit; and where the law needs more than ``max_atoms`` atoms
        (:class:`~patch_association.exact.set_sums.SupportTooLarge`), naming both numbers.

    Examples
    --------
    >>> round(PopulationRisk(16, 4, q=0.3).loss(alpha=0.1, beta=1.0, gamma=0.0, rho=0.0), 4)
    0.2816
    """

    def __init__(
        self,
        num_patches: int,
        set_size: int,
        q: float,
        degree: int = DEFAULT.degree,
        linear: float = DEFAULT.linear,
        *,
        prune: float | None = None,
        max_atoms: int = 2**21,
    ):
        self.num_patches, self.set_size, self.num_sets = divides(num_patches, set_size)
        self.q = probability("q", q)
        self.degree = odd_degree(degree)
        self.linear = finite("linear", linear, minimum=0)
        max_atoms = positive_int("max_atoms", max_atoms)
        if prune is not None and finite("prune", prune, minimum=0) > 1e-3:
            raise ValueError(f"prune must be at most 1e-3, got {prune:g}")
        law = self._law(prune, max_atoms)
        self.probability = law.probability
        self.lost_mass = law.lost_mass
        self._terms, self.names = _multiply_out(self.num_patches, self.set_size, self.degree)
        M = law.power_sums["P1"].astype(np.float64)
        self.support = np.empty((len(self.names), law.size))
        for row, (power, sums) in zip(self.support, self._terms):
            np.multiply(M**power, law.power_sums[sums], out=row)
        self.support.setflags(write=False)
        self.probability.setflags(write=False)

    def _law(self, prune, max_atoms):
        arguments = (self.num_patches, self.set_size, self.q, self.degree)
        if prune is not None:
            return law_of_set_sums(*arguments, prune, max_atoms)
        try:
            return law_of_set_sums(*arguments, 0.0, min(_KEEP_WHOLE, max_atoms))
        except SupportTooLarge:
            return law_of_set_sums(*arguments, _DEFAULT_PRUNE, max_atoms)

    @property
    def nbytes(self) -> int:
        """The memory of the tables."""
        return self.support.nbytes + self.probability.nbytes

    def loss(self, alpha: float, beta: float, gamma: float, rho: float) -> float:
        """E log(1 + exp(-y F(X))).

        Parameters
        ----------
        alpha, beta, gamma, rho : float (v = alpha w*; scores on the diagonal, inside a set, and across sets)

        Raises
        ------
        ValueError
            If a number is not finite, or (D alpha)^p leaves float64.
        """
        weights, _ = self.weights_and_slopes(alpha, beta, gamma, rho)
        return sum(_mean_loss(p, F) for _, p, F in self._blocks(weights))

    def gradient(self, alpha: float, beta: float, gamma: float, rho: float) -> np.ndarray:
        """(3,) the derivative of the loss by alpha, gamma and rho.

        gamma stands in D (C-1) entries of A and rho in D (D-C): the derivative by one entry is
        that much smaller (:func:`patch_association.training.population.descend_population`).

        Parameters
        ----------
        alpha, beta, gamma, rho : float (as in :meth:`loss`, and so the errors)
        """
        return self._loss_and_gradient(alpha, beta, gamma, rho, with_loss=False)[1]

    def loss_and_gradient(self, alpha: float, beta: float, gamma: float, rho: float):
        """The pair (loss, gradient) from one pass over the atoms.

        Parameters
        ----------
        alpha, beta, gamma, rho : float (as in :meth:`loss`, and so the errors)
        """
        return self._loss_and_gradient(alpha, beta, gamma, rho, with_loss=True)

    def _loss_and_gradient(self, alpha, beta, gamma, rho, with_loss: bool):
        weights, slopes = self.weights_and_slopes(alpha, beta, gamma, rho)
        loss = 0.0
        by_weight = np.zeros(len(weights))
        with np.errstate(over="ignore"):  # exp(F) may be infinite: that atom's share is then zero
            for phi, p, F in self._blocks(weights):
                if with_loss:
                    loss += _mean_loss(p, F)
                by_weight -= phi @ (p / (1 + np.exp(F)))  # (features, m) @ (m,)
        return loss, slopes @ by_weight

    def error(self, alpha: float, beta: float, gamma: float, rho: float) -> float:
        """P[y F(X) < 0] + P[F(X) = 0] / 2.

        Atoms whose features all vanish give F = 0 for every parameter, and do so exactly here. An
        atom whose terms cancel to within float64 rounding has no sign that could be computed: it
        counts as a tie as well.

        Parameters
        ----------
        alpha, beta, gamma, rho : float (as in :meth:`loss`, and so the errors)
        """
        weights, _ = self.weights_and_slopes(alpha, beta, gamma, rho)
        wrong = 0.0
        for phi, p, F in self._blocks(weights):
            tie = np.abs(F) <= _TIE * (np.abs(weights) @ np.abs(phi))
            wrong += float(p @ np.where(tie, 0.5, F < 0))
        return wrong

    def predictions(self, alpha: float, beta: float, gamma: float, rho: float):
        """(y F, probability): the law of y F(X), both of shape (n,).

        Parameters
        ----------
        alpha, beta, gamma, rho : float (as in :meth:`loss`, and so the errors)
        """
        weights, _ = self.weights_and_slopes(alpha, beta, gamma, rho)
        return np.concatenate([F for _, _, F in self._blocks(weights)]), self.probability

    def weights(self, alpha: float, beta: float, gamma: float, rho: float) -> dict:
        """The weight of each feature in y F, by name.

        Parameters
        ----------
        alpha, beta, gamma, rho : float (as in :meth:`loss`, and so the errors)
        """
        return dict(zip(self.names, self.weights_and_slopes(alpha, beta, gamma, rho)[0].tolist()))

    def lost_loss(self, alpha: float, beta: float, gamma: float, rho: float) -> float:
        """A bound on the loss of what was left out: lost_mass (log 2 + max |F|).

        |z_i| <= D |alpha| since rows of the attention sum to 1, so |F| <= D sigma(D |alpha|).

        Parameters
        ----------
        alpha, beta, gamma, rho : float (as in :meth:`loss`, and so the errors)
        """
        self._check(alpha, beta, gamma, rho)
        z = self.num_patches * abs(alpha)
        return self.lost_mass * (math.log(2) + self.num_patches * (z**self.degree + self.linear * z))

    def _blocks(self, weights):
        """Yield (features (features, m), probability (m,), y F (m,)) for all atoms, a block at a time.

        Blocks fit in a core's cache, and are so small that BLAS works on them with one thread: more
        threads would mostly wait for one another, for milliseconds on a busy machine.
        """
        m = _BLOCK // len(weights)
        for start in range(0, self.probability.size, m):
            phi = self.support[:, start : start + m]
            yield phi, self.probability[start : start + m], weights @ phi  # (features,) @ (features, m)

    def _check(self, alpha, beta, gamma, rho):
        for name, value in (("alpha", alpha), ("beta", beta), ("gamma", gamma), ("rho", rho)):
            finite(name, value)
        if self.num_patches * abs(alpha) > 1e300 ** (1 / (self.degree + 2)):
            raise ValueError(f"alpha must leave (D alpha)^p finite, got {alpha:g} with p = {self.degree}")

    def weights_and_slopes(self, alpha: float, beta: float, gamma: float, rho: float):
        """The weights in y F (features,) and their derivatives by alpha, gamma and rho (3, features).

        Parameters
        ----------
        alpha, beta, gamma, rho : float (as in :meth:`loss`, and so the errors)
        """
        self._check(alpha, beta, gamma, rho)
        D, C, p = self.num_patches, self.set_size, self.degree
        # A value that no entry takes must not enter: it could dwarf the ones that do.
        gamma = gamma if C > 1 else rho
        rho = rho if C < D else gamma
        top = max(beta, gamma, rho)
        e = [math.exp(x - top) for x in (beta, gamma, rho)]
        Z = e[0] + (C - 1) * e[1] + (D - C) * e[2]
        Gamma = e[1] / Z
        Xi = e[2] / Z
        # Differences of exponentials by expm1: no digits are lost where two scores are close.
        a = _difference(beta, gamma, top) / Z
        b = _difference(gamma, rho, top) / Z
        c = Xi
        A = _powers(a, p)
        B = _powers(b, p)
        K = _powers(c, p)
        z = D * alpha
        scale = z**p
        dscale = D * p * z ** (p - 1)

        w, dw = np.zeros(len(self.names)), np.zeros((3, len(self.names)))
        # dLambda, dGamma, dXi by gamma (f = share of the set) and by rho (h = share of the rest).
        f = (C - 1) * Gamma
        h = (D - C) * Xi
        by_gamma = (-a * f - Gamma, Gamma - b * f, -c * f) if C > 1 else (0.0, 0.0, 0.0)
        by_rho = (-a * h, -b * h - Xi, Xi - c * h) if C < D else (0.0, 0.0, 0.0)
        for m, monomials in enumerate(self._terms.values()):
            for factor, i, j, k in monomials:
                value = factor * A[i] * B[j] * K[k]
                w[m] += value
                da = factor * i * A[i - 1] * B[j] * K[k] if i else 0.0
                db = factor * j * A[i] * B[j - 1] * K[k] if j else 0.0
                dc = factor * k * A[i] * B[j] * K[k - 1] if k else 0.0
                dw[1, m] += da * by_gamma[0] + db * by_gamma[1] + dc * by_gamma[2]
                dw[2, m] += da * by_rho[0] + db * by_rho[1] + dc * by_rho[2]
        dw[0] = dscale * w
        dw[1:] *= scale
        dw[0, 0] += self.linear * D  # the linear part: nu D alpha M, and M = P1 is the first feature
        w *= scale
        w[0] += self.linear * z
        return w, dw

    def __repr__(self) -> str:
        return (
            f"PopulationRisk(num_patches={self.num_patches}, set_size={self.set_size}, q={self.q:g}, "
            f"degree={self.degree}, linear={self.linear:g}: {self.probability.size:,} atoms, "
            f"lost mass {self.lost_mass:.1e})"
        )


def _mean_loss(p: np.ndarray, F: np.ndarray) -> float:
    """sum_n p_n log(1 + exp(-F_n)), accurate for large F too."""
    return float(p @ (np.maximum(-F, 0) + np.log1p(np.exp(-np.abs(F)))))


def _multiply_out(D: int, C: int, p: int):
    """sum_i (a s_i + b n_l + c M)^p as features: {(power of M, power sum): [(factor, i, j, k)]}.

    The monomial a^i b^j c^k brings M^k sum_l n_l^j sum_{patches of l} s^i, and the inner sum is C for
    i = 0, n_l for odd i and r_l for even i >= 2.
    """
    terms = {}
    for k in range(p + 1):
        for i in range(p - k, -1, -1):
            j = p - k - i
            factor = math.factorial(p) // (math.factorial(i) * math.factorial(j) * math.factorial(k))
            if k == p:
                # Only M is left, once for each of the D patches: M^p = M^(p-1) P1.
                feature = (p - 1, "P1")
                factor = factor * D
            elif i == 0:
                feature = (k, f"P{j}")
                factor = factor * C
            else:
                feature = (k, f"P{j + 1}") if i % 2 else (k, f"Q{j}")
            terms.setdefault(feature, []).append((factor, i, j, k))
    prefix = {0: "", 1: "M*"}
    return terms, tuple(prefix.get(k, f"M^{k}*") + sums for k, sums in terms)


def _difference(x: float, y: float, top: float) -> float:
    """exp(x - top) - exp(y - top), to full relative accuracy."""
    if x >= y:
        return -math.exp(x - top) * math.expm1(y - x)
    return math.exp(y - top) * math.expm1(x - y)


def _powers(x: float, p: int):
    return [x**k for k in range(p + 1)]
