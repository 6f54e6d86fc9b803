"""How positional a pretrained ViT-Tiny/16 is: its encodings' similarities, its attention, and its sinks."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from patch_association.images.locality import neighbor_recall, similarity
from patch_association.images.pretrained import encodings_of
from patch_lab.images.dissect import LOGIT_TERMS, Inside, logit_shares
from patch_lab.images.picture_intervals import (
    RESAMPLES,
    mean_over_pictures,
    ratio_over_pictures,
    resampled_interval,
    times_drawn,
)
from patch_lab.images.sweeps.vit_interventions import corners, tokens_elsewhere
from patch_lab.images.sweeps.vit_tiny import Subject, deit_encodings, file, of_vit_tiny, subject
from patch_lab.kit.records import encode, rounded
from patch_lab.kit.sweeps.sweep import grid

# What needs mean maps or medians is resampled by groups of pictures, and less often.
_GROUPS = 20
_GROUP_RESAMPLES = 200


def encodings(model: str) -> dict:
    """P P^T of a model's patches in single precision: half of it loses a pair at Figure 1a's threshold."""
    P = deit_encodings() if model == "DeiT-Tiny/16" else encodings_of(file("vit_tiny_patch16_224.npz"))
    G = similarity(P)
    grid = round(len(P) ** 0.5)
    recall = {str(k): neighbor_recall(G, grid, k) for k in (4, 8, 12)}
    return {"similarity": encode(G, "f4"), "width": P.shape[1], "recall": rounded(recall)}


@torch.no_grad()
def attention(positions: str, seed: int) -> dict:
    """What the attention of every layer and head looks like on the thousand pictures.

    With the model's own encodings everything below; with changed ones only ``to_corners`` and
    ``to_moved``: of patch-to-patch attention the shares that go to the corners, and to the places where the
    corners' encodings are now, (L,) each with a 95% interval.

    - ``share``: of the attention between patches, beyond uniform, what the mean map of the other pictures
      explains (L, H): :func:`~patch_association.images.maps.positional_share`, with an interval.
    - ``parts``, ``parts_after_norm``, ``parts_without_corners``: shares of the logits (L, H, 4).
    - ``recall_4``, ``recall_8``, ``against_P``: of the mean maps; the last is the correlation of log
      attention with P P^T within rows, other patches only (L, H). These, ``top_share`` and ``lengths`` have
      95% bootstrap intervals over groups of pictures.
    - ``top_step``, ``top_share``: the commonest step (rows, columns) from a query to the key with most
      attention, and how common it is where that step stays on the grid (L, H).
    - ``profile``: mean attention by step, (L, H, 2 g - 1, 2 g - 1); ``rows``: of nine queries, (L, H, 9, N).
    - ``lengths``: of the tokens that enter a layer: corners' mean, others' median (L, 2).
    """
    s = subject()
    model = s.model
    N = s.model.config.num_patches
    if positions == "own":
        return _own_encodings(s)
    order = np.arange(N)
    if positions == "shuffled":
        order = np.random.default_rng(seed).permutation(N)  # the shuffle of vit_interventions with this seed
    moved = [int(np.flatnonzero(order == corner)[0]) for corner in corners(s.grid)]
    to = {"corners": corners(s.grid), "moved": moved}
    received = {name: [] for name in to}
    for x in tokens_elsewhere(s, positions, seed):
        here = {name: [] for name in to}
        for block in model.blocks:
            S = Inside(block, x).attention()[..., :N, :N].mean(dim=(1, 2))  # (B, keys)
            for name, keys in to.items():
                here[name].append(S[:, keys].sum(dim=-1) / S.sum(dim=-1))
            x, _ = block(x, None, False)
        for name, shares in here.items():
            received[name].append(torch.stack(shares, dim=1))
    return {f"to_{name}": mean_over_pictures(torch.cat(parts)) for name, parts in received.items()}


def _own_encodings(s: Subject) -> dict:
    model = s.model
    N = s.model.config.num_patches
    grid = s.grid
    n = len(s.labels)
    L = model.config.depth
    H = model.config.heads
    half = s.halves[0]
    inner = [k for k in range(N) if k not in corners(grid)]
    energy = torch.zeros(n, L, H)
    rest = torch.zeros(n, L, H)
    shares = {
        name: torch.zeros(n, L, H, 5) for name in ("parts", "parts_after_norm", "parts_without_corners")
    }
    to_corners = torch.zeros(n, L)
    group = torch.arange(n) * _GROUPS // n
    sums = torch.zeros(L, _GROUPS, H, N, N)
    steps = torch.zeros(L, _GROUPS, H, N, N, dtype=torch.int32)
    head = torch.arange(H)[:, None]
    query = torch.arange(N)
    for layer, (block, x) in enumerate(zip(model.blocks, s.seen)):
        normed = torch.zeros(2, *x.shape[1:])
        for k in (0, 1):
            normed[k] = block.attention_norm(x[half == k]).mean(dim=0)
        for k in (0, 1):
            M = s.maps[0, 1 - k, layer]
            m = s.means[0, 1 - k, layer]
            for batch in torch.nonzero(half == k).flatten().split(25):
                inside = Inside(block, x[batch])
                to_patches = inside.attention()[:, :, :N, :N]
                # Uniform row by row: what goes to the class token, on every picture alike, says nothing of
                # places and stays out.
                uniform = to_patches.mean(dim=-1, keepdim=True)
                energy[batch, layer] = ((to_patches - uniform) ** 2).sum(dim=(-1, -2))
                rest[batch, layer] = ((to_patches - M[:, :N, :N]) ** 2).sum(dim=(-1, -2))
                parts = inside.parts(m)
                shares["parts"][batch, layer] = logit_shares(parts, N)
                shares["parts_without_corners"][batch, layer] = logit_shares(parts, N, inner)
                after = inside.parts(normed[1 - k], after_norm=True)
                shares["parts_after_norm"][batch, layer] = logit_shares(after, N)
                flat = to_patches.mean(dim=(1, 2))
                to_corners[batch, layer] = flat[:, corners(grid)].sum(-1) / flat.sum(-1)
                at = group[batch]
                sums[layer].index_add_(0, at, to_patches)
                top = to_patches.argmax(dim=-1)  # (B, H, N)
                unit = torch.ones((), dtype=torch.int32)
                steps[layer].index_put_((at[:, None, None], head, query, top), unit, accumulate=True)
    maps = (sums.sum(dim=1) / n).double().numpy()
    G = similarity(model.positions[0, :N])
    result: dict = {"share": ratio_over_pictures(energy - rest, energy)}
    result |= {name: ratio_over_pictures(part[..., :4], part[..., 4:]) for name, part in shares.items()}
    result |= {"to_corners": mean_over_pictures(to_corners), "part_names": list(LOGIT_TERMS)}
    for k in (4, 8):
        result[f"recall_{k}"] = _by_head(sums, partial(neighbor_recall, grid=grid, k=k))
    result["against_P"] = _by_head(sums, lambda S: _correlation(np.log(S), G))
    top = [[_top_step(counts.numpy(), grid) for counts in layer] for layer in steps.sum(dim=1)]
    result["top_step"] = [[step for step, _ in row] for row in top]
    inside = [[_inside(step, grid) for step, _ in row] for row in top]
    result["top_share"] = _by_head(steps, lambda S, at: S[at].sum() / S[at.any(axis=1)].sum(), inside)
    result["profile"] = encode(np.stack([[_profile(S, grid) for S in layer] for layer in maps]))
    places = (grid // 7, grid // 2, grid - 1 - grid // 5)
    result["queries"] = [grid * r + c for r in places for c in places]
    result["rows"] = encode(maps[:, :, result["queries"]])
    lengths = [x[:, :N].norm(dim=-1) for x in s.seen]  # L of (n, N)
    return result | {"lengths": _lengths(lengths, group, corners(grid), inner)}


def _by_head(by_group: torch.Tensor, measure, *more) -> dict:
    """A measure of what is summed over pictures, (L, groups, H, N, N): (L, H), with intervals.

    A mean map is told by its sum, as no measure depends on a factor. ``more`` are further arguments by layer
    and head.
    """
    draws = torch.from_numpy(times_drawn(_GROUPS, _GROUP_RESAMPLES)).to(torch.float32)
    by_layer = []
    for layer, sums in enumerate(by_group):
        drawn = torch.einsum("rg,ghij->rhij", draws, sums.float()).double().numpy()  # draw, head, query, key
        totals = sums.sum(dim=0).double().numpy()
        for head in range(len(totals)):
            arguments = [layers[layer][head] for layers in more]
            by_layer.append([measure(S, *arguments) for S in (totals[head], *drawn[:, head])])
    values = np.reshape(np.array(by_layer, dtype=float), (len(by_group), -1, _GROUP_RESAMPLES + 1))
    return resampled_interval(values[..., 0], values[..., 1:], most=1.0)


def _lengths(lengths, group, corners: list[int], inner: list[int]) -> dict:
    """Of the tokens that enter a layer: corners' mean, others' median, (L, 2), with intervals."""
    by_layer = []
    draws = times_drawn(_GROUPS, _GROUP_RESAMPLES)
    for layer in lengths:  # (n, N)
        parts = [layer[group == k].numpy() for k in range(_GROUPS)]
        drawn = [np.concatenate([parts[k] for k in np.repeat(np.arange(_GROUPS), at)]) for at in draws]
        by_layer.append([[x[:, corners].mean(), np.median(x[:, inner])] for x in (layer.numpy(), *drawn)])
    values = np.moveaxis(np.array(by_layer, dtype=float), 1, -1)  # (L, 2, resamples + 1)
    return resampled_interval(values[..., 0], values[..., 1:])


def _correlation(A, B) -> float:
    """Pearson's, within rows, of what is off the diagonal."""
    off = ~np.eye(len(A), dtype=bool)
    rows = [[M[i][off[i]] - M[i][off[i]].mean() for i in range(len(M))] for M in (A, B)]
    a, b = (np.concatenate(r) for r in rows)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def _steps(grid):
    """(N, N, 2): rows and columns from query to key."""
    place = np.stack(np.divmod(np.arange(grid * grid), grid), axis=-1)
    return place[None] - place[:, None]


def _inside(step, grid):
    """(N, N): whether the key is this step from the query."""
    return (_steps(grid) == tuple(step)).all(axis=-1)


def _top_step(counts, grid):
    """The commonest step to the top key, and its share among queries where it stays on the grid."""
    step = _steps(grid).reshape(-1, 2)
    code = (step[:, 0] + grid) * 3 * grid + step[:, 1] + grid
    by_code = np.bincount(code, weights=counts.ravel())
    best = int(by_code.argmax())
    down = best // (3 * grid) - grid
    right = best % (3 * grid) - grid
    inside = _inside((down, right), grid).any(axis=1)
    return [down, right], float(by_code[best] / counts[inside].sum())


def _profile(S, grid):
    """Mean attention by step, (2 g - 1, 2 g - 1)."""
    step = _steps(grid) + grid - 1
    total, count = np.zeros((2, 2 * grid - 1, 2 * grid - 1))
    np.add.at(total, (step[..., 0], step[..., 1]), S)
    np.add.at(count, (step[..., 0], step[..., 1]), 1)
    return total / count


SWEEPS = (
    of_vit_tiny(
        "vit_encodings",
        "P P^T of two ViTs that others trained on ImageNet.",
        grid(model=("ViT-Tiny/16", "DeiT-Tiny/16")),
        encodings,
        {},
    ),
    of_vit_tiny(
        "vit_attention",
        "How positional the attention of a pretrained ViT-Tiny/16 is, by layer, on 1,000 pictures.",
        (
            *grid(positions=("own", "corners replaced"), seed=0),
            *grid(positions="shuffled", seed=range(5)),
        ),
        attention,
        dict(
            **dict(pictures=1000, threads=1),
            **dict(resamples=RESAMPLES, groups=_GROUPS, group_resamples=_GROUP_RESAMPLES),
        ),
    ),
)
