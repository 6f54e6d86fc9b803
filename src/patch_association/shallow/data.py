"""The data of section 3.2: tokens that show a pattern, a label by majority vote.

Of M patterns mu_1, ..., mu_M two are discriminative. An input whose tokens show mu_1 more often than
mu_2 has the label +1, one that shows mu_2 more often -1. The tokens of the winning pattern are
label-relevant (their mean fraction is alpha_*), those of the losing one are confusion tokens (alpha_#);
all others show a non-discriminative pattern. Every token is its pattern plus noise.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from patch_association.checks import finite, fits_memory, one_of, positive_int, probability
from patch_association.shallow.tokens import Tokens, alike
from patch_association.streams import Stream, generator, random_signs


class PatternData:
    """Inputs of L tokens, each a noisy version of one of M patterns.

    Parameters
    ----------
    num_tokens : int
        L.
    relevant, confusion : float
        With fixed counts the fractions alpha_* > alpha_# themselves. With multinomial counts the
        chances that a token shows the pattern of its input's class and that of the other class; the
        label is the majority, so the mean fractions differ a little
        (:func:`~patch_association.shallow.population.mean_fractions`).
    num_patterns : int
        M, more than 2.
    dim : int
        d, at least M.
    noise : float
        c_0, the standard deviation of each coordinate of Gaussian noise; or the radius tau of a ball.
    noise_kind : "gaussian" or "ball"
        N(0, c_0^2 I), which has no bound, as in the paper's experiments; or uniform in a ball of radius
        tau < kappa / 4, as in its theory, with kappa the least distance of two patterns.
    counts : "fixed" or "multinomial"
        Every input of a class has the same counts (the paper's experiments); or tokens are
        independent draws.
    shuffled : bool
        Where tokens stand: in random order, or pattern by pattern. Only a network with an a_(l) a
        position can tell.
    ties : "redraw" or "coin"
        What becomes of multinomial counts without a majority: drawn again, or a random label.
    noisy_share, noisy_std : float
        A share of the tokens of each input, drawn at random, gets further Gaussian noise.
    patterns : (M, d) array, optional
        The patterns as rows; by default the first M basis vectors.

    Raises
    ------
    ValueError
        On arguments that do not fit: counts that are no integers, no majority, patterns that are
        closer than the noise allows.
    """

    def __init__(
        self,
        num_tokens: int,
        relevant: float,
        confusion: float,
        *,
        num_patterns: int = 5,
        dim: int = 10,
        noise: float = 0.01,
        noise_kind: str = "gaussian",
        counts: str = "fixed",
        shuffled: bool = True,
        ties: str = "redraw",
        noisy_share: float = 0.0,
        noisy_std: float = 0.0,
        patterns=None,
    ):
        self.num_tokens = positive_int("num_tokens", num_tokens)
        self.num_patterns = positive_int("num_patterns", num_patterns, minimum=3)
        self.dim = positive_int("dim", dim)
        self.relevant = probability("relevant", relevant)
        self.confusion = probability("confusion", confusion)
        if not self.confusion < self.relevant:
            raise ValueError(f"relevant must be larger than confusion = {confusion}, got {relevant}")
        if self.relevant + self.confusion > 1 + 1e-12:
            raise ValueError(
                f"relevant must be at most 1 - confusion = {1 - self.confusion:g}, got {relevant}"
            )
        self.counts = one_of("counts", counts, "fixed", "multinomial")
        self.ties = one_of("ties", ties, "redraw", "coin")
        self.noise_kind = one_of("noise_kind", noise_kind, "gaussian", "ball")
        self.noise = finite("noise", noise, minimum=0)
        self.noisy_share = probability("noisy_share", noisy_share)
        self.noisy_std = finite("noisy_std", noisy_std, minimum=0)
        self.shuffled = bool(shuffled)
        self.patterns = _patterns(patterns, self.num_patterns, self.dim)
        if self.noise_kind == "ball" and not self.noise < self.pattern_distance / 4:
            raise ValueError(
                f"noise must be below a quarter of the least distance of two patterns, "
                f"{self.pattern_distance / 4:.6g}, got {noise}"
            )
        if self.counts == "fixed":
            self.class_counts()  # refuses fractions that are no counts

    @property
    def pattern_distance(self) -> float:
        """kappa, the least distance of two patterns."""
        return float(torch.nn.functional.pdist(self.patterns).min())

    def class_counts(self) -> np.ndarray:
        """(2, M) fixed counts n_j of the classes +1 and -1.

        What is left after relevant and confusion tokens is dealt out evenly to the other patterns, the
        first of them getting one more where it does not come out even.

        Raises
        ------
        ValueError
            If a fraction of the tokens is no whole number, or the relevant ones are no majority.
        """
        L, M = self.num_tokens, self.num_patterns
        n = [_count(name, getattr(self, name), L) for name in ("relevant", "confusion")]
        if not n[1] < n[0]:
            raise ValueError(f"relevant must give more tokens than confusion, got {n[0]} and {n[1]} of {L}")
        rest = L - sum(n)
        others = np.full(M - 2, rest // (M - 2))
        others[: rest % (M - 2)] += 1
        return np.array([[n[0], n[1], *others], [n[1], n[0], *others]], dtype=np.int64)

    def chances(self) -> np.ndarray:
        """(2, M) how a token of the class +1 or -1 is drawn when counts are multinomial."""
        others = [(1 - self.relevant - self.confusion) / (self.num_patterns - 2)] * (self.num_patterns - 2)
        rows = [[self.relevant, self.confusion, *others], [self.confusion, self.relevant, *others]]
        p = np.array(rows).clip(min=0)
        return p / p.sum(axis=1, keepdims=True)

    def sample(self, n: int, seed: int = 0, dtype=torch.float64, device=None) -> Tokens:
        """Draw n labelled inputs; see :class:`~patch_association.shallow.tokens.Tokens`.

        Parameters
        ----------
        n, seed : int
        dtype, device : of the tensors; the draws themselves are in float64

        Raises
        ------
        ValueError
            If ``n`` or ``seed`` is out of range, or the inputs do not fit in memory.
        """
        n = positive_int("n", n)
        draw = generator(seed, Stream.TOKENS)
        L, M, d = self.num_tokens, self.num_patterns, self.dim
        fits_memory(f"{n:,} inputs of {L:,} tokens", n * (2 * L * d + 2 * M))
        counts, y = self._draw_counts(n, draw)
        pattern = np.repeat(np.tile(np.arange(M), n), counts.ravel()).reshape(n, L)
        if self.shuffled:
            pattern = draw.permuted(pattern, axis=1)
        noise = draw.standard_normal((n, L, d))
        if self.noise_kind == "ball":  # uniform: a direction times a radius with density r^(d-1)
            noise /= np.linalg.norm(noise, axis=2, keepdims=True)
            noise *= draw.random((n, L, 1)) ** (1 / d)
        noise *= self.noise
        noisy = None
        if self.noisy_share:
            order = draw.permuted(np.tile(np.arange(L), (n, 1)), axis=1)
            noisy = order < _count("noisy_share", self.noisy_share, L)
            noise += noisy[..., None] * self.noisy_std * draw.standard_normal((n, L, d))
            noisy = torch.from_numpy(noisy)
        X = torch.from_numpy(noise) + self.patterns[pattern]
        return alike(X, torch.from_numpy(y), torch.from_numpy(pattern), noisy).to(dtype, device)

    def balanced(self, n: int, seed: int = 0, dtype=torch.float64, device=None) -> Tokens:
        """Draw n inputs, n even, half of each label: the balanced sets |D_+| = |D_-| of section 3.2.

        Parameters
        ----------
        n, seed, dtype, device : as in :meth:`sample`

        Raises
        ------
        ValueError
            If n is odd or out of range, or ``seed`` drew too few of one label.
        """
        n = positive_int("n", n, minimum=2)
        if n % 2:
            raise ValueError(f"n must be even for a balanced set, got {n}")
        many = self.sample(4 * n + 64, seed, dtype, device)
        chosen = [torch.nonzero(many.y == sign)[: n // 2, 0] for sign in (1, -1)]
        if min(len(half) for half in chosen) < n // 2:  # below 1e-9 at any n
            raise ValueError(f"seed {seed} drew too few inputs of one label")
        index = torch.stack(chosen, dim=1).flatten()  # alternating: +, -, +, -
        return many.take(index)

    def _draw_counts(self, n, draw):
        """(n, M) integer counts and (n,) labels in {-1, +1}."""
        side = draw.integers(0, 2, n)
        if self.counts == "fixed":
            return self.class_counts()[side], 1.0 - 2.0 * side
        counts = draw.multinomial(self.num_tokens, self.chances()[side])
        while self.ties == "redraw" and (tied := counts[:, 0] == counts[:, 1]).any():
            counts[tied] = draw.multinomial(self.num_tokens, self.chances()[side[tied]])
        y = np.sign(counts[:, 0] - counts[:, 1]).astype(np.float64)
        coin = random_signs(draw, n)
        return counts, np.where(y == 0, coin, y)

    def __repr__(self) -> str:
        return (
            f"PatternData({self.num_tokens}, {self.relevant:g}, {self.confusion:g}, "
            f"num_patterns={self.num_patterns}, dim={self.dim}, noise={self.noise:g}, counts={self.counts!r})"
        )


def _count(name, fraction, total) -> int:
    n = fraction * total
    if abs(n - round(n)) > 1e-9 * max(1, n):
        raise ValueError(f"{name} must be a whole number of {total} tokens, got {fraction} of them: {n:g}")
    return round(n)


def _patterns(patterns, M, d):
    if patterns is None:
        if d < M:
            raise ValueError(f"dim must be at least the number of patterns, {M}, got {d}")
        fits_memory(f"{M:,} patterns of dimension {d:,}", M * d)
        return torch.eye(M, d, dtype=torch.float64)
    rows = torch.as_tensor(np.asarray(patterns, dtype=np.float64))
    if tuple(rows.shape) != (M, d) or not bool(torch.isfinite(rows).all()):
        raise ValueError(
            f"patterns must be finite numbers of shape ({M}, {d}), got shape {tuple(rows.shape)}"
        )
    if not math.isfinite(float(rows.norm())) or not float(torch.nn.functional.pdist(rows).min()) > 0:
        raise ValueError("patterns must differ from each other")
    return rows
