"""What can be said about section 3 in closed form; the proofs stand in the book's part ``shallow_vit``.

Letters: s = alpha_* - alpha_#, the margin of the majority vote; nd = 1 - alpha_* - alpha_#.
"""

from __future__ import annotations

import math

from scipy.integrate import quad
from scipy.optimize import root_scalar
from scipy.special import betainc, log_ndtr, ndtr

from patch_association.checks import finite, positive_int, probability


def attention_ceiling(relevant: float, confusion: float) -> tuple[float, float]:
    """How much attention label-relevant tokens can get with fixed counts, whatever W_K and W_Q are.

    Returns
    -------
    smaller : float
        alpha_* / (alpha_* + alpha_#): no query token can exceed it in both classes.
    mean : float
        The supremum of the mass averaged over queries and classes, which no W_K and W_Q attain. With
        r = alpha_* / alpha_#, t = (r + sqrt(r) + 1) / sqrt(r) and nd = 1 - alpha_* - alpha_# it is
        nd r / (1 + r) + alpha_* r t / (r t + 1) + alpha_# r / (r + t).
    """
    a, b = _fractions(relevant, confusion)
    if b == 0:
        return 1.0, 1.0
    r = a / b
    t = (r + math.sqrt(r) + 1) / math.sqrt(r)
    mean = (1 - a - b) * r / (1 + r) + a * r * t / (r * t + 1) + b * r / (r + t)
    return a / (a + b), mean


def time_to_fit(relevant: float, confusion: float, variant: str, num_patterns: int = 5) -> float:
    """eta T at which gradient flow on the population hinge reaches zero, many neurons, W_O from almost 0.

    "identity": (2 / s) asinh(4 / s). "uniform": (1 / s) asinh(4 / s) + (1 / k) asinh(4 / k), with
    k^2 = (alpha_* + alpha_#)^2 + 2 nd^2 / (M - 2).
    """
    a, b = _fractions(relevant, confusion)
    s = a - b
    if variant == "identity":
        return 2 / s * math.asinh(4 / s)
    if variant == "uniform":
        k = math.sqrt(class_overlap(a, b, num_patterns))
        return math.asinh(4 / s) / s + math.asinh(4 / k) / k
    raise ValueError(f"variant must be 'identity' or 'uniform', got {variant!r}")


def class_overlap(relevant: float, confusion: float, num_patterns: int = 5) -> float:
    """kappa = (alpha_* + alpha_#)^2 + 2 nd^2 / (M - 2): twice |mean class fractions|^2."""
    a, b = _fractions(relevant, confusion)
    M = positive_int("num_patterns", num_patterns, minimum=3)
    return (a + b) ** 2 + 2 * (1 - a - b) ** 2 / (M - 2)


def expected_maximum(n: int) -> float:
    """E max of n independent standard normal variables."""
    n = positive_int("n", n)
    # E max = int_0^inf (1 - Phi^n) - int_-inf^0 Phi^n.
    return quad(lambda x: 1 - ndtr(x) ** n - ndtr(-x) ** n, 0, 40, limit=200, epsabs=1e-13)[0]


def stopping_risk(num_samples: int) -> float:
    """h(N) = E max_(N+1) - E max_N: what a hinge stopped on N noisy inputs leaves, in units of the noise.

    If y F = u (1 + eps g) with g standard normal and u grows until N training inputs all have y F >= 1,
    the risk on a fresh input is eps h(N) + O(eps^2), about eps / (N sqrt(2 log N)).
    """
    n = positive_int("num_samples", num_samples)
    return expected_maximum(n + 1) - expected_maximum(n)


def relative_noise(relevant: float, confusion: float, noise: float, num_tokens: int) -> float:
    """eps = sqrt(2) c_0 / (s sqrt(L)): std of y F over its mean for F linear in mu_1 - mu_2, fixed counts."""
    a, b = _fractions(relevant, confusion)
    noise = finite("noise", noise, minimum=0)
    return math.sqrt(2) * noise / ((a - b) * math.sqrt(positive_int("num_tokens", num_tokens)))


def log10_least_risk(relevant: float, confusion: float, noise: float, num_tokens: int) -> float:
    """log10 of a lower bound on the hinge risk of every function, Gaussian noise and fixed counts.

    The bound is 2 Phi(-sqrt(2 s L) / (2 c_0)): the overlap of two Gaussians at distance sqrt(2 s L), and
    the exact infimum where positions are not shuffled.
    """
    a, b = _fractions(relevant, confusion)
    noise = finite("noise", noise, minimum=1e-300)
    distance = math.sqrt(2 * (a - b) * positive_int("num_tokens", num_tokens))
    return (math.log(2) + float(log_ndtr(-distance / (2 * noise)))) / math.log(10)


def direction_noise(
    relevant: float,
    confusion: float,
    num_tokens: int,
    num_samples: int,
    num_patterns: int = 5,
    balanced: bool = False,
) -> float:
    """|noise|^2 / |signal|^2 of the first step's direction, (1/N) sum_n y_n f_n, multinomial counts.

    The direction is the class difference of the pattern fractions f, here with tokens that are independent
    draws given the label. Its mean has squared norm s^2 / 2; its noise has
    (kappa / 2 [labels drawn, not balanced] + (1 - sum f^2) / L) / N. The ratio is what falls with s^-2 / N.
    """
    a, b = _fractions(relevant, confusion)
    N = positive_int("num_samples", num_samples)
    L = positive_int("num_tokens", num_tokens)
    M = positive_int("num_patterns", num_patterns, minimum=3)
    squares = a**2 + b**2 + (1 - a - b) ** 2 / (M - 2)
    labels = 0.0 if balanced else class_overlap(a, b, M) / 2
    return (labels + (1 - squares) / L) / (N * (a - b) ** 2 / 2)


def samples_for_averages(relevant: float, failure: float = 0.01) -> tuple[float, float]:
    """Between which N the average of fractions in [0, 1] of mean alpha_* comes to lie near alpha_*.

    Returns
    -------
    few : float
        log(1 / failure) / -log(1 - alpha_*): with fewer, fractions that are 0 or 1 have an average of zero
        with a chance above ``failure``.
    enough : float
        12 log(2 / failure) / alpha_*: from here on the average is within alpha_* / 2 of alpha_* with a chance
        of at least 1 - ``failure``, whatever the law.
    """
    mean = probability("relevant", relevant)
    failure = probability("failure", failure)
    if not 0 < mean < 1 or not 0 < failure < 1:
        raise ValueError(f"relevant and failure must be in (0, 1), got {relevant} and {failure}")
    return math.log(1 / failure) / -math.log1p(-mean), 12 * math.log(2 / failure) / mean


def samples_for_rare_kinds(chance: float, failure: float = 0.01) -> float:
    """N after which both of two rare kinds of inputs, each of probability ``chance``, have been seen.

    Solves 1 - P[both seen] = ``failure``, with P[both seen] by inclusion and exclusion.
    """
    chance = probability("chance", chance)
    failure = probability("failure", failure)
    if not 0 < 2 * chance <= 1 or not 0 < failure < 1:
        raise ValueError(f"chance must be in (0, 1/2] and failure in (0, 1), got {chance} and {failure}")

    def missed(n):
        return 2 * (1 - chance) ** n - (1 - 2 * chance) ** n

    most = math.log(2 / failure) / chance
    return root_scalar(lambda n: missed(n) - failure, bracket=(0, most), xtol=1e-9).root


def lucky_share(angle: float, dim: int) -> float:
    """P[the angle of a Gaussian vector in R^dim to a fixed direction is at most ``angle``], exactly."""
    angle = finite("angle", angle, minimum=0)
    dim = positive_int("dim", dim, minimum=2)
    if angle > math.pi / 2:
        raise ValueError(f"angle must be at most pi / 2, got {angle}")
    return 0.5 * float(betainc((dim - 1) / 2, 0.5, math.sin(angle) ** 2))


def lucky_bound(angle: float, num_patterns: int) -> float:
    """Lemma 3's share of lucky neurons without its eps_m: (1 / M) (1 - (sigma + tau) M / pi)."""
    M = positive_int("num_patterns", num_patterns)
    return (1 - finite("angle", angle, minimum=0) * M / math.pi) / M


def _fractions(relevant, confusion):
    a = probability("relevant", relevant)
    b = probability("confusion", confusion)
    if not b < a or a + b > 1 + 1e-12:
        raise ValueError(f"relevant must be above confusion and at most 1 - confusion, got {a} and {b}")
    return a, b
