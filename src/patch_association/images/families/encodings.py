"""Learned positional encodings: which tensor holds them, and which of its rows are those of patches."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import nn

from patch_association.images.families.naming import (
    BEHIND,
    KNOWN,
    OF_OTHERS,
    POSITIONS,
    TOKEN,
    WORDS,
    channels_of,
    grid_of,
    other_tokens,
    patch_projection,
    size_of,
    tensors_of,
)
from patch_association.images.families.watching import (
    in_evaluation,
    run_model,
    tokens_that_differ,
    tokens_watched,
)
from patch_association.images.locality import grid_sides
from patch_association.images.vit import ViT


@dataclass(frozen=True)
class Encodings:
    """Learned positional encodings of the patches, (N, width), row by row of a grid.

    Attributes
    ----------
    P : (N, width) tensor
    grid : pair of int (rows and columns)
    called : str (the tensor that holds them)
    tokens : dict (how many tokens that are no patches, by name)
    before : int (how many of these have encodings, in the rows before the patches')
    """

    P: torch.Tensor
    grid: tuple[int, int]
    called: str
    tokens: dict[str, int]
    before: int


def encodings_in(model, name: str, grid: Any = None, about=None, images=None, seen=None) -> Encodings:
    """Find the encodings of a module or of tensors; a ValueError says what was found instead.

    Parameters
    ----------
    model : module, or tensors by name
    name : str (what errors call it)
    grid : pair of int, optional (rows and columns)
    about : dict, optional (what the file beside the weights says of them)
    images : (B, c, H, W) tensor, optional (that the model takes)
    seen : pair of int, optional (rows and columns of the patches on these)

    Raises
    ------
    ValueError
        If there are none, or which rows belong to patches is not known.
    """
    if isinstance(model, ViT):
        side = model.config.grid
        tensors = tensors_of(model)
        P = model.positions[0, : side**2].detach().float()
        return Encodings(P, (side, side), "positions", other_tokens(tensors), 0)
    tensors = tensors_of(model)
    if "pos" in tensors:
        found = _stored(tensors, name)
    else:
        found = _of_a_model(model, tensors, name, grid, about)
    found = _as_rows(found, tensors, name)
    said = None if grid is None else grid_sides(grid, 1)
    own = found.grid
    if said and own and said != own and images is None:
        raise ValueError(f"{name} says that its patches are {own[0]} x {own[1]}, got grid={said}")
    fit = _fit(found, said, seen, name)
    before = fit.before
    others = fit.before + fit.behind
    stranger = isinstance(model, nn.Module) and type(model).__module__.split(".")[0] not in KNOWN
    if stranger and others:
        before = _ahead(model, found.P, others, fit.grid, images, name)
    N = math.prod(fit.grid)
    return Encodings(found.P[before : before + N].float(), fit.grid, found.called, found.tokens, before)


@dataclass(frozen=True)
class _Candidate:
    """A tensor of encodings, before it is known which of its rows are those of patches.

    Attributes
    ----------
    P : tensor
    called : str (its name)
    tokens : dict (how many tokens that are no patches, by name)
    cuts : set of pairs of int (how many rows may stand before the patches' and behind them)
    grid : pair of int, or None (rows and columns, where the model says them)
    """

    P: torch.Tensor
    called: str
    tokens: dict[str, int]
    cuts: set[tuple[int, int]]
    grid: tuple[int, int] | None


class _Fit(NamedTuple):
    """How many rows stand before the patches' and behind them, and the grid that these fill."""

    before: int
    behind: int
    grid: tuple[int, int]


def _stored(tensors, name: str) -> _Candidate:
    """The encodings of an array, "pos"; a file may say the tokens before them and the grid."""
    P = tensors["pos"]
    if P.ndim == 3 and len(P) > 1:
        P = P[None]
    (before,) = _counts(tensors, "n_prefix", [0], name)
    grid = None
    if "grid" in tensors:
        rows, columns = _counts(tensors, "grid", [0, 0], name)
        grid = (rows, columns)
    tokens = {"n_prefix": before} if before else {}
    return _Candidate(P, "pos", tokens, {(before, 0)}, grid)


def _of_a_model(model, tensors, name: str, grid, about) -> _Candidate:
    """The encodings of a module, or of tensors under the names of one."""
    if patch_projection(tensors) is None:
        if any(WORDS.search(key) for key in tensors):
            raise ValueError(f"{name} embeds words and no patches: its encodings are of places in a text")
        if grid is None and any(x.ndim == 5 for x in tensors.values()):
            raise ValueError(
                f"{name} embeds pieces of films, and its encodings may be of frames, too: say "
                "grid=(rows, columns) if they are of one picture"
            )
    P, called = _positions(tensors, name)
    tokens = other_tokens(tensors)
    ahead = {token: count for token, count in tokens.items() if token != BEHIND}
    without_registers = {
        token: count for token, count in ahead.items() if not token.startswith(("reg", "storage"))
    }
    cuts = set()
    for before in (0, sum(without_registers.values()), sum(ahead.values())):
        cuts.add((before, 0))
        cuts.add((before, tokens.get(BEHIND, 0)))
    return _Candidate(P, called, tokens, cuts, grid_of(model, about))


def _as_rows(found: _Candidate, tensors, name: str) -> _Candidate:
    """The same with P as (rows, width); a P of four axes says the grid."""
    P = found.P
    grid = found.grid
    if P.ndim == 4:  # (1, rows, columns, width)
        width = (patch_projection(tensors) or P.shape[3:])[0]
        if P.shape[3] != width == P.shape[1]:
            came = f"{found.called!r} of shape {tuple(P.shape)}"
            raise ValueError(f"{name} has encodings {came}, not (1, rows, columns, {width}) as its patches")
        grid = (P.shape[1], P.shape[2])
        P = P.flatten(1, 2)
    P = P.detach()[0] if P.ndim == 3 else P.detach()
    if P.ndim != 2 or not P.numel():
        raise ValueError(
            f"{name} has encodings {found.called!r} of shape {tuple(P.shape)}, not (tokens, width)"
        )
    return replace(found, P=P, grid=grid)


def _fit(found: _Candidate, said, seen, name: str) -> _Fit:
    """The one cut after which the rows fill a grid: the model's own, the one said, the one seen, a square."""
    known = [grid for grid in (found.grid, said, seen) if grid]
    if not found.grid and not said:
        known.append(None)  # a square
    fits = []
    for grid in known:
        for before, behind in found.cuts:
            N = len(found.P) - before - behind
            root = math.isqrt(max(N, 0))
            rows, columns = grid or (root, root)
            if N > 0 and rows * columns == N:
                fits.append(_Fit(before, behind, (rows, columns)))
        if fits:
            break
    if len(fits) == 1:
        return fits[0]
    grid = found.grid or said or seen
    patches = f"{grid[0]} x {grid[1]} patches" if grid else "the patches of a square"
    others = ", ".join(f"{count} {token}" for token, count in found.tokens.items()) or "no other tokens"
    hint = "" if found.grid or said else "; say grid=(rows, columns)"
    raise ValueError(
        f"{name} has {len(found.P)} encodings in {found.called!r}, and {others}: which of them belong to "
        f"{patches} is not known{hint}"
    )


def _ahead(model, P, others: int, sides, images, name: str) -> int:
    """How many of the encodings that are of no patches stand before these, as a module has its tokens."""
    if images is None:
        images = torch.zeros(1, channels_of(model) or 3, *size_of(model, sides, name)).to(P)
    first: dict[int, torch.Tensor] = {}
    with torch.no_grad(), in_evaluation(model), tokens_watched(model, first):
        run_model(model, images[:1], name, noise=True)
    for x in first.values():
        at = tokens_that_differ(x).nonzero().flatten().tolist() if x.shape[2] == P.shape[1] else []
        if not at or at[-1] - at[0] + 1 != len(at):
            continue
        before, behind = at[0], x.shape[1] - 1 - at[-1]
        if before >= others and not behind:
            return others
        if behind >= others and not before:
            return 0
        if before and behind and before + behind == others:
            return before
    raise ValueError(
        f"{name} has {others} encodings more than patches, and which rows these are its tokens do not tell"
    )


def _may_be_encodings(key: str, x: torch.Tensor) -> bool:
    """Whether a tensor is floating-point, (..., two tokens or more, width), and one for all inputs."""
    one_for_all = x.ndim == 2 or (x.ndim in (3, 4) and (len(x) == 1 or key == "positions"))
    return one_for_all and x.is_floating_point() and x.shape[-2] > 1 and not OF_OTHERS.search(key)


def _positions(tensors, name) -> tuple[torch.Tensor, str]:
    """The encodings by name, and by shape: of the width of the embedded patches."""
    width, *_ = patch_projection(tensors) or (None,)
    shaped = [key for key, x in tensors.items() if _may_be_encodings(key, x)]
    fits = [key for key in shaped if tensors[key].shape[-1] == (width or tensors[key].shape[-1])]
    named = (
        [key for key in fits if POSITIONS.search(key)]
        or [key for key in shaped if POSITIONS.search(key)]
        or [key for key in fits if "pos" in key.lower() and "bias" not in key]
        or [key for key in fits if tensors[key].ndim == 3 and width and not TOKEN.search(key)]
    )
    if len(named) != 1:
        candidates = f": {', '.join(named[:4])} may be" if named else ""
        raise ValueError(
            f"{name} has no learned positional encodings that can be told from its names{candidates}"
        )
    return tensors[named[0]], named[0]


def _counts(held, key, default, name):
    values = held[key].flatten().tolist() if key in held else default
    if len(values) != len(default) or any(value < 0 or value != int(value) for value in values):
        raise ValueError(f"{name} must hold {len(default)} of 0, 1, 2, ... as {key!r}, got {values}")
    return [int(value) for value in values]
