"""What one picture without content says of a pretrained ViT-Tiny/16, and what makes its corners sinks.

Predicted before the first run. Gray: how sharp a head's attention is on a gray picture ranks the 36 heads
as their positional share over the pictures does, Spearman above 0.7 and above that of most single pictures;
five or more of the first six are the same; the gray map explains 0.8 or more of the three shift heads, of
every head less than the mean map, another head's or a turned one's less than nothing. Sinks: one channel
holds nine tenths of the corners' squared length in layer 12, the same in both halves; overwritten at layer 9
it costs ten points and half of layer 11's share to the corners, every control less than a third of that;
written into four other tokens it makes sinks of them.
"""

from __future__ import annotations

import copy
from functools import lru_cache

import numpy as np
import torch
from scipy.stats import spearmanr

from patch_association.images.vit import ViT
from patch_lab.images.dissect import Inside, normalized, start, through
from patch_lab.images.picture_intervals import (
    mean_over_pictures,
    ratio_over_pictures,
    resampled_interval,
    times_drawn,
)
from patch_lab.images.sweeps.vit_interventions import corners, four_keys
from patch_lab.images.sweeps.vit_tiny import Subject, of_vit_tiny, subject
from patch_lab.kit.records import rounded
from patch_lab.kit.records.codec import bits

#: Gray after normalization: black, ..., white. At 0 a patch is the embedding's bias: no picture at all.
LEVELS = (-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0)
_GROUPS = 20
_RESAMPLES = 1000
_FIRST = 8  # the layer, from 0, that gets other corners


@torch.no_grad()
def measure(what: str, change: str, seed: int) -> dict:
    """One measurement of the network: ``gray``, ``channels``, or the ``corners`` with a channel changed."""
    if what == "corners":
        return overwrite(subject(), change, seed)
    return {"gray": gray, "channels": channels}[what](subject())


def gray_maps(model: ViT, pictures: torch.Tensor) -> torch.Tensor:
    """(L, H, N, N): attention between patches, the mean over normalized pictures."""
    seen: list[torch.Tensor] = []
    through(model, start(model, pictures), seen=seen)
    return torch.stack([_between(model, k, x).mean(dim=0) for k, x in enumerate(seen)])


def _between(model: ViT, layer: int, x: torch.Tensor) -> torch.Tensor:
    """(B, H, N, N): the attention of a layer between patches."""
    N = model.config.num_patches
    return Inside(model.blocks[layer], x).attention()[..., :N, :N]


def sharpness(maps: torch.Tensor) -> torch.Tensor:
    """(...) squared deviation of maps (..., N, N) from uniform, row by row."""
    return ((maps - maps.mean(dim=-1, keepdim=True)) ** 2).sum(dim=(-1, -2))


def _turned(model: ViT, seed: int) -> ViT:
    """The same network; what its queries and keys see is turned at random, layer by layer."""
    other = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(seed)
    for block in other.blocks:
        weight = block.attention.query_key.weight
        width = weight.shape[1]
        weight.copy_(weight @ torch.linalg.qr(torch.randn(width, width, generator=generator))[0])
    return other


def _maps(s: Subject) -> dict[str, torch.Tensor]:
    """(L, H, N, N) maps of pictures without content, of a few, and of other networks, by name."""
    model = s.model
    c = s.model.config
    generator = np.random.default_rng(0)
    blank = torch.ones(1, 3, c.image_size, c.image_size)
    maps = {f"gray {level}": gray_maps(model, level * blank) for level in LEVELS}
    color = normalized(s.images.float().mean(dim=(0, 2, 3)))
    maps["mean color"] = gray_maps(model, color[None, :, None, None] * blank)
    for k in range(5):
        noise = torch.from_numpy(generator.uniform(-1, 1, blank.shape)).float()
        ten = normalized(s.images[torch.from_numpy(generator.choice(len(s.labels), 10, replace=False))])
        maps[f"noise, {k}"] = gray_maps(model, noise)
        maps[f"one picture, {k}"] = gray_maps(model, ten[:1])
        maps[f"ten pictures, {k}"] = gray_maps(model, ten)
    for k in range(3):
        maps[f"turned, {k}"] = gray_maps(_turned(model, k), 0 * blank)
    maps["random weights"] = gray_maps(ViT(c, seed=0).requires_grad_(False), 0 * blank)
    # P, the class token, W_Q and W_K alone make the first layer's map; the others are left at zero.
    tokens = model.positions[0].clone()
    tokens[c.num_patches :] += model.class_token
    maps["P alone"] = torch.zeros_like(maps["mean color"])
    maps["P alone"][0] = _between(model, 0, tokens[None])[0]
    return maps


def grouped(halves) -> torch.Tensor:
    """(n,) the group of each picture, as many in each; groups of even number are of half 0."""
    half = halves.long()
    place = torch.where(half == 1, half.cumsum(0), (1 - half).cumsum(0)) - 1  # of a picture in its half
    return half + 2 * (place * (_GROUPS // 2) // (len(half) // 2))


def gray(s: Subject) -> dict:
    """What maps that saw no picture, or one, explain of the attention on all of them.

    ``share`` has for each kind of maps (L, H) shares of the attention between patches, beyond uniform, with
    95% intervals over groups of pictures; of maps drawn several times the mean over draws. The mean map is
    the other half's; ``other head`` the mean over the gray maps of all other heads. ``rank``: :func:`_ranks`.
    """
    model = s.model
    n = len(s.labels)
    L = model.config.depth
    H = model.config.heads
    N = model.config.num_patches
    group = grouped(s.halves[0])
    counts = torch.bincount(group, minlength=_GROUPS).double()[:, None]
    maps: dict = _maps(s) | {"mean map": None}
    candidates = maps["gray 0.0"].reshape(L * H, N * N).double()
    energy = torch.zeros(n, L, H, dtype=torch.float64)
    rest = {name: torch.zeros(_GROUPS, L, H, dtype=torch.float64) for name in maps}
    by_others = torch.zeros(_GROUPS, L, H, L * H, dtype=torch.float64)
    for layer, x in enumerate(s.seen):
        sums = torch.zeros(_GROUPS, H, N * N)
        square = torch.zeros(_GROUPS, H, dtype=torch.float64)
        for batch in s.batches():
            S = _between(model, layer, x[batch])
            energy[batch, layer] = sharpness(S).double()
            sums.index_add_(0, group[batch], S.flatten(2))
            square.index_add_(0, group[batch], (S**2).sum(dim=(-1, -2)).double())
        for name, M in maps.items():  # |S - M|^2 of a group from its sums, M (H, N N) or one for each group
            at = s.maps[0, [1, 0], layer][..., :N, :N] if M is None else M[layer]
            at = (at.repeat(_GROUPS // 2, 1, 1, 1) if M is None else at).flatten(-2).double()
            rest[name][:, layer] = square - 2 * (sums * at).sum(-1) + counts * (at**2).sum(-1)
        inner = sums.double() @ candidates.T
        length = (candidates**2).sum(-1)
        by_others[:, layer] = square[..., None] - 2 * inner + counts[..., None] * length
    on_itself = torch.eye(L * H, dtype=torch.bool).reshape(L, H, L * H)
    rest["other head"] = by_others.masked_fill(on_itself, 0).sum(-1) / (L * H - 1)
    total = torch.zeros(_GROUPS, L, H, dtype=torch.float64).index_add_(0, group, energy)
    draws = times_drawn(_GROUPS, _RESAMPLES)
    share = {}
    drawn = {}
    for kind in dict.fromkeys(name.partition(", ")[0] for name in rest):
        mean = torch.stack([r for name, r in rest.items() if name.partition(", ")[0] == kind]).mean(0)
        drawn[kind] = 1 - np.tensordot(draws, mean.numpy(), 1) / np.tensordot(draws, total.numpy(), 1)
        value = (1 - mean.sum(0) / total.sum(0)).numpy()
        share[kind] = resampled_interval(value, np.moveaxis(drawn[kind], 0, -1), most=1.0)
    sharp = {name: sharpness(M) for name, M in maps.items() if M is not None and "picture" not in name}
    scaled = maps["gray 0.0"] / maps["gray 0.0"].sum(dim=-1, keepdim=True)
    sharp |= {"gray 0.0, rows to one": sharpness(scaled), "all pictures": energy.mean(0)}
    mean_share = np.array(share["mean map"]["value"])
    return {"share": share, "rank": _ranks(sharp, energy.numpy(), mean_share, drawn["mean map"])}


def _ranks(sharp: dict, energy: np.ndarray, share: np.ndarray, drawn: np.ndarray) -> dict:
    """Spearman's correlation of sharpness (L, H) with the mean map's share, over the heads.

    With an interval over pictures, and one over heads; ``six`` of the first six heads are the same,
    ``six_least`` in 97.5% of resamples. ``one picture``: the median over pictures, the middle 95% of them,
    and which part of them reaches the gray picture's value (``at_least``).
    """
    heads = np.random.default_rng(1).integers(share.size, size=(_RESAMPLES, share.size))
    correlations = {}

    def against(s, other):
        return float(np.asarray(spearmanr(np.ravel(s), np.ravel(other)))[0])

    def six(s, other):
        return len(set(np.argsort(-np.ravel(s))[:6]) & set(np.argsort(-np.ravel(other))[:6]))

    for name, s in ((name, s.numpy().ravel()) for name, s in sharp.items()):
        over_heads = [against(s[at], share.ravel()[at]) for at in heads]
        over_pictures = np.array([against(s, resample) for resample in drawn])
        correlations[name] = resampled_interval(np.array(against(s, share)), over_pictures, most=1.0) | {
            "heads": rounded(np.quantile(over_heads, [0.025, 0.975]), 4),
            "six": six(s, share),
            "six_least": int(np.quantile([six(s, resample) for resample in drawn], 0.025, method="lower")),
        }
    single = np.array([against(resample, share) for resample in energy])
    low, middle, high = rounded(np.quantile(single, [0.025, 0.5, 0.975]), 4)
    at_least = float((single >= against(sharp["gray 0.0"], share)).mean())
    return correlations | {"one picture": {"value": middle, "low": low, "high": high, "at_least": at_least}}


def channels(s: Subject) -> dict:
    """Which channels hold the corners' squared length, entering each layer.

    ``largest`` and ``second`` (L,); ``by_half`` the largest on each half of the pictures (L, 2); ``share``
    and ``second_share`` what they hold, ``share_elsewhere`` what the largest holds of other patches, (L,)
    each with a 95% interval.
    """
    inner = [k for k in range(s.model.config.num_patches) if k not in corners(s.grid)]
    result: dict[str, list] = {"largest": [], "second": [], "by_half": []}
    parts: list[torch.Tensor] = []
    for x in s.seen:
        at, elsewhere = ((x[:, keys] ** 2).mean(dim=1) for keys in (corners(s.grid), inner))  # (n, width)
        first, second = at.mean(dim=0).topk(2).indices.tolist()
        result["largest"].append(first)
        result["second"].append(second)
        result["by_half"].append([int(at[s.halves[0] == k].mean(dim=0).argmax()) for k in (0, 1)])
        of = [at[:, first], at[:, second], elsewhere[:, first], at.sum(-1), at.sum(-1), elsewhere.sum(-1)]
        parts.append(torch.stack(of, dim=-1))
    every = torch.stack(parts, dim=1)  # (n, L, 6)
    names = ("share", "second_share", "share_elsewhere")
    return result | {
        name: ratio_over_pictures(every[..., k], every[..., 3 + k]) for k, name in enumerate(names)
    }


def overwritten(x: torch.Tensor, grid: int, change: str, first: int, second: int, seed: int) -> torch.Tensor:
    """Tokens (B, T, width) with a channel of four patches changed; ``first`` is the corners' largest channel.

    ``largest``, ``second``, ``random``: that channel of the corners becomes the median over the other patches
    of the same picture; ``others``: the largest channel of four other patches does; ``all but the largest``:
    all other channels of the corners do. ``moved``: what ``largest`` adds goes to a random channel instead.
    ``written``: four other patches get the corners' mean in the largest channel.
    """
    x = x.clone()
    at = corners(grid)
    others = four_keys(grid, seed)
    medians = x[:, [k for k in range(grid * grid) if k not in at]].median(dim=1, keepdim=True).values
    draw = np.random.default_rng(seed).permutation(x.shape[-1])
    chosen = {"largest": first, "second": second, "random": int(draw[~np.isin(draw, (first, second))][0])}
    if change in chosen:
        x[:, at, chosen[change]] = medians[..., chosen[change]]
    elif change == "others":
        x[:, others, first] = medians[..., first]
    elif change == "moved":
        x[:, at, chosen["random"]] += medians[..., first] - x[:, at, first]
    elif change == "written":
        x[:, others, first] = x[:, at, first].mean(dim=1, keepdim=True)
    elif change == "all but the largest":
        kept = x[:, at, first]
        x[:, at] = medians
        x[:, at, first] = kept
    elif change != "own":
        raise ValueError(f"expected a change that overwritten names, got {change!r}")
    return x


def overwrite(s: Subject, change: str, seed: int) -> dict:
    """The network from layer 9 on, a channel overwritten; the other half of the pictures tells which.

    ``right``: which pictures are; of the attention between patches in layers 9 to 12 the shares to the
    corners and to four other patches, and what the change adds (``gain``), (4,) each with a 95% interval.
    """
    right, received = _from_layer_nine(s, change, seed)
    result = {"right": bits(right), "n": len(right)}
    for name, keys in {"corners": corners(s.grid), "others": four_keys(s.grid, seed)}.items():
        result[f"to_{name}"] = mean_over_pictures(received[..., keys].sum(dim=-1))
        result[f"to_{name}_gain"] = mean_over_pictures((received - _unchanged()[1])[..., keys].sum(dim=-1))
    return result


@lru_cache(maxsize=1)
def _unchanged() -> tuple[torch.Tensor, torch.Tensor]:
    return _from_layer_nine(subject(), "own", 0)


def _from_layer_nine(s: Subject, change: str, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Which pictures are right, and the share of attention between patches that each patch gets (n, 4, N)."""
    model = s.model
    right = torch.zeros(len(s.labels), dtype=torch.bool)
    received = torch.zeros(len(right), model.config.depth - _FIRST, model.config.num_patches)
    for half in (0, 1):
        at = s.seen[_FIRST][s.halves[0] == 1 - half][:, corners(s.grid)]
        first, second = (at**2).mean(dim=(0, 1)).topk(2).indices.tolist()
        for batch in torch.nonzero(s.halves[0] == half).flatten().split(50):
            x = overwritten(s.seen[_FIRST][batch], s.grid, change, first, second, seed)
            seen = []
            right[batch] = through(model, x, first=_FIRST, seen=seen).argmax(dim=1) == s.labels[batch]
            for k, tokens in enumerate(seen):
                S = _between(model, _FIRST + k, tokens).mean(dim=(1, 2))
                received[batch, k] = S / S.sum(dim=-1, keepdim=True)
    return right, received


def _cells() -> tuple[dict, ...]:
    cells = [("channels", "", 0), ("gray", "", 0)]
    cells += [("corners", change, 0) for change in ("own", "largest", "second", "all but the largest")]
    kinds = ("random", "others", "moved", "written")
    cells += [("corners", change, seed) for change in kinds for seed in range(3)]
    return tuple({"what": what, "change": change, "seed": seed} for what, change, seed in cells)


SWEEPS = (
    of_vit_tiny(
        "vit_gray",
        "A pretrained ViT-Tiny/16 on a gray picture, and its sinks without their largest channel.",
        _cells(),
        measure,
        dict(pictures=1000, threads=1, groups=_GROUPS, resamples=_RESAMPLES),
    ),
)
