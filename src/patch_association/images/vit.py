"""The Vision Transformer of section 6, with self-attention or positional attention."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from patch_association.checks import finite, fits_memory, positive_int, probability, seed_number
from patch_association.images.layers import Block

_SIZES = ("image_size", "patch_size", "channels", "num_classes", "depth", "heads", "width", "mlp_width")
_ATTENTIONS = ("vanilla", "positional", "uniform", "shifts")
_POSITIONS = ("paper", "input", "layers", "none")
_POOLINGS = ("mean", "cls")
_SCALES = ("head", "width")
#: Down and right by head: :func:`shifts`.
STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))


@dataclass(frozen=True)
class ViTConfig:
    """The shape of a ViT and the choices that the paper makes or leaves open.

    Attributes
    ----------
    image_size, patch_size, channels : int
        In pixels; the N = (image_size / patch_size)^2 patches are numbered row by row.
    num_classes, depth, heads, width, mlp_width : int
        The defaults are the paper's for small images: 7 layers, 12 heads, width and MLP width 384.
    attention : "vanilla", "positional", "uniform" or "shifts"
        Definition 3.1 or 3.2: what the scores see. Two controls learn no scores: "uniform" attends to
        all tokens alike, "shifts" as :func:`shifts` says.
    positions : "paper", "input", "layers" or "none"
        Where P enters the tokens.
        "paper": vanilla adds P to the embedded patches once, as the ViT that the paper cites does;
        positional adds it nowhere, since Definition 3.2 keeps positions and tokens apart; controls neither.
        "input": both add P to the embedded patches once, so that even then only the scores differ.
        "layers": vanilla adds P in front of every attention, Definition 3.1 to the letter;
        positional as in "paper".
        "none": no token and no score knows of P; not for positional attention, whose scores are P alone.
    shared_positions : bool
        One P for all layers (default: the paper speaks of one P), or one per layer.
    pooling : "mean" or "cls"
        The mean over the tokens (default: model (T) sums over all patches and has no class token),
        or a class token with a position of its own, as in the ViT that the paper cites.
    position_std : float
        P starts as N(0, position_std^2); 0.02 is the usual choice for ViTs.
    drop_path : float
        Stochastic depth: the share of pictures that miss a branch of the last layer in training, less before.
    score_scale : "head" or "width"
        Scores are divided by the root of a head's width, as is usual, or of the whole width.
    two_gelus : bool
        Whether another GELU follows the MLP.

    Raises
    ------
    ValueError
        If sizes do not divide or fit in memory, or a choice is unknown.
    """

    image_size: int = 32
    patch_size: int = 4
    channels: int = 3
    num_classes: int = 10
    depth: int = 7
    heads: int = 12
    width: int = 384
    mlp_width: int = 384
    attention: str = "vanilla"
    positions: str = "paper"
    shared_positions: bool = True
    pooling: str = "mean"
    position_std: float = 0.02
    drop_path: float = 0.0
    score_scale: str = "head"
    two_gelus: bool = False

    def __post_init__(self):
        for name in _SIZES:
            positive_int(name, getattr(self, name))
        finite("position_std", self.position_std, minimum=0)
        probability("drop_path", self.drop_path)
        choices = dict(attention=_ATTENTIONS, positions=_POSITIONS, pooling=_POOLINGS, score_scale=_SCALES)
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        if self.attention == "positional" and self.positions == "none":
            raise ValueError('positional attention without positions has no scores, got positions="none"')
        if self.image_size % self.patch_size:
            raise ValueError(
                "image_size must be a multiple of patch_size, "
                f"got {self.image_size} pixels in patches of {self.patch_size}"
            )
        if self.width % self.heads:
            raise ValueError(
                f"width must be a multiple of heads, got width {self.width} for {self.heads} heads"
            )
        per_layer = self.width * (4 * self.width + 2 * self.mlp_width + self.num_tokens)
        fits_memory(
            f"a ViT of {self.depth} layers of width {self.width} with {self.num_tokens} tokens",
            self.depth * (per_layer + self.heads * self.num_tokens**2), bytes_each=4,
        )  # fmt: skip
        if not self.shared_positions and self.attention == "vanilla" and self.positions != "layers":
            raise ValueError(
                'a vanilla ViT reads one P per layer only with positions="layers", '
                f"got positions={self.positions!r} with shared_positions=False"
            )

    @property
    def grid(self) -> int:
        """Patches per side."""
        return self.image_size // self.patch_size

    @property
    def num_patches(self) -> int:
        """The number of patches, N: the square of those per side."""
        return self.grid**2

    @property
    def num_tokens(self) -> int:
        """N, and one more with a class token."""
        return self.num_patches + 1 if self.pooling == "cls" else self.num_patches

    @classmethod
    def named(cls, name: str, **changes) -> ViTConfig:
        """A configuration by name, with changes.

        "small": the paper's for CIFAR and SVHN (7 layers, 12 heads, width and MLP width 384).
        "tiny", "s16", "b16": ViT-Ti/16, S/16, B/16 at 224 pixels (12 layers, class token, 3, 6, 12 heads).
        "reader": one layer of width 64 with 4 heads, for a minute on a CPU.

        Raises
        ------
        ValueError
            If there is no such name, or the changes do not fit.
        """
        named = {
            "small": {},
            **{size: dict(image_size=224, patch_size=16, num_classes=1000, depth=12, heads=heads,
                          width=64 * heads, mlp_width=256 * heads, pooling="cls")
               for size, heads in (("tiny", 3), ("s16", 6), ("b16", 12))},
            "reader": dict(depth=1, heads=4, width=64, mlp_width=128),
        }  # fmt: skip
        if name not in named:
            raise ValueError(f"there is no ViT called {name!r}; there are {', '.join(named)}")
        return replace(cls(**named[name]), **changes)


class ViT(nn.Module):
    """A Vision Transformer whose attention is vanilla or positional.

    The kinds differ in what the scores see and, with it, in where P enters (``positions``); in nothing else.
    Their parameters have the same names, and for a seed the same start: a state of one loads into the other.

    Parameters
    ----------
    config : ViTConfig
    seed : int
        Of the start.

    Attributes
    ----------
    positions : (1 or depth, N, width) parameter
        P, for all layers or one per layer; with a class token its position comes last.

    Raises
    ------
    ValueError
        If ``config`` is no :class:`ViTConfig`, or ``seed`` is out of range.
    """

    def __init__(self, config: ViTConfig, seed: int = 0):
        super().__init__()
        if not isinstance(config, ViTConfig):
            raise ValueError(f"config must be a ViTConfig, got {type(config).__name__}")
        self.config = c = config
        layers = 1 if c.shared_positions else c.depth
        self.embed = nn.Linear(c.channels * c.patch_size**2, c.width)
        self.positions = nn.Parameter(torch.empty(layers, c.num_tokens, c.width))
        if c.pooling == "cls":
            self.class_token = nn.Parameter(torch.empty(c.width))
        self.blocks: Any = nn.ModuleList(
            Block(
                c.width, c.heads, c.mlp_width, c.attention != "vanilla", drop=c.drop_path * k / c.depth,
                over_width=c.score_scale == "width", two_gelus=c.two_gelus,
            )
            for k in range(1, c.depth + 1)
        )  # fmt: skip
        self.norm = nn.LayerNorm(c.width, eps=1e-6)
        self.head = nn.Linear(c.width, c.num_classes)
        self._known_attention = None
        self.register_buffer("_frozen", self._written_maps(), persistent=False)
        self._start(torch.Generator().manual_seed(seed_number("seed", seed)))

    def _written_maps(self):
        """The maps of a control, (H, N, N), or None where scores are learned."""
        c = self.config
        if c.attention == "uniform":
            return torch.full((c.heads, c.num_tokens, c.num_tokens), 1 / c.num_tokens)
        return shifts(c.grid, c.heads, c.pooling == "cls") if c.attention == "shifts" else None

    def _start(self, generator):
        for name, parameter in self.named_parameters():
            if name in ("positions", "class_token"):
                nn.init.normal_(parameter, std=self.config.position_std, generator=generator)
            elif name.endswith("query_key.weight"):
                # Q and K share a tensor: each half gets the range of a matrix of its own shape.
                for half in parameter.chunk(2):
                    nn.init.xavier_uniform_(half, generator=generator)
            elif parameter.ndim == 2:
                nn.init.xavier_uniform_(parameter, generator=generator)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, images: torch.Tensor, return_all: bool = False):
        """Logits of shape (B, num_classes) for images (B, channels, image_size, image_size).

        With ``return_all``, the pair (logits, out) with

        - ``out["attention"]``: per layer (B, H, N, N) for vanilla, (H, N, N) for any other attention;
        - ``out["similarity"]``: P P^T between patches, (1 or depth, N, N), the class token left out;
        - ``out["tokens"]``: the tokens after the last layer, (B, N, width).

        Raises
        ------
        ValueError
            If the images have another shape.
        """
        c = self.config
        expected = (c.channels, c.image_size, c.image_size)
        if images.ndim != 4 or tuple(images.shape[1:]) != expected:
            raise ValueError(
                f"images must have shape (B, {', '.join(map(str, expected))}), got {tuple(images.shape)}"
            )
        positional = c.attention == "positional"
        frozen: Any = self._frozen
        # Autocast makes the embedding half precise. Tokens keep the parameters' type, as they do where P is
        # added: else the two kinds of attention would differ in that too.
        x = self.embed(patches(images, c.patch_size)).to(self.positions.dtype)
        if c.pooling == "cls":
            x = torch.cat([x, self.class_token.expand(len(x), 1, -1)], dim=1)
        if c.positions == "input" or (c.positions == "paper" and c.attention == "vanilla"):
            x = x + self.positions[0]
        maps = []
        for layer, block in enumerate(self.blocks):
            if frozen is not None:
                x, S = block(x, x, frozen)  # known maps: nobody reads the second argument
            elif positional:
                P = self._layer_positions(layer)
                known = None if self._known_attention is None else self._known_attention[layer]
                if known is None and return_all:  # by itself a layer need not hold its maps
                    known = block.attention.attention(P)
                x, S = block(x, P, known)
            else:
                x, S = block(x, self._layer_positions(layer) if c.positions == "layers" else None, return_all)
            maps.append(S)
        pooled = x[:, -1] if c.pooling == "cls" else x.mean(dim=1)
        logits = self.head(self.norm(pooled))
        if not return_all:
            return logits
        return logits, {"attention": maps, "similarity": self.similarity(), "tokens": x}

    def _layer_positions(self, layer):
        return self.positions[0 if self.config.shared_positions else layer]

    def similarity(self) -> torch.Tensor:
        """P P^T between patches, (1 or depth, N, N): the paper's P^T P, where patches are columns."""
        P = self.positions[:, : self.config.num_patches]
        return P @ P.transpose(1, 2)

    @contextmanager
    def cached_attention(self):
        """Within this context positional attention is computed once and used for every batch.

        For inference: S depends on parameters only, and they must not change inside.

        Raises
        ------
        ValueError
            For a vanilla ViT, whose attention depends on the input.
        """
        if self.config.attention != "positional":
            raise ValueError(
                "only positional attention can be cached: vanilla attention depends on the input"
            )
        with torch.no_grad():
            blocks: Any = self.blocks
            self._known_attention = [
                block.attention.attention(self._layer_positions(i)) for i, block in enumerate(blocks)
            ]
        try:
            yield self
        finally:
            self._known_attention = None


def shifts(grid: int, heads: int, class_token: bool = False) -> torch.Tensor:
    """Attention written by hand: head h looks one patch away in direction h; at the rim, at itself.

    Directions are right, left, down, up, the diagonals, then again. A class token, the last, looks at all.

    Parameters
    ----------
    grid, heads : int (patches per side; H)
    class_token : bool

    Returns
    -------
    (heads, N, N) tensor
        With rows that sum to 1, N = grid^2 (+ 1).

    Examples
    --------
    >>> shifts(2, 1)[0].tolist()[0]
    [0.0, 1.0, 0.0, 0.0]
    """
    places = torch.arange(grid)
    attention = torch.zeros(heads, grid**2 + class_token, grid**2 + class_token)
    for head in range(heads):
        down, right = STEPS[head % len(STEPS)]
        row, column = ((places + step) for step in (down, right))
        inside = ((row >= 0) & (row < grid))[:, None] & ((column >= 0) & (column < grid))[None]
        ahead = row[:, None] * grid + column[None]
        own = places[:, None] * grid + places[None]
        attention[head, torch.arange(grid**2), torch.where(inside, ahead, own).flatten()] = 1.0
    if class_token:
        attention[:, -1] = 1 / (grid**2 + 1)
    return attention


def patches(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    """(B, c, H, W) -> (B, N, c p p): the patches row by row, p = ``patch_size``.

    Parameters
    ----------
    images : (B, c, H, W) tensor
    patch_size : int, which divides H and W
    """
    B, channels, height, width = images.shape
    p = patch_size
    x = images.reshape(B, channels, height // p, p, width // p, p)
    return x.permute(0, 2, 4, 1, 3, 5).reshape(B, (height // p) * (width // p), channels * p * p)
