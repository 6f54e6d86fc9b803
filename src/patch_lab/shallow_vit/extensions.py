"""Appendix G: more classes, several heads, a skip connection, sets of patterns; and laws that are mixed.

    F_c(X) = sum_l f_l a_{c,(l)} . relu(W_O u_l),   u_l = [z_{1,l}; ...; z_{H,l}]  or, with a skip connection
    and one head, u_l = z_l + x_l,   z_{h,l} = W_V^h X softmax(X^T W_K^h^T W_Q^h x_l).

Labels are vectors in {-1, +1}^c: c = 2 gives the four classes of G.1, with hinge max(1 - y . F, 0). One head,
one output and no skip connection are model (1). Gradients come from autograd here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn

from patch_association.checks import finite, fits_memory, positive_int, probability
from patch_association.shallow.data import PatternData
from patch_association.shallow.initial import initial_weights
from patch_association.shallow.network import Weights
from patch_association.shallow.population import population
from patch_association.shallow.tokens import Tokens, stack
from patch_association.streams import Stream, generator, random_signs


class ExtendedViT(nn.Module):
    r"""Model (1) with H heads, c outputs and, if asked for, a skip connection.

    Parameters
    ----------
    starts : sequence of Weights
        One a head, each of one trial, with one a for all positions. The first gives a and W_O; with H
        heads W_O has H blocks, that of head h from ``starts[h]``.
    num_outputs : int
        c. Neuron i has a_i / \|a_i\| in {-1, +1}^c; the signs of the outputs after the first are drawn.
    skip : bool
        Add x_l to what the attention returns; needs one head and m_a = d.
    seed : int
        Of those signs.
    """

    def __init__(self, starts, num_outputs: int = 1, skip: bool = False, seed: int = 0):
        super().__init__()
        starts = list(starts)
        if not starts or any(not isinstance(w, Weights) or w.num_trials != 1 for w in starts):
            raise ValueError("starts must be one Weights of one trial for each head")
        if any(w.head.ndim != 2 for w in starts):
            raise ValueError("starts must share one a over positions, got one a position")
        c = positive_int("num_outputs", num_outputs)
        ma, d = starts[0].value.shape[-2:]
        if skip and (len(starts) > 1 or ma != d):
            raise ValueError(
                f"skip must come with one head and m_a = d, got {len(starts)} heads, {ma} and {d}"
            )
        self.skip = bool(skip)
        a = starts[0].head[0]
        fits_memory(f"{c:,} outputs of {len(a):,} neurons", 3 * c * len(a))
        signs = random_signs(generator(seed, Stream.OUTPUT_SIGNS), (c - 1, len(a)))
        more = torch.from_numpy(signs).to(a) * a.abs()
        self.register_buffer("head", torch.cat([a[None], more]))  # (c, m)
        self.output = nn.Parameter(torch.cat([w.output[0] for w in starts], dim=1))  # (m, H ma)
        for name in ("value", "key", "query"):
            stacked = torch.stack([getattr(w, name)[0] for w in starts])
            setattr(self, name, nn.Parameter(stacked))  # (H, ., d)

    def forward(self, X, share):
        """F (n, c) and the attention S (n, H, L, L), key by query."""
        X = X[:, None]  # (n, 1, L, d)
        log_share = share.log()[:, None, :, None]  # (n, 1, L, 1)
        K, Q, V = (X @ W.mT for W in (self.key, self.query, self.value))  # (n, H, L, .)
        S = torch.softmax(K @ Q.mT + log_share, dim=-2)
        Z = S.mT @ V  # (n, H, L, ma)
        U = Z.transpose(1, 2).flatten(2)  # (n, L, H ma): the heads side by side
        if self.skip:
            U = U + X[:, 0]
        heard = torch.relu(U @ self.output.T)  # (n, L, m)
        return torch.einsum("nl,nlm,cm->nc", share, heard, self.head), S


@dataclass(frozen=True)
class ExtendedRun:
    """What :func:`train_extended` recorded: ``steps``, ``loss`` and ``mass`` (T,), ``error`` at the end."""

    steps: np.ndarray
    loss: np.ndarray
    mass: np.ndarray
    error: float


def train_extended(
    model: ExtendedViT, tokens: Tokens, labels, relevant, *, steps: int, rate: float, every: int = 10
) -> ExtendedRun:
    """Full-batch Algorithm 1 for the models of appendix G.

    Parameters
    ----------
    model : ExtendedViT
    tokens : Tokens
        Gives X, share and probability.
    labels : (n, c) tensor of -1, +1
    relevant : (n, L) boolean tensor
        Which tokens are label-relevant.
    steps, rate : int, float
    every : int
        Record every so many steps, and the last. Training stops when every hinge is zero.
    """
    steps = positive_int("steps", steps)
    every = positive_int("every", every)
    rate = finite("rate", rate, minimum=0)
    X = tokens.X.expand(len(tokens), -1, -1)
    share = tokens.share
    p = tokens.probability
    rows = []
    for t in range(steps + 1):
        F, S = model(X, share)
        hinge = (1 - (labels * F).sum(-1)).clamp(min=0)
        loss = (p * hinge).sum()
        done = t == steps or not bool((hinge > 0).any())
        if done or t % every == 0:
            paid = torch.einsum("nhkl,nl->nk", S, share) / S.shape[1]
            rows.append((t, float(loss.detach()), float((p[:, None] * paid * relevant).sum().detach())))
        if done:
            break
        for parameter, slope in zip(model.parameters(), torch.autograd.grad(loss, list(model.parameters()))):
            with torch.no_grad():
                parameter -= rate * slope
    wrong = float((p * ((labels * F) <= 0).any(-1)).sum())
    kept, losses, masses = (np.array(column) for column in zip(*rows))
    return ExtendedRun(kept, losses, masses, wrong)


def pattern_sets(sizes, dim: int, spread: float, seed: int = 0):
    """Appendix G.2: sets of patterns instead of single ones.

    Set k holds ``sizes[k]`` unit vectors at distance ``spread`` from the k-th basis vector, before they
    are normalized. With small ``spread`` vectors of one set have inner products near 1 and those of
    different sets near 0, as the appendix assumes.

    Parameters
    ----------
    sizes : list of int
    dim : int (d, at least the number of sets)
    spread : float, at least 0
    seed : int

    Returns
    -------
    vectors : (sum of sizes, d) tensor
    set_of : (sum of sizes,) integers
        The set of each vector.

    Raises
    ------
    ValueError
        If an argument is out of range, or the vectors do not fit in memory.
    """
    sizes = [positive_int("every one of sizes", size) for size in sizes]
    dim = positive_int("dim", dim, minimum=len(sizes))
    spread = finite("spread", spread, minimum=0)
    fits_memory(f"{sum(sizes):,} patterns of dimension {dim:,}", 3 * sum(sizes) * dim)
    set_of = np.repeat(np.arange(len(sizes)), sizes)
    away = generator(seed, Stream.PATTERN_SETS).standard_normal((len(set_of), dim))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    vectors = np.eye(len(sizes), dim)[set_of] + spread * away
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return torch.from_numpy(vectors), torch.from_numpy(set_of)


#: Networks of appendix G, and model (1) beside them.
APPENDIX_G = ("model (1)", "two heads", "skip connection", "sets of patterns", "four classes")


def train_appendix_g(kind: str, num_neurons: int, rate: float, seed: int, steps: int = 2000) -> ExtendedRun:
    """Train one of :data:`APPENDIX_G` on its population without noise, 20 tokens of six patterns.

    Of the tokens 0.4 are relevant and 0.1 confusing (alpha_* and alpha_#).

    Parameters
    ----------
    kind : str
        "sets of patterns" has five sets of two; "four classes" two outputs, and a relevant pattern each.
    num_neurons, rate, seed, steps
        Of the network, its start and its training.

    Raises
    ------
    ValueError
        For another kind.

    Examples
    --------
    >>> run = train_appendix_g("model (1)", num_neurons=20, rate=0.1, seed=0, steps=100)
    >>> bool(run.mass[-1] > run.mass[0])
    True
    """
    if kind not in APPENDIX_G:
        raise ValueError(f"kind must be one of {', '.join(APPENDIX_G)}, got {kind!r}")
    relevant, confusion = 0.4, 0.1
    law = PatternData(20, relevant, confusion)
    tokens = population(PatternData(20, relevant, confusion, noise=0.0))
    starts = initial_weights(law, [seed, 100 + seed], num_neurons=num_neurons)
    heads = [starts.trial(k) for k in range(2 if kind == "two heads" else 1)]
    labels = tokens.y[:, None]
    if kind == "sets of patterns":
        vectors, set_of = pattern_sets([2] * 5, 10, spread=0.2, seed=seed)
        share = tokens.share[:, set_of] / 2
        tokens = Tokens(vectors[None], tokens.y, share, tokens.probability, set_of[None])
    relevant_tokens = tokens.relevant
    if kind == "four classes":
        share = torch.full((4, 6), confusion / 3).double().fill_diagonal_(relevant)
        share[:, 4:] = (1 - relevant - confusion) / 2
        quarter = torch.full((4,), 0.25).double()
        tokens = Tokens(
            torch.eye(6, 10).double()[None], torch.ones(4).double(), share, quarter, torch.arange(6)[None]
        )
        labels = torch.tensor([[1, 1], [1, -1], [-1, 1], [-1, -1]]).double()
        relevant_tokens = torch.eye(4, 6, dtype=torch.bool)
    model = ExtendedViT(heads, num_outputs=labels.shape[1], skip=kind == "skip connection")
    return train_extended(model, tokens, labels, relevant_tokens, steps=steps, rate=rate, every=50)


def samples_of(law: Tokens, num_samples: int, trials: int) -> tuple[np.ndarray, Tokens]:
    """Samples of a :func:`~patch_association.shallow.population`, as populations with other chances.

    Parameters
    ----------
    law : Tokens (n kinds of input)
    num_samples : int
        Inputs in a sample; the draw's seed, too.
    trials : int (R)

    Returns
    -------
    (R, n) integers
        How often each kind was drawn.
    Tokens
        The samples, stacked, for :func:`~patch_association.shallow.train`.
    """
    drawn = np.random.default_rng(num_samples).multinomial(num_samples, law.probability.numpy(), trials)
    return drawn, stack(replace(law, probability=torch.from_numpy(row / num_samples)) for row in drawn)


def mixture(laws, chances) -> Tokens:
    """Inputs of several populations over the same patterns, the k-th with probability ``chances[k]``.

    Raises
    ------
    ValueError
        If the chances do not fit the laws or do not sum to one, or the laws have different patterns.
    """
    laws = list(laws)
    chances = [probability("every one of chances", chance) for chance in chances]
    if not laws or len(laws) != len(chances) or abs(sum(chances) - 1) > 1e-9:
        raise ValueError(
            f"chances must be one for each of the {len(laws)} laws and sum to one, got {chances}"
        )
    first = laws[0]
    if any(len(law.X) != 1 or law.X.shape != first.X.shape or bool((law.X != first.X).any()) for law in laws):
        raise ValueError("laws must be populations over the same patterns")
    y, share = (torch.cat([getattr(law, name) for law in laws]) for name in ("y", "share"))
    weight = torch.cat([chance * law.probability for law, chance in zip(laws, chances)])
    return Tokens(first.X, y, share, weight, first.pattern)
