"""Where a ViT's training starts: heads that look one patch away, and values that subtract, written down.

Others came first. Trockman & Kolter (arXiv:2305.09828) start W_Q W_K^T near the identity and W_V W_proj near
its negative ("mimetic"); Zheng, Li & Lucey (arXiv:2404.01139) and Zheng, Li, Saratchandran & Lucey
(arXiv:2505.19985) start queries and keys as random shifts, fitted by descent. Here shifts are closed form,
from encodings that are sums of a row's and a column's code (part 3 of the proposition on shifts).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import torch
from torch import nn

from patch_association.checks import finite, positive_int, seed_number
from patch_association.images.vit import STEPS, ViT
from patch_lab.images import STARTS, VALUES

#: Of Trockman & Kolter, for Z and for I alike.
_VALUE = 0.4
_SCORE = 0.7


def share(margin: float, rows: int, columns: int, class_token: bool = False) -> float:
    """The attention e^(2m) / ((e^m + R - 1)(e^m + C - 1) + k) that a head of ``shifts`` gives its target.

    The target has the score 2m, the other patches of its row and of its column m, all else 0: m is the lead.

    Examples
    --------
    >>> round(share(3.0, 6, 6), 2)
    0.64
    """
    e = math.exp(finite("margin", margin, minimum=0))
    return e * e / ((e + rows - 1) * (e + columns - 1) + class_token)


def codes(rows: int, columns: int, width: int, generator: torch.Generator) -> torch.Tensor:
    """(R + C, width): orthonormal codes of rows, then of columns, which a layer norm's centering leaves."""
    if width <= rows + columns:
        raise ValueError(
            f"width must be more than rows + columns, {rows + columns}, for centered codes, got {width}"
        )
    drawn = torch.randn(width, rows + columns, generator=generator)
    return torch.linalg.qr(drawn - drawn.mean(dim=0))[0].T


def shift_heads(
    book: torch.Tensor, rows: int, heads: int, head_width: int, margin: float, generator: torch.Generator
) -> torch.Tensor:
    """W_Q and W_K, (2, heads, head_width, width), whose scores on sums a_r + b_c of ``book`` are shifts.

    Head h prefers the patch one step away in direction h of :data:`STEPS`, each coordinate kept on the grid,
    by ``margin`` (:func:`share`), with scores divided by sqrt(head_width).

    Raises
    ------
    ValueError
        If a head is narrower than there are codes.
    """
    if head_width < len(book):
        raise ValueError(f"a head must have rows + columns numbers, {len(book)} or more, got {head_width}")
    places = [torch.arange(n) for n in (rows, len(book) - rows)]
    pairs = []
    for head in range(heads):
        moved = [(at + by).clamp(0, len(at) - 1) for at, by in zip(places, STEPS[head % len(STEPS)])]
        # Turned into the head's numbers at random, so that none of them starts at zero and stays there.
        turn = torch.linalg.qr(torch.randn(head_width, len(book), generator=generator))[0]
        turn = turn * margin**0.5 * head_width**0.25
        target = torch.cat([moved[0], rows + moved[1]])
        pairs.append(torch.stack([turn[:, target] @ book, turn @ book]))
    return torch.stack(pairs, dim=1)


def value_product(values: str, width: int, generator: torch.Generator) -> torch.Tensor:
    """W_V W_proj: .4 Z - .4 I ("minus"), .4 Z + .4 I ("plus") or Z of the same mean square ("random")."""
    Z = torch.randn(width, width, generator=generator) / width**0.5
    sign = {"minus": -1, "plus": 1, "random": 0}[values]
    return _VALUE * (Z + sign * torch.eye(width)) if sign else _VALUE * 2**0.5 * Z


def halves(product: torch.Tensor, rank: int | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """A and B, (width, rank) each, of the best A B^T for ``product``, equally large, by its SVD."""
    U, S, V = torch.linalg.svd(product)
    roots = S[:rank].sqrt()
    return U[:, :rank] * roots, V[:rank].T * roots


def waves(rows: int, columns: int, width: int) -> torch.Tensor:
    """(R C, width): sines and cosines of the row and of the column, of wavelengths up to 10,000 (2 pi)."""
    if width % 4 or width < 8:
        raise ValueError(f"width must be a multiple of 4 from 8 on for waves, got {width}")
    rates = 10_000.0 ** -(torch.arange(width // 4) / (width // 4 - 1))
    r, c = (place.flatten()[:, None] * rates for place in _places(rows, columns))
    return torch.cat([c.sin(), c.cos(), r.sin(), r.cos()], dim=1)


def _places(rows, columns):
    return torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="ij")


@torch.no_grad()
def start_like(
    module: nn.Module,
    start: str = "usual",
    values: str = "usual",
    margin: float = 3.0,
    seed: int = 0,
    pictures: torch.Tensor | None = None,
) -> None:
    """Start our ViT, or one of timm, in place; all else keeps the start that it has.

    Parameters
    ----------
    module : ViT, or a VisionTransformer of timm
        Of timm: with learned encodings, and queries and keys that no norm changes.
    start : "usual", "random", "sums", "shifts" or "mimetic"
        "random": encodings of mean square 1 for each patch. "sums": as long, a code of the row plus one of
        the column. "shifts": also queries and keys, by :func:`shift_heads`. "mimetic": P of :func:`waves`,
        W_Q W_K^T near .7 Z + .7 I; as published it goes with ``values="minus"``.
        A class token's encoding is zero in all of these: with "shifts" it looks at all tokens alike.
    values : "usual", "minus", "plus" or "random"
        :func:`value_product`. "minus" is the value half of the mimetic start, and no part of the theory.
    margin : float
        By which a shift leads, in the mean over pictures where scores see them.
    pictures : (n, c, H, W) tensor, optional
        As the model sees them, without labels: needed for "shifts" where scores see tokens, since the layer
        norm in front of each layer scales encodings by what was added to them.

    Raises
    ------
    ValueError
        On an unknown name, sizes that do not allow the start, or a model without learned scores.

    Examples
    --------
    >>> from patch_association.images.vit import ViTConfig
    >>> model = ViT(ViTConfig(image_size=8, patch_size=2, depth=1, heads=4, width=32, attention="positional"))
    >>> start_like(model, "shifts", margin=5.0)
    >>> S = model(torch.zeros(1, 3, 8, 8), return_all=True)[1]["attention"][0]
    >>> bool(S[0, 0, 1].isclose(torch.tensor(share(5.0, 4, 4))))  # the first head looks to the right
    True
    """
    for name, got, allowed in (("start", start, STARTS), ("values", values, VALUES)):
        if got not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {got!r}")
    finite("margin", margin, minimum=0)
    generator = torch.Generator().manual_seed(seed_number("seed", seed))
    ours, (rows, columns), P, layers, heads = _parts(module, start)
    width = P.shape[-1]
    N = rows * columns
    positional = isinstance(module, ViT) and module.config.attention == "positional"
    if start == "shifts" and not positional and pictures is None:
        raise ValueError("pictures must be given: scores of this model see tokens")
    # One stream for each part, so that arms that share a part share its draws.
    drawn = [torch.Generator().manual_seed(int(s)) for s in torch.randint(2**31, (3,), generator=generator)]
    book = codes(rows, columns, width, drawn[0]) if start in ("sums", "shifts") else torch.empty(0)
    if start != "usual":
        if start == "mimetic":
            new = waves(rows, columns, width)
        elif start == "random":
            new = torch.randn(N, width, generator=drawn[0])
            new *= width**0.5 / new.norm(dim=1, keepdim=True)
        else:
            r, c = (place.flatten() for place in _places(rows, columns))
            new = (book[r] + book[rows + c]) * (width / 2) ** 0.5
        new = new.to(P.device)
        P.zero_()
        (P[..., :N, :] if ours else P[..., P.shape[-2] - N :, :]).copy_(new)
    for layer in layers:
        if values != "usual":
            V, back = halves(value_product(values, width, drawn[1]))
            layer[2].copy_(V.T)  # z W_V is how Linear reads W_V^T
            layer[3].copy_(back)
        if start == "mimetic":
            products = [halves(_SCORE * (torch.randn(width, width, generator=drawn[2]) / width**0.5
                                     + torch.eye(width)), width // heads) for _ in range(heads)]  # fmt: skip
            for which in (0, 1):
                layer[which].copy_(torch.cat([pair[which].T for pair in products]))
        elif start == "shifts":
            for weight, W in zip(layer, shift_heads(book, rows, heads, width // heads, margin, drawn[2])):
                weight.copy_(W.flatten(0, 1))
    if start == "shifts":
        length = (width / 2) ** 0.5
        if positional:
            for layer in layers:
                for weight in layer[:2]:
                    weight.div_(length)
        else:
            _scale(module, layers, new, length, pictures)


def _parts(module: Any, start: str) -> tuple[bool, tuple[int, int], Any, list, int]:
    """Whether it is ours, the grid, P, the weights (W_Q, W_K, W_V, W_proj, attention) by layer, the heads."""
    if isinstance(module, ViT):
        c = module.config
        if start != "usual" and (c.attention not in ("vanilla", "positional") or c.positions == "none"):
            raise ValueError(
                f"a start of encodings needs scores that see them, got {c.attention} attention "
                f"with positions={c.positions!r}"
            )
        layers = [(*b.attention.query_key.weight.chunk(2), b.attention.value.weight,
                   b.attention.output.weight, b.attention) for b in module.blocks]  # fmt: skip
        return True, (c.grid, c.grid), module.positions, layers, c.heads
    try:
        grid = module.patch_embed.grid_size
        P = module.pos_embed
        blocks = list(module.blocks)
        is_timms = P is not None and all(isinstance(b.attn.q_norm, nn.Identity) for b in blocks)
        layers = [(*b.attn.qkv.weight.chunk(3), b.attn.proj.weight, b.attn) for b in blocks]
        heads = blocks[0].attn.num_heads
    except (AttributeError, IndexError, TypeError):
        is_timms = False
    if not is_timms:
        raise ValueError(f"module must be a plain ViT, ours or timm's, got {type(module).__name__}")
    rows, columns = (positive_int("grid", int(n)) for n in grid)
    return False, (rows, columns), P, layers, heads


def _scale(module, layers, P, length, pictures):
    """Divide queries and keys of each layer by the length at which the tokens that it sees hold codes."""

    def divide(attention, inputs, layer):
        added = inputs[1] if isinstance(module, ViT) and inputs[1] is not None else 0
        z = inputs[0] + added
        z = z[:, : len(P)] if isinstance(module, ViT) else z[:, -len(P) :]
        held = (z * P).sum(dim=-1).mean() / P.square().sum(dim=-1).mean()
        for weight in layer[:2]:
            weight.div_(length * held)

    hooks = [layer[-1].register_forward_pre_hook(partial(divide, layer=layer)) for layer in layers]
    try:  # in one pass: a layer is scaled before it is used, and the next sees what it adds
        module(pictures)
    finally:
        for hook in hooks:
            hook.remove()
