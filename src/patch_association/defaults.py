"""The one default setting of the book: functions and sweeps take their defaults from here.

>>> DEFAULT.alpha, DEFAULT.score_rate(num_patches=16)
(0.1, 5.12)
"""

from __future__ import annotations

from dataclasses import dataclass

from patch_association.checks import finite, odd_degree, positive_int


@dataclass(frozen=True)
class ModelSetting:
    """Model (T), its start and its rates; the letters are those of Jelassi et al.

    Attributes
    ----------
    degree, linear : int, float
        p and nu of the activation sigma(x) = x^p + nu x.
    set_size : int
        C.
    diagonal : float
        sigma_A = beta, what the diagonal of A is held at.
    init_std : float
        omega, the standard deviation of a random start.
    rate : float
        eta, the rate of v.
    score_rate_power : int
        k of eta_A = D^k eta, the rate of A: 2, or 0 for the paper's single rate.
    """

    degree: int = 3
    linear: float = 0.01
    set_size: int = 4
    diagonal: float = 1.0
    init_std: float = 0.01
    rate: float = 0.02
    score_rate_power: int = 2

    @property
    def alpha(self) -> float:
        """alpha^(0) = nu^(1 / (p - 1)), the start of v along w* (Parametrization 3.1, case 1)."""
        return initial_alpha(self.degree, self.linear)

    def score_rate(self, num_patches: int, rate: float | None = None) -> float:
        """eta_A, the rate of A, that belongs to ``rate``, by default this setting's.

        Parameters
        ----------
        num_patches : int (D)
        rate : float, at least 0, optional

        Raises
        ------
        ValueError
            If a number is out of range.
        """
        rate = self.rate if rate is None else finite("rate", rate, minimum=0)
        return positive_int("num_patches", num_patches) ** self.score_rate_power * rate


def initial_alpha(degree: int, linear: float) -> float:
    """alpha^(0) = nu^(1 / (p - 1)), the idealized start of Parametrization 3.1.

    Parameters
    ----------
    degree, linear : int, float (p, nu)

    Raises
    ------
    ValueError
        If nu is negative or not finite, or p is not odd and at least 3.
    """
    return finite("linear", linear, minimum=0) ** (1 / (odd_degree(degree) - 1))


DEFAULT = ModelSetting()
