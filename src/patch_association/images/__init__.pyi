# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .data import ImageSet as ImageSet, load as load
from .data.permutation import GridPermutation as GridPermutation
from .locality import (
    Locality as Locality,
    encoding_locality as encoding_locality,
    neighbor_recall as neighbor_recall,
    similarity as similarity,
)
from .maps import (
    AttentionMaps as AttentionMaps,
    attention_maps as attention_maps,
    positional_share as positional_share,
)
from .models import ViT as ViT, ViTConfig as ViTConfig
from .pretrained import (
    attention_of as attention_of,
    encodings_of as encodings_of,
    vit_of as vit_of,
)
from .puzzle import Assembly as Assembly, assemble as assemble, cosines as cosines
from .training import (
    TrainConfig as TrainConfig,
    load_run as load_run,
    train as train,
    train_short as train_short,
)
from .weights import read_weights as read_weights
