"""Vision Transformers that others trained: their encodings and their attention.

A model may be given as a module of timm, of transformers or of torchvision, as one that attends through
``nn.MultiheadAttention``, as one of ours, by timm's name (its weights are fetched the first time), as a dict
of tensors under the names of these families, or as a file of such tensors
(:func:`~patch_association.images.weights.read_weights`). Nothing is unpickled.
"""

from __future__ import annotations

import torch

from patch_association.checks import brief
from patch_association.images import families
from patch_association.images.weights import Given, given


def encodings_of(model, grid=None) -> torch.Tensor:
    """The learned positional encodings of a model's patches, (N, width), row by row of their grid.

    Rows of class, distillation and register tokens are left out.

    Parameters
    ----------
    model : module, dict of tensors, array or tensor, or str or path
        See the head of this module. An array is (N, width) or (rows, columns, width).
        An npz may also hold the encodings alone: ``pos`` (tokens, width); ``n_prefix``, the number of rows
        that belong to other tokens, 0 if it is left out; and ``grid``, rows and columns of the patches, a
        square one if it is left out.
    grid : pair of int, optional
        Rows and columns of the patches, where neither the model says them nor they are a square.

    Raises
    ------
    ValueError
        If there are no such encodings, or which rows belong to patches is not known; if a file or a name
        cannot be used; for NaN or infinite weights.

    Examples
    --------
    >>> from patch_association.images import ViT, ViTConfig
    >>> encodings_of(ViT(ViTConfig.named("reader"))).shape
    torch.Size([64, 64])
    """
    model, name, about = given(model)
    return families.encodings_in(model, name, grid, about).P


@torch.no_grad()
def attention_of(
    model, images: torch.Tensor, heads: int | None = None, norm: str | None = None
) -> torch.Tensor:
    """How much each patch attends to each, (layers, B, heads, N, N), on pictures.

    Rows sum to one minus what goes to other tokens, such as the class token.

    Parameters
    ----------
    model : module, dict of tensors, or str or path
        Tensors must be those of a plain ViT.
    images : (B, c, H, W) tensor
        Normalized as the model was trained.
    heads : int, optional
        Where only tensors are given, which do not tell, and no ``config.json`` beside their file does. Nor do
        they tell what layers do: ``heads`` says that they are timm's plain ones.
    norm : "before" or "after", optional
        Whether these norm what goes into attention and MLP (timm's ``Block``) or what comes out of them (its
        ``ResPostBlock``), where the tensors' names do not tell. Without it "before" is taken, with a warning.

    Raises
    ------
    ValueError
        If the model is no ViT whose attention can be seen, or which of its tokens are patches is not known;
        if tensors are given and how many heads they have is not, or they contradict ``norm``; if the pictures
        are no finite floating-point numbers or of another shape, type or place than the model's; for NaN or
        infinite weights.
    """
    return torch.stack(finite_maps(given(model), check_pictures(images), heads, norm=norm)[0])


def check_pictures(images) -> torch.Tensor:
    """Refuse what are no pictures as a model takes them."""
    if not isinstance(images, torch.Tensor) or images.ndim != 4:
        came = tuple(images.shape) if isinstance(images, torch.Tensor) else brief(images)
        hint = ": read files first, by PIL and np.stack" if isinstance(images, (str, list, tuple)) else ""
        raise ValueError(f"images must be a (B, c, H, W) tensor, got {came}{hint}")
    if not len(images) or images.is_meta:
        raise ValueError(f"images must be one at least, with numbers, got {brief(images)}")
    if not images.is_floating_point():
        raise ValueError(f"images must be floating-point, normalized as for training, got {images.dtype}")
    if bad := int((~torch.isfinite(images)).flatten(1).any(dim=1).sum()):
        raise ValueError(f"images must be finite, got NaN or infinite pixels in {bad} of {len(images)}")
    return images


def finite_maps(read: Given, images, heads=None, grid=None, norm=None):
    """The maps of each layer, (B, H, N, N), and the grid of patches; refused where one is not finite.

    Raises
    ------
    ValueError
        If one is not finite, and where :func:`attention_of` refuses.
    """
    maps, sides = families.maps_between_patches(read.model, images, read.name, heads, grid, read.about, norm)
    for layer, S in enumerate(maps):
        if not torch.isfinite(S).all():
            raise ValueError(f"the attention of layer {layer} of {read.name} is not finite on these pictures")
    return maps, sides
