"""What a pretrained ViT-Tiny/16 still knows when its attention or its encodings are changed.

Every cell changes one thing and asks for the class of a thousand pictures, the same for all cells. What a
change needs (mean maps, mean tokens, which heads are positional) is estimated on the other half of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from patch_association.images.locality import isotropic, participation_ratio, similarity
from patch_lab.images.dissect import (
    LOGIT_TERMS,
    Edit,
    Inside,
    changed_layer,
    fixed,
    kl,
    neighbor_maps,
    parts_only,
    through,
    without_keys,
)
from patch_lab.images.sweeps.vit_tiny import Subject, deit_encodings, of_vit_tiny, subject
from patch_lab.kit.records.codec import bits

_L = 12
_ALL = list(range(_L))
#: (layer, head), from 0: the three heads that look one patch to the left, to the right and up.
SHIFTS = {(1, 0): (0, -1), (1, 2): (0, 1), (2, 1): (-1, 0)}
_SIDES = ((0, -1), (0, 1), (-1, 0), (1, 0))
SINK_LAYERS = [8, 9, 10, 11]


#: Changes of a layer's attention, and of the encodings.
_LAYER_BY_LAYER = (
    "own", "mean", "uniform", "position-position only", "without position-position", "corners masked",
    "four keys masked",
)  # fmt: skip
_POSITIONS = (
    "shuffled", "random", "zero", "averaged over neighbors", "additive part", "corners replaced",
    "2 components", "4 components", "8 components", "16 components", "of DeiT",
    "of DeiT, 8 components turned", "of DeiT, 16 components turned",
    "cosines, 8 turned", "cosines, 16 turned",
    "a smooth field, 8 components turned", "a smooth field, 16 components turned",
)  # fmt: skip


def _cells() -> tuple[dict, ...]:
    cells = [("own", [], 0)]
    groups = [[*range(k)] for k in (2, 3, 4, 6, 8)] + [[*range(_L - k, _L)] for k in (2, 3, 4, 6, 8)] + [_ALL]
    singles = [[layer] for layer in _ALL]
    cells += [("mean", layers, 0) for layers in groups + singles]
    cells += [("mean, refitted", [*range(k)], 0) for k in (4, 8, _L)]
    cells += [("uniform", layers, 0) for layers in [[0, 1], _ALL[:4], _ALL[-4:], _ALL, *singles]]
    cells += [("position-position only", layers, 0) for layers in [[0, 1], [0, 1, 2], _ALL, *singles]]
    cells += [("without position-position", layers, 0) for layers in [_ALL, *singles]]
    cells += [("P shuffled", [], seed) for seed in range(5)]
    cells += [(f"P {how}", [], 0) for how in _POSITIONS if how not in ("shuffled", "random")]
    cells += [("P random", [], seed) for seed in range(2)]
    hows = ("mean", "shifts", "both sides", "four neighbors", "reversed")
    cells += [(f"shift heads: {how}", [], 0) for how in hows]
    cells += [("corners masked", SINK_LAYERS, 0)]
    cells += [("four keys masked", SINK_LAYERS, seed) for seed in range(3)]
    cells += [(f"{k} most positional heads: mean", [], 0) for k in (3, 6, 9, 12, 18, 24, 30)]
    cells += [("18 random heads: mean", [], seed) for seed in range(3)]
    cells += [("18 least positional heads: mean", [], 0)]
    # The halves of the pictures drawn again.
    cells += [("mean", layers, seed) for seed in (1, 2) for layers in groups + singles]
    return tuple({"change": change, "layers": layers, "seed": seed} for change, layers, seed in cells)


@torch.no_grad()
def intervene(change: str, layers: list[int], seed: int) -> dict:
    """Change one thing and classify the thousand pictures.

    Returns which are right (``right``, :func:`~patch_lab.kit.records.codec.bits`), how often the class
    is that of the unchanged model (``same``), and the mean divergence of the classes' probabilities from the
    unchanged ones (``kl``, nats).
    """
    s = subject()
    logits = torch.empty_like(s.logits)
    if change.startswith("P "):
        changed = tokens_elsewhere(s, change.removeprefix("P "), seed)
        logits = torch.cat([through(s.model, x) for x in changed])
    else:
        split = seed if change == "mean" else 0
        for half in (0, 1):
            edits = edits_of(s, change, layers, seed, split, estimated=1 - half)
            first = min(edits, default=_L)
            chosen = torch.nonzero(s.halves[split] == half).flatten()
            for batch in chosen.split(50):
                if first == _L:
                    logits[batch] = s.logits[batch]
                else:
                    logits[batch] = through(s.model, s.seen[first][batch], edits, first)
    right = logits.argmax(dim=1) == s.labels
    same = (logits.argmax(dim=1) == s.logits.argmax(dim=1)).float().mean()
    divergence = kl(s.logits, logits).mean()
    return {
        "right": bits(right),
        "n": len(right),
        "same": round(float(same), 4),
        "kl": float(f"{divergence:.4g}"),
    }


def edits_of(s: Subject, change: str, layers: list[int], seed: int, split: int, estimated: int) -> dict:
    """The changes by layer, from what was estimated on one half of the pictures."""
    maps = s.maps[split, estimated]
    tokens = maps.shape[-1]
    if change in _LAYER_BY_LAYER:
        return {layer: _edits_of_layer(s, layer, seed, split, estimated)[change] for layer in layers}
    if change == "mean, refitted":
        return _refitted(s, layers, split, estimated)
    if change.startswith("shift heads"):
        chosen = list(SHIFTS)
        how = change.partition(": ")[2]
        maps = maps.clone()
        for (layer, head), (down, right) in SHIFTS.items():
            if how in ("shifts", "reversed"):
                sign = -1 if how == "reversed" else 1
                maps[layer, head] = neighbor_maps(s.grid, (sign * down, sign * right), tokens)
            elif how in ("both sides", "four neighbors"):
                steps = _SIDES if how == "four neighbors" else ((down, right), (-down, -right))
                sides = [neighbor_maps(s.grid, step, tokens) for step in steps]
                maps[layer, head] = torch.stack(sides).mean(dim=0)
    else:
        chosen = _heads(s, change, seed, split, estimated)
    return {
        layer: fixed(maps[layer], [head for at, head in chosen if at == layer])
        for layer in sorted({layer for layer, _ in chosen})
    }


def _edits_of_layer(s: Subject, layer: int, seed: int, split: int, estimated: int) -> dict[str, Edit]:
    """What the changes of :data:`_LAYER_BY_LAYER` make of one layer."""
    maps = s.maps[split, estimated, layer]
    mean = s.means[split, estimated, layer]
    return {
        "own": fixed(maps),  # of no layer
        "mean": fixed(maps),
        "uniform": fixed(torch.full_like(maps, 1 / maps.shape[-1])),
        "position-position only": parts_only(mean, LOGIT_TERMS[:1]),
        "without position-position": parts_only(mean, LOGIT_TERMS[1:]),
        "corners masked": without_keys(corners(s.grid)),
        "four keys masked": without_keys(four_keys(s.grid, seed)),
    }


def _heads(s, change, seed, split, estimated):
    """The heads that a change names: by the share of their attention that is position, on the same half."""
    count = int(change.split()[0])
    kind = change.split()[1]
    share = shares_of_mean(s, split, estimated)
    order = [(layer, head) for layer in range(share.shape[0]) for head in range(share.shape[1])]
    if kind == "random":
        return [order[k] for k in np.random.default_rng(seed).permutation(len(order))[:count]]
    order.sort(key=lambda at: -float(share[at]))
    return order[:count] if kind == "most" else order[-count:]


_SHARES: dict[tuple[int, int], torch.Tensor] = {}


def shares_of_mean(s: Subject, split: int, half: int) -> torch.Tensor:
    """(L, H): how much of the attention beyond uniform the mean map explains, on one half of the pictures."""
    if (split, half) not in _SHARES:
        maps = s.maps[split, half]
        uniform = 1 / maps.shape[-1]
        energy = torch.zeros(maps.shape[:2])
        chosen = torch.nonzero(s.halves[split] == half).flatten()
        for layer, x in enumerate(s.seen):
            for batch in chosen.split(50):
                S = Inside(s.model.blocks[layer], x[batch]).attention()
                energy[layer] += ((S - uniform) ** 2).sum(dim=(0, 2, 3))
        of_mean = ((maps - uniform) ** 2).sum(dim=(-1, -2)) * len(chosen)
        _SHARES[split, half] = of_mean / energy
    return _SHARES[split, half]


def _refitted(s, layers, split, estimated):
    """Mean maps that are estimated layer after layer, each in the network whose earlier layers are fixed."""
    chosen = torch.nonzero(s.halves[split] == estimated).flatten()
    edits = {}
    x = s.seen[layers[0]][chosen]
    for layer in layers:
        block = s.model.blocks[layer]
        sums = [Inside(block, part).attention().sum(dim=0) for part in x.split(50)]
        S = torch.stack(sums).sum(dim=0) / len(x)
        edits[layer] = fixed(S)
        x = torch.cat([changed_layer(block, part, edits[layer]) for part in x.split(50)])
    return edits


def corners(grid: int) -> list[int]:
    """The four corner patches."""
    return [0, grid - 1, grid * (grid - 1), grid * grid - 1]


def four_keys(grid: int, seed: int) -> list[int]:
    """Four patches that are no corners, drawn at random: the control of a change to the corners."""
    inner = [k for k in range(grid * grid) if k not in corners(grid)]
    return np.random.default_rng(seed).choice(inner, 4, replace=False).tolist()


def additive(P: torch.Tensor) -> torch.Tensor:
    """The best fit to encodings (N, d) of a square grid by a vector for the row plus one for the column."""
    grid = round(len(P) ** 0.5)
    table = P.reshape(grid, grid, -1)
    rows = table.mean(dim=1, keepdim=True)
    columns = table.mean(dim=0, keepdim=True)
    return (rows + columns - table.mean(dim=(0, 1), keepdim=True)).reshape(P.shape)


def _blurred(P):
    grid = round(len(P) ** 0.5)
    tokens = len(P)
    near = sum(neighbor_maps(grid, step, tokens) for step in _SIDES) + torch.eye(tokens)
    return near @ P / 5


def _corners_replaced(P):
    """Each corner's row by the mean of its two neighbors'."""
    grid = round(len(P) ** 0.5)
    P = P.clone()
    for corner in corners(grid):
        row, column = divmod(corner, grid)
        down = 1 if row == 0 else -1
        right = 1 if column == 0 else -1
        P[corner] = (P[(row + down) * grid + column] + P[row * grid + column + right]) / 2
    return P


def principal(P: torch.Tensor, k: int) -> torch.Tensor:
    """Encodings with only their first k principal components kept."""
    center = P.mean(dim=0)
    U, S, V = torch.linalg.svd(P - center, full_matrices=False)
    return center + (U[:, :k] * S[:k]) @ V[:k]


def rotated(theirs: torch.Tensor, P: torch.Tensor, k: int) -> torch.Tensor:
    """The first k principal components of other encodings, turned (and scaled once) onto those of P."""
    center = P.mean(dim=0)
    U, S, V = torch.linalg.svd(P - center, full_matrices=False)
    u, s, _ = torch.linalg.svd(theirs - theirs.mean(dim=0), full_matrices=False)
    k = min(k, len(S), len(s))
    ours = U[:, :k] * S[:k]
    other = u[:, :k] * s[:k]
    left, singular, right = torch.linalg.svd(other.T @ ours)
    scale = singular.sum() / (other**2).sum()
    return center + scale * other @ left @ right @ V[:k]


def cosines(P: torch.Tensor, k: int) -> torch.Tensor:
    """Sums that no network learned, (N, k): the first k / 2 cosines of the row, and as many of the column."""
    grid = round(len(P) ** 0.5)
    waves = torch.arange(1, k // 2 + 1) * torch.pi * (torch.arange(grid)[:, None] + 0.5) / grid
    table = torch.cos(waves) / torch.arange(1, k // 2 + 1)  # (grid, k / 2), slow waves larger
    rows = table[:, None].expand(-1, grid, -1)
    columns = table[None].expand(grid, -1, -1)
    return torch.cat([rows, columns], dim=-1).reshape(len(P), -1)  # (grid, grid, k) -> (N, k)


def smooth_field(P: torch.Tensor, generator: np.random.Generator) -> torch.Tensor:
    """A draw of encodings (N, width) that are smooth as those of DeiT and know no rows and columns."""
    grid = round(len(P) ** 0.5)
    A = isotropic(participation_ratio(similarity(deit_encodings())), grid)
    variances, vectors = np.linalg.eigh(A)
    root = vectors * np.sqrt(variances.clip(min=0))  # A = root root^T
    return torch.from_numpy(root @ generator.standard_normal((len(P), P.shape[1]))).float()


_OF_P = {
    "zero": torch.zeros_like,
    "averaged over neighbors": _blurred,
    "additive part": additive,
    "corners replaced": _corners_replaced,
}


def changed_positions(P: torch.Tensor, how: str, seed: int) -> torch.Tensor:
    """Encodings (N, d) of the patches, changed as one of :data:`_POSITIONS` says."""
    generator = np.random.default_rng(seed)
    if how in _OF_P:
        return _OF_P[how](P)
    if how == "shuffled":
        return P[torch.from_numpy(generator.permutation(len(P)))]
    if how == "random":
        return P.mean(0) + P.std(0) * torch.from_numpy(generator.standard_normal(P.shape)).float()
    if how == "of DeiT":
        return deit_encodings()
    source, _, components = how.rpartition(", ")  # "cosines, 8 turned", or "8 components" of P itself
    k = int(components.split()[0])
    return rotated(_encodings_from(source, P, k, generator), P, k) if source else principal(P, k)


def _encodings_from(source: str, P: torch.Tensor, k: int, generator: np.random.Generator) -> torch.Tensor:
    """Encodings that are turned onto those of P: of another network, of none, or drawn."""
    if source == "of DeiT":
        return deit_encodings()
    return cosines(P, k) if source == "cosines" else smooth_field(P, generator)


def tokens_elsewhere(s: Subject, how: str, seed: int) -> Iterator[torch.Tensor]:
    """The tokens that enter the first layer, batch by batch; only P is exchanged for changed encodings."""
    N = s.model.config.num_patches
    P = s.model.positions[0, :N]
    difference = torch.zeros_like(s.model.positions[0])
    difference[:N] = changed_positions(P, how, seed) - P
    for batch in s.batches():
        yield s.seen[0][batch] + difference


SWEEPS = (
    of_vit_tiny(
        "vit_interventions",
        "A pretrained ViT-Tiny/16 with fixed attention or other encodings, on 1,000 pictures.",
        _cells(),
        intervene,
        dict(pictures=1000, threads=1),
        grows=True,
    ),
)
