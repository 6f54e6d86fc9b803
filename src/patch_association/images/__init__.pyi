# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .locality import (
    Locality as Locality,
    encoding_locality as encoding_locality,
    neighbor_recall as neighbor_recall,
    similarity as similarity,
)
from .looking import Look as Look, Looking as Looking, look as look
from .maps import positional_share as positional_share
from .pretrained import (
    attention_of as attention_of,
    encodings_of as encodings_of,
)
from .vit import ViT as ViT, ViTConfig as ViTConfig
from .weights import read_weights as read_weights
