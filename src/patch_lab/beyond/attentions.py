"""Five kinds of attention on one bench: the readout of (T), one value vector, Adam, fresh inputs.

Many seeds are trained at a time: parameters have a leading axis, inputs are drawn for all seeds together,
and as the loss is a sum over seeds and Adam works entry by entry, no seed feels another.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from patch_association.checks import finite, fits_memory, one_of, positive_int, seed_number
from patch_association.defaults import DEFAULT
from patch_association.model import polynomial_activation
from patch_lab.kit.seeds import BENCH_BATCHES, BENCH_TEST

#: What the scores of patch i for patch j are made of, off the diagonal.
KINDS = {
    "identity": "none: each patch attends to itself",
    "uniform": "none: all patches count alike",
    "positional": "$A_{ij}$",
    "content": "$\\mathbf x_i^\\top \\mathbf B\\, \\mathbf x_j$",
    "both": "$A_{ij} + \\mathbf x_i^\\top \\mathbf B\\, \\mathbf x_j$",
}


#: Test inputs on which attention is read, and how many of them at once.
_LOOKED_AT = 200
_AT_ONCE = 20


class Bench(nn.Module):
    """F(X) = sum_i sigma(D sum_j S_ij <v, X_j>), S = softmax of scores that see places, contents or both.

    sigma and the fixed score of a patch for itself are those of the default setting.

    Parameters
    ----------
    kind : str
        A key of :data:`KINDS`.
    seeds : int
        R, how many networks.
    num_patches, dim : int
        D and d.
    score_std, value_std, form_std : float
        A, v and B start as independent normals of these standard deviations.
    seed : int
        Of the starts.

    Attributes
    ----------
    scores : (R, D, D) parameter
        A, "positional" and "both"; its diagonal is not used.
    form : (R, d, d) parameter
        B, "content" and "both".
    value : (R, d) parameter
        v.
    """

    def __init__(
        self,
        kind: str,
        seeds: int,
        num_patches: int,
        dim: int,
        *,
        score_std: float = DEFAULT.init_std,
        value_std: float = DEFAULT.init_std,
        form_std: float = 0.02,
        seed: int = 0,
    ):
        super().__init__()
        one_of("kind", kind, *KINDS)
        self.kind = kind
        R = positive_int("seeds", seeds)
        D = positive_int("num_patches", num_patches)
        d = positive_int("dim", dim)
        draw = torch.Generator().manual_seed(seed_number("seed", seed))
        score_std = finite("score_std", score_std, minimum=0)
        value_std = finite("value_std", value_std, minimum=0)
        form_std = finite("form_std", form_std, minimum=0)
        # Each drawn, and scaled once more where the kind has it.
        fits_memory(f"{R:,} networks of {D:,} patches of dimension {d:,}", 2 * R * (d + D**2 + d**2), 4)
        v, A, B = (torch.randn(shape, generator=draw) for shape in ((R, d), (R, D, D), (R, d, d)))
        self.value = nn.Parameter(value_std * v)
        self.scores = nn.Parameter(score_std * A) if kind in ("positional", "both") else None
        self.form = nn.Parameter(form_std * B) if kind in ("content", "both") else None
        self.num_patches = D
        self.seeds = R

    def attention(self, X: torch.Tensor) -> torch.Tensor:
        """S for inputs X (R, n, D, d): shape (R, n, D, D), where (R, 1, D, D) says that inputs share it."""
        D, R = self.num_patches, self.seeds
        on_diagonal = torch.eye(D, dtype=torch.bool)
        if self.kind in ("identity", "uniform"):
            S = on_diagonal.to(X) if self.kind == "identity" else torch.full((D, D), 1 / D).to(X)
            return S.expand(R, 1, D, D)
        total = torch.zeros(())
        if self.scores is not None:
            total = total + self.scores[:, None]  # (R, 1, D, D)
        if self.form is not None:
            total = total + (X @ self.form[:, None]) @ X.transpose(-1, -2)  # (R, n, D, d) -> (R, n, D, D)
        return torch.softmax(total.masked_fill(on_diagonal, DEFAULT.diagonal), dim=-1)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """F for inputs X (R, n, D, d), shape (R, n)."""
        u = torch.einsum("rnjd,rd->rnj", X, self.value)
        S = self.attention(X)
        shared = S.shape[1] == 1  # one matrix for all inputs of a seed: (R, n, D) @ (R, D, D)
        z = u @ S[:, 0].transpose(-1, -2) if shared else (S @ u[..., None])[..., 0]  # (R, n, D)
        return polynomial_activation(self.num_patches * z, DEFAULT.degree, DEFAULT.linear).sum(dim=-1)


@dataclass(frozen=True)
class BenchRun:
    """What came of a training.

    Attributes
    ----------
    steps : list of int
    errors : (points, R) tensor
        On test inputs, at those steps.
    share : (R, relations) tensor
        Of all attention at the end, what goes to patches of each of the data's relations.
    bench : Bench
    """

    steps: list[int]
    errors: torch.Tensor
    share: torch.Tensor
    bench: Bench


def follow_bench(
    data,
    kind: str,
    *,
    seeds: int,
    steps: int,
    batch: int = 128,
    rate: float = 0.02,
    clip: float = 5.0,
    points: int = 4,
    n_test: int = 4000,
    seed: int = 0,
    **start,
) -> BenchRun:
    """Train ``seeds`` networks of a kind on the logistic loss, each on inputs of its own.

    Adam with a rate that falls to zero along a cosine; each seed's gradient is clipped to the norm ``clip``.

    Parameters
    ----------
    data : CrossedData or RarePatterns
        What has ``draw(n, seed)``, ``relations``, ``relation(shown)``, ``num_patches`` and ``dim``.
    points : int
        How often the error is taken, at equal distances, the last time at the end.
    **start
        Of :class:`Bench`.
    """
    R = positive_int("seeds", seeds)
    batch = positive_int("batch", batch)
    bench = Bench(kind, R, data.num_patches, data.dim, seed=seed, **start)
    test = data.draw(n_test, seed=BENCH_TEST)
    taken: list[int] = []
    errors: list[torch.Tensor] = []
    for step in train_together(
        bench, data.draw, steps=steps, batch=batch, rate=rate, clip=clip, points=points, seed=seed
    ):
        taken.append(step)
        errors.append(error_of_each(bench, test.X, test.y))
    return BenchRun(taken, torch.stack(errors), attention_share(bench, data), bench)


def train_together(
    network,
    draw,
    *,
    steps: int,
    batch: int,
    rate: float,
    score_rate: float | None = None,
    clip: float = 5.0,
    points: int = 1,
    seed: int = 0,
) -> Iterator[int]:
    """Train R networks in place on the logistic loss; stops at ``points`` steps, yielding each.

    By Adam, whose rate falls to zero along a cosine, gradients clipped. Every seed gets inputs of its own,
    fresh in every step.

    Parameters
    ----------
    network : module with ``seeds``
        Inputs (R, n, D, d) to outputs (R, n).
    draw : callable
        ``draw(n, seed=)`` -> an object with X and y, or the pair.
    score_rate : float, optional
        The rate of the parameters called ``scores``. With it, plain gradient descent in place of Adam: both
        rates constant, nothing clipped.
    """
    R = network.seeds
    steps = positive_int("steps", steps)
    points = positive_int("points", points)
    if score_rate is None:
        optimizer: torch.optim.Optimizer = torch.optim.Adam(
            network.parameters(), lr=finite("rate", rate, minimum=0)
        )
    else:
        scores = finite("score_rate", score_rate, minimum=0)
        groups = [
            {"params": [part], "lr": scores if name == "scores" else rate}
            for name, part in network.named_parameters()
        ]
        optimizer = torch.optim.SGD(groups, lr=finite("rate", rate, minimum=0))
    marks = {round(steps * k / points) for k in range(1, points + 1)}
    for step in range(1, steps + 1):
        if score_rate is None:
            optimizer.param_groups[0]["lr"] = rate * (1 + math.cos(math.pi * (step - 1) / steps)) / 2
        drawn = draw(R * batch, seed=BENCH_BATCHES + seed * 1_000_000 + step)
        X, y = drawn if isinstance(drawn, tuple) else (drawn.X, drawn.y)
        # (R n, D, d) -> (R, n, D, d)
        margin = y.reshape(R, batch) * network(X.reshape(R, batch, *X.shape[1:]))
        optimizer.zero_grad(set_to_none=True)
        F.softplus(-margin).mean(dim=1).sum().backward()
        if score_rate is None:
            clip_each(network.parameters(), clip)
        optimizer.step()
        if step in marks:
            yield step


def clip_each(parameters, clip: float) -> None:
    """Clip the gradients of every seed (the leading axis) to the norm ``clip``."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    squares = torch.stack([g.flatten(1).square().sum(dim=1) for g in gradients]).sum(dim=0)  # (R,)
    factor = (clip / squares.sqrt().clamp_min(1e-12)).clamp(max=1.0)
    for g in gradients:
        g.mul_(factor.reshape(-1, *[1] * (g.ndim - 1)))


@torch.no_grad()
def error_of_each(network, X: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """(R,) the share of test inputs with y F(X) < 0, outputs of exactly zero counted by half."""
    wrong = []
    for inputs, labels in zip(X.split(250), y.split(250)):
        margin = labels * network(inputs.expand(network.seeds, *inputs.shape))  # (R, part)
        wrong.append((margin < 0).double() + (margin == 0).double() / 2)
    return torch.cat(wrong, dim=1).mean(dim=1)


@torch.no_grad()
def attention_share(bench: Bench, data) -> torch.Tensor:
    """(R, relations) what share of all attention goes to patches of each relation, over test inputs."""
    drawn = data.draw(_LOOKED_AT, seed=BENCH_TEST)
    kinds = range(len(data.relations))
    total = torch.zeros(bench.seeds, len(kinds))
    for X, shown in zip(drawn.X.split(_AT_ONCE), drawn.shown.split(_AT_ONCE)):
        relation = data.relation(shown)  # (part, D, D)
        S = bench.attention(X.expand(bench.seeds, *X.shape))  # (R, part or 1, D, D)
        shares = [(S * (relation == k).to(S)).sum(dim=(1, 2, 3)) for k in kinds]  # (R,) each
        total += torch.stack(shares, dim=1)
    return total / (_LOOKED_AT * data.num_patches)


@torch.no_grad()
def gathered(bench: Bench, data) -> dict[str, torch.Tensor]:
    """How much attention one single set, one group, one key gets: means over rows of test inputs.

    Returns
    -------
    dict
        ``set``, ``group``, ``key``: (R,) the share of attention that goes to the set (group, key) that gets
        most of it, be it the own or another. ``own``: (R,) how often that set is the own.
    """
    drawn = data.draw(_LOOKED_AT, seed=BENCH_TEST)
    G = data.num_groups
    K = data.num_keys
    sizes = {"set": G * K, "group": G, "key": K}
    total = {name: torch.zeros(bench.seeds) for name in (*sizes, "own")}
    for X, keys in zip(drawn.X.split(_AT_ONCE), drawn.shown.split(_AT_ONCE)):
        S = bench.attention(X.expand(bench.seeds, *X.shape))  # (R, part or 1, D, D)
        groups = torch.from_numpy(data.groups).expand_as(keys)
        for name, labels in (("set", groups * K + keys), ("group", groups), ("key", keys)):
            mass = S @ F.one_hot(labels, sizes[name]).to(S)  # (R, part, D, D) @ (part, D, m)
            best = mass.max(dim=-1)  # (R, part, D)
            total[name] += best.values.mean(dim=2).sum(dim=1)
            if name == "set":
                total["own"] += (best.indices == labels).float().mean(dim=2).sum(dim=1)
    return {name: value / _LOOKED_AT for name, value in total.items()}
