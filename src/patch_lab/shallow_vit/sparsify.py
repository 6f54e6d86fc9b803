"""Token sparsification: which tokens S_n of an input remain. The rest is gone from sums and softmax alike."""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from patch_association.checks import finite, made_of, one_of, positive_int, probability
from patch_association.shallow.network import Weights, attention_map, check_inputs
from patch_association.shallow.tokens import Tokens
from patch_association.streams import Stream, generator

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
    made_of("tokens", tokens, "Tokens", "X", "share", "relevant")
    share = probability("share", share)
    one_of("kind", kind, *KINDS)
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
    check_inputs(weights, tokens)
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


def fractions_after(relevant: float, confusion: float, share: float) -> tuple[float, float]:
    """(alpha_*, alpha_#) when a share of all tokens that are not label-relevant has been removed.

    alpha_* becomes alpha_* / R and alpha_# becomes (1 - share) alpha_# / R with R = 1 - share (1 - alpha_*),
    what remains. The margin grows strictly with the share.
    """
    a = probability("relevant", relevant)
    b = probability("confusion", confusion)
    share = probability("share", share)
    if not b < a or a + b > 1 + 1e-12:
        raise ValueError(f"relevant must be above confusion and at most 1 - confusion, got {a} and {b}")
    remains = 1 - share * (1 - a)
    return a / remains, (1 - share) * b / remains


def least_risk_after_random_removal(num_tokens: int, relevant: float, confusion: float, kept: int) -> float:
    """The hinge risk below which no function of the tokens that remain can come, without token noise.

    Every input has the same counts n_1 > n_2, ``kept`` of its L tokens are kept at random, and the label
    stays. Then the least risk is 2 P[n_1' < n_2'] + P[n_1' = n_2'] for the counts (n_1', n_2') that remain,
    which are multivariate hypergeometric; it is 1 - TV of the two classes.
    """
    L, K = positive_int("num_tokens", num_tokens), positive_int("kept", kept)
    if K > L:
        raise ValueError(f"kept must be at most the {L} tokens, got {kept}")
    a, b = (round(probability(name, x) * L) for name, x in (("relevant", relevant), ("confusion", confusion)))
    if not b < a or a + b > L:
        raise ValueError(
            f"relevant must give more tokens than confusion and both at most {L}, got {a} and {b}"
        )
    total = math.comb(L, K)
    risk = 0
    for first in range(min(a, K) + 1):
        for second in range(first, min(b, K - first) + 1):  # the counts at which the majority is lost
            ways = math.comb(a, first) * math.comb(b, second) * math.comb(L - a - b, K - first - second)
            risk += ways * (2 if first < second else 1)
    return risk / total


def attention_received(fractions, own_score: float = 1.0):
    """What one token of each pattern receives at a start whose scores are ``own_score`` for its own pattern.

    Averaged over all queries and divided by the fraction: with c = e^own_score - 1,
    sum_k f_k / (1 + c f_k) + c f_j / (1 + c f_j) for pattern j. It grows with f_j alone: at such a start,
    pruning by attention keeps the patterns that are common, whatever they mean.
    """
    f = torch.as_tensor(fractions, dtype=torch.float64)
    if not bool((f >= 0).all()) or abs(float(f.sum()) - 1) > 1e-9:
        raise ValueError(f"fractions must be at least 0 and sum to one, got {f.tolist()}")
    c = math.expm1(finite("own_score", own_score))
    return (f / (1 + c * f)).sum() + c * f / (1 + c * f)
