"""Families of ViTs: what they call their parts, which rows are those of patches, and what their maps are.

Known are timm's plain ViTs, those of transformers and of torchvision, whatever attends through
``nn.MultiheadAttention``, and this library's own; as modules or, where the layers are plain, as tensors.

``naming``     what parts are called, and the sizes that names and shapes tell
``watching``   running a module, and seeing its attention and its tokens
``encodings``  which rows of which tensor are the encodings of patches
``tensors``    the attention of a plain ViT from its tensors alone
``maps``       the attention between patches, of any of these
"""

from patch_association.images.families.encodings import Encodings, encodings_in
from patch_association.images.families.maps import maps_between_patches
from patch_association.images.families.naming import (
    channels_of,
    grid_of,
    has_positions,
    other_tokens,
    size_of,
    tensors_of,
    timms_names,
    unwrapped,
)
from patch_association.images.families.tensors import how_many_heads, not_told, where_norms_stand
from patch_association.images.families.watching import in_evaluation

__all__ = [
    "Encodings",
    "channels_of",
    "encodings_in",
    "grid_of",
    "has_positions",
    "how_many_heads",
    "in_evaluation",
    "maps_between_patches",
    "not_told",
    "other_tokens",
    "size_of",
    "tensors_of",
    "timms_names",
    "unwrapped",
    "where_norms_stand",
]
