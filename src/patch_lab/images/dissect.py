"""A ViT taken apart: what of its attention is position and what is content, and what depends on which.

The stream of tokens entering layer l is x = m + c: m its mean over pictures, one vector for each place,
the *position part*, and c the rest, the *content part*. Layer norm divides by a number that depends on the
token; with that number as it is, the normed tokens, queries and keys are sums of a position part (with all
biases) and a content part, and the logits are exactly a sum of four products.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import nn
from torch.nn import functional as F

from patch_association.images.layers import Block
from patch_association.images.vit import ViT, patches

LOGIT_TERMS = ("position-position", "position-content", "content-position", "content-content")
Edit = Callable[["Inside"], torch.Tensor]


class Inside:
    """The attention of one layer on some pictures, for whoever wants to change it.

    Attributes
    ----------
    block : Block
    x : (B, T, width)
        The tokens that enter the layer.
    z : (B, T, width)
        Normed.
    P : (T, width), optional
        The encodings, which are all that positional attention sees.
    """

    def __init__(self, block: Block, x: torch.Tensor, P: torch.Tensor | None = None):
        self.block = block
        self.x = x
        self.z = block.attention_norm(x)
        self.P = P

    def logits(self) -> torch.Tensor:
        """Q K^T / sqrt(d_h), (B, H, T, T); of positional attention (1, H, T, T)."""
        q, k = self.block.attention._queries_keys(self.z if self.P is None else self.P[None])
        return q @ k.transpose(-1, -2) * self.block.attention.scale

    def attention(self) -> torch.Tensor:
        """The softmax of the logits, rows of which sum to one."""
        return self.logits().softmax(dim=-1)

    def parts(self, mean: torch.Tensor, after_norm: bool = False) -> dict[str, torch.Tensor]:
        """The four parts of the logits by the names of :data:`LOGIT_TERMS`: query part, then key part.

        Parameters
        ----------
        mean : (T, width)
            m, the mean of the tokens that enter this layer. With ``after_norm``, of the normed tokens.
        after_norm : bool
            Split after the layer norm instead: content then is what differs from the mean normed token,
            and a place whose token is long on every picture counts as content where its length varies.

        Raises
        ------
        ValueError
            For positional attention, whose logits have one part.
        """
        if self.P is not None:
            raise ValueError("the logits of positional attention have one part: they see positions alone")
        if after_norm:
            position = mean.expand_as(self.z)
        else:
            norm = self.block.attention_norm
            spread = (self.x.var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt()
            position = (mean - mean.mean(dim=-1, keepdim=True)) / spread * norm.weight + norm.bias
        project = self.block.attention._queries_keys
        q, k = project(position)
        of_all = project(self.z)
        parts = {"position": (q, k), "content": (of_all[0] - q, of_all[1] - k)}
        scale = self.block.attention.scale
        return {
            f"{query_part}-{other}": parts[query_part][0] @ parts[other][1].transpose(-1, -2) * scale
            for query_part in parts
            for other in parts
        }


def start(model: ViT, images: torch.Tensor) -> torch.Tensor:
    """The tokens (B, T, width) that enter the first layer, with the encodings where the model adds them."""
    c = model.config
    x = model.embed(patches(images, c.patch_size))
    if c.pooling == "cls":
        x = torch.cat([x, model.class_token.expand(len(x), 1, -1)], dim=1)
    at_input = c.positions == "input" or (c.positions == "paper" and c.attention == "vanilla")
    return x + model.positions[0] if at_input else x


def through(
    model: ViT, x: torch.Tensor, edits=None, first: int = 0, seen: list | None = None
) -> torch.Tensor:
    """Logits (B, classes) from the tokens that enter layer ``first``, attention changed where asked.

    Parameters
    ----------
    edits : dict of int to Edit
        For some layers a function that is given the layer's :class:`Inside` and returns the attention to
        use, (B or 1, H, T, T).
    seen : list, optional
        The tokens that enter each layer are appended to it.
    """
    if model.config.attention not in ("vanilla", "positional"):
        raise ValueError(f"expected vanilla or positional attention, got {model.config.attention!r}")
    edits = edits or {}
    positional = model.config.attention == "positional"
    for layer in range(first, model.config.depth):
        block = model.blocks[layer]
        P = model._layer_positions(layer) if positional else None
        if seen is not None:
            seen.append(x)
        x = changed_layer(block, x, edits[layer], P) if layer in edits else block(x, P, None)[0]
    pooled = x[:, -1] if model.config.pooling == "cls" else x.mean(dim=1)
    return model.head(model.norm(pooled))


def changed_layer(block: Block, x: torch.Tensor, edit: Edit, P: torch.Tensor | None = None) -> torch.Tensor:
    """(B, T, width): what a layer makes of its tokens with the attention that ``edit`` gives."""
    inside = Inside(block, x, P)
    v = block.attention.value(inside.z).unflatten(-1, (block.attention.heads, -1)).transpose(1, 2)
    mixed = (edit(inside) @ v).transpose(1, 2).flatten(2)  # (B, H, T, d_h) -> (B, T, H d_h)
    x = x + block.attention.output(mixed)
    return x + block.mlp(block.mlp_norm(x))


def fixed(maps: torch.Tensor, heads: Sequence[int] | None = None) -> Edit:
    """Attention (H, T, T) whatever the picture; with ``heads``, in these heads alone."""
    if heads is None:
        return lambda inside: maps[None]

    def edit(inside):
        S = inside.attention()
        S[:, list(heads)] = maps[list(heads)]
        return S

    return edit


class FixedAttention(nn.Module):
    """A ViT some of whose layers attend alike on every picture; what else it has can be trained.

    Parameters
    ----------
    model : ViT
        It is not copied: training this module trains it. Queries and keys of a fixed layer have no part in
        the answer, and their gradients are None.
    maps : dict of int to (H, T, T) tensor
        For a layer, counted from 0, the attention of its heads; T tokens, with a class token if there is
        one. :func:`~patch_lab.images.exchange.mean_maps` has those of all layers.

    Raises
    ------
    ValueError
        If there is no such layer, or maps have another shape or are not finite.

    Examples
    --------
    >>> from patch_association.images import ViTConfig
    >>> model = ViT(ViTConfig.named("reader", attention="positional"), seed=0)
    >>> images = torch.zeros(2, 3, 32, 32)
    >>> S = model(images, return_all=True)[1]["attention"][0].detach()
    >>> torch.allclose(FixedAttention(model, {0: S})(images), model(images), atol=1e-5)
    True
    """

    def __init__(self, model: ViT, maps: Mapping[int, torch.Tensor]):
        super().__init__()
        c = model.config
        self.model = model
        self.layers = sorted(maps)
        wanted = (c.heads, c.num_tokens, c.num_tokens)
        for layer, S in maps.items():
            if layer not in range(c.depth):
                raise ValueError(f"layers must be 0 to {c.depth - 1}, got {layer}")
            if tuple(S.shape) != wanted or not torch.isfinite(S).all():
                raise ValueError(f"maps of layer {layer} must be {wanted} and finite, got {tuple(S.shape)}")
            self.register_buffer(f"maps_{layer}", S.detach().clone())

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """(B, channels, H, W) -> (B, classes)."""
        edits = {layer: fixed(self.get_buffer(f"maps_{layer}")) for layer in self.layers}
        return through(self.model, start(self.model, images), edits)


def parts_only(mean: torch.Tensor, names: Sequence[str]) -> Edit:
    """Attention from some parts of the logits alone."""

    def edit(inside):
        parts = inside.parts(mean)
        return torch.stack([parts[name] for name in names]).sum(dim=0).softmax(dim=-1)

    return edit


def without_keys(keys: Sequence[int]) -> Edit:
    """Attention with some keys masked; a masked token still sees itself where nothing else is left."""

    def edit(inside):
        logits = inside.logits()
        logits[..., list(keys)] = float("-inf")
        return logits.softmax(dim=-1)

    return edit


def logit_shares(
    parts: dict[str, torch.Tensor], queries: int, keys: Sequence[int] | None = None
) -> torch.Tensor:
    """(B, H, 5): covariance of each part with the total over keys, and the total's variance.

    Summed over queries. Divided by the last, the first four are the parts' shares of what tells keys
    apart, and sum to one.

    Parameters
    ----------
    queries : int
        The first so many tokens are looked at, as queries and as keys: the patches.
    keys : sequence of int, optional
        Only these keys.
    """
    chosen = list(range(queries)) if keys is None else list(keys)
    centered = []
    for name in LOGIT_TERMS:
        part = parts[name][..., :queries, :][..., chosen]
        centered.append(part - part.mean(dim=-1, keepdim=True))
    total = torch.stack(centered).sum(dim=0)
    shares = [(part * total).sum(dim=(-1, -2)) for part in centered]
    return torch.stack([*shares, (total * total).sum(dim=(-1, -2))], dim=-1)


def normalized(images: torch.Tensor) -> torch.Tensor:
    """uint8 pictures as the AugReg ViTs see them: from -1 to 1."""
    return images.float() / 127.5 - 1


def neighbor_maps(grid: int, step: tuple[int, int], tokens: int) -> torch.Tensor:
    """(T, T) attention of each patch to the one ``step`` = (rows, columns) away; to itself at the border.

    Tokens beyond the grid's patches attend to themselves.
    """
    S = torch.eye(tokens)
    for patch in range(grid * grid):
        row = patch // grid + step[0]
        column = patch % grid + step[1]
        if 0 <= row < grid and 0 <= column < grid:
            S[patch, patch] = 0.0
            S[patch, row * grid + column] = 1.0
    return S


def kl(own: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """(B,) divergence in nats of the classes' probabilities, from logits."""
    return F.kl_div(other.log_softmax(-1), own.log_softmax(-1), log_target=True, reduction="none").sum(-1)
