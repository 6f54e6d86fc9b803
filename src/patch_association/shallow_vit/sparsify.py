"""Token sparsification: which tokens S_n of an input remain. The rest is gone from sums and softmax alike."""

from __future__ import annotations

from dataclasses import replace

import torch

from patch_association._streams import Stream, generator
from patch_association._validate import positive_int, probability
from patch_association.shallow_vit.network import Weights, attention_map
from patch_association.shallow_vit.tokens import Tokens

#: What may be removed: tokens that are not label-relevant; those with the larger noise; any.
KINDS = ("irrelevant", "noisy", "random")


def remove(tokens: Tokens, share: float, kind: str = "irrelevant", seed: int = 0) -> Tokens:
    """Remove a share of the tokens of one kind from each input, drawn at random.

    Parameters
    ----------
    tokens : Tokens
        Drawn inputs (tokens that count alike).
    share : float in [0, 1]
        Of the tokens of that kind, rounded to a whole number in each input.
    kind : "irrelevant", "noisy" or "random"
        Tokens that are not label-relevant (confusion tokens are among them); tokens with the larger
        noise; any tokens.
    seed : int

    Raises
    ------
    ValueError
        If nothing would remain of some input, or there are no noisy tokens.
    """
    share = probability("share", share)
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if kind == "noisy" and tokens.noisy is None:
        raise ValueError("tokens must have noisy ones for kind 'noisy', got a law without noisy_share")
    candidates = {
        "irrelevant": lambda: ~tokens.relevant,
        "noisy": lambda: tokens.noisy,
        "random": lambda: torch.ones_like(tokens.relevant),
    }[kind]()
    candidates = candidates & (tokens.share > 0)
    count = torch.round(share * candidates.sum(-1, keepdim=True)).long()
    chance = generator(seed, Stream.REMOVED_TOKENS).random(tuple(tokens.share.shape))
    # The count smallest numbers among the candidates of each input go.
    order = torch.where(candidates, torch.from_numpy(chance), 2.0).argsort(-1).argsort(-1)
    return _keep(tokens, ~(candidates & (order < count)))


def keep_attended(tokens: Tokens, weights: Weights, count: int) -> Tokens:
    """Keep the ``count`` tokens of each input that are attended to most: magnitude-based pruning.

    A token's magnitude is its attention averaged over all queries, as token pruning in practice has it.
    """
    count = positive_int("count", count)
    if count > tokens.num_tokens:
        raise ValueError(f"count must be at most the {tokens.num_tokens} tokens, got {count}")
    if weights.num_trials != 1:
        raise ValueError(f"weights must be those of one trial, got {weights.num_trials}")
    S = attention_map(weights, tokens.X, tokens.share)[0]  # (n, L, L)
    magnitude = (S @ tokens.share[..., None])[..., 0]  # (n, L)
    best = magnitude.topk(count, dim=-1).indices
    kept = torch.zeros_like(tokens.relevant).scatter_(-1, best, True)
    return _keep(tokens, kept)


def _keep(tokens: Tokens, kept) -> Tokens:
    """The kept tokens alone, counting alike; tokens that all inputs lose in equal number leave no gap."""
    kept = kept & (tokens.share > 0)
    remain = kept.sum(-1)
    if not bool((remain > 0).all()):
        raise ValueError("share must leave at least one token of every input")
    # Kept ones first, each in its order; then cut what no input keeps.
    length = int(remain.max())
    order = (~kept).long().argsort(dim=-1, stable=True)[..., :length]
    still = torch.gather(kept, -1, order)
    share = still.to(tokens.share) / remain[..., None].to(tokens.share)

    def pick(values):
        return None if values is None else torch.gather(values.expand(kept.shape), -1, order)

    full = tokens.X.expand(*kept.shape, tokens.X.shape[-1])
    X = torch.gather(full, -2, order[..., None].expand(*order.shape, full.shape[-1]))
    return replace(tokens, X=X, share=share, pattern=pick(tokens.pattern), noisy=pick(tokens.noisy))
