"""What model (1) is fed: a finite set of labelled inputs, each a set of weighted tokens.

Drawn inputs have L tokens of weight 1/L. A population without token noise is the same thing: an input
with the pattern fractions f is M tokens, one a pattern, of weights f_1, ..., f_M. Attention and the
output of model (1) see tokens through such weights alone, so one piece of code serves both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch

from patch_association.checks import positive_int


@dataclass(frozen=True)
class Tokens:
    """Labelled inputs with weighted tokens.

    Attributes
    ----------
    X : (n, L, d) tensor
        Tokens are rows. In a population n may be 1: all inputs then share the tokens and differ in
        their weights.
    y : (n,) tensor of -1, +1
    share : (n, L) tensor
        What each token counts in its input; every row sums to one. A token of weight 0 is absent.
    probability : (n,) tensor
        What each input counts in a mean; sums to one.
    pattern : (n, L) or (1, L) integer tensor
        Which pattern each token shows, counted from 0: 0 and 1 are the discriminative mu_1 and mu_2.
    noisy : (n, L) boolean tensor, optional
        Which tokens got the larger noise of ``PatternData(noisy_share=...)``.

    Trials with inputs of their own are stacked (:func:`stack`): a leading axis of R everywhere.
    """

    X: torch.Tensor
    y: torch.Tensor
    share: torch.Tensor
    probability: torch.Tensor
    pattern: torch.Tensor
    noisy: torch.Tensor | None = None

    def __len__(self) -> int:
        return self.y.shape[-1]

    @property
    def num_tokens(self) -> int:
        return self.X.shape[-2]

    @property
    def relevant(self) -> torch.Tensor:
        """(n, L) which tokens are label-relevant: mu_1 where y = +1, mu_2 where y = -1."""
        return self.pattern == (self.y < 0).long()[..., None]

    @property
    def confusion(self) -> torch.Tensor:
        """(n, L) which tokens are confusion tokens: the discriminative pattern of the other class."""
        return self.pattern == (self.y > 0).long()[..., None]

    def to(self, dtype=None, device=None) -> Tokens:
        """The same inputs in another type or on another device."""
        names = ("X", "y", "share", "probability")
        moved = {name: getattr(self, name).to(device=device, dtype=dtype) for name in names}
        noisy = None if self.noisy is None else self.noisy.to(device=device)
        return replace(self, **moved, pattern=self.pattern.to(device=device), noisy=noisy)

    def trial(self, r: int) -> Tokens:
        """The inputs of trial r alone, still with an axis of trials; shared inputs as they are."""
        if self.y.ndim == 1:
            return self
        names = ("X", "y", "share", "probability", "pattern", "noisy")

        def cut(values):
            return values if values is None or len(values) == 1 else values[r : r + 1]

        return replace(self, **{name: cut(getattr(self, name)) for name in names})

    def chunks(self, size: int) -> Iterator[Tokens]:
        """These inputs in parts of at most ``size``, each counting what it counts here.

        Raises
        ------
        ValueError
            If ``size`` is no positive integer.
        """
        names = ("X", "y", "share", "probability", "pattern", "noisy")
        axis = self.y.ndim - 1

        def cut(values, start):
            if values is None or values.shape[axis] == 1 < len(self):
                return values
            return values.narrow(axis, start, min(size, len(self) - start))

        for start in range(0, len(self), positive_int("size", size)):
            yield replace(self, **{name: cut(getattr(self, name), start) for name in names})

    def take(self, index) -> Tokens:
        """The inputs of these indices, all counting alike.

        ``index`` has shape (k,); stacked trials take (R, k), k inputs for each.

        Raises
        ------
        ValueError
            If there are no indices.
        """
        index = torch.as_tensor(index, device=self.y.device)
        k = positive_int("the number of indices", index.shape[-1] if index.ndim else 0)
        where = (index,) if index.ndim == 1 else (torch.arange(len(index))[:, None], index)
        axis = index.ndim - 1

        def pick(values):
            return values if values is None or values.shape[axis] == 1 < len(self) else values[where]

        even = torch.full(index.shape, 1 / k, dtype=self.y.dtype, device=self.y.device)
        return Tokens(
            pick(self.X), self.y[where], self.share[where], even, pick(self.pattern), pick(self.noisy)
        )


def alike(X, y, pattern, noisy=None) -> Tokens:
    """Inputs that count alike, whose L tokens count alike."""
    n, L = pattern.shape
    share = torch.full((n, L), 1 / L, dtype=X.dtype)
    return Tokens(X, y, share, torch.full((n,), 1 / n, dtype=X.dtype), pattern, noisy)


def stack(trials) -> Tokens:
    """Inputs of several trials, one set a trial: every field gets a leading axis of R trials.

    Raises
    ------
    ValueError
        If there are none, or their sizes differ.
    """
    trials = list(trials)
    if not trials or len({(len(t), t.num_tokens) for t in trials}) > 1:
        raise ValueError("trials must be one or more sets of inputs of one size")
    names = ("X", "y", "share", "probability", "pattern")
    noisy = None if trials[0].noisy is None else torch.stack([t.noisy for t in trials])
    return Tokens(**{name: torch.stack([getattr(t, name) for t in trials]) for name in names}, noisy=noisy)
