# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .attention import positional_attention as positional_attention, self_attention as self_attention
from .data import Law as Law, SpatialData as SpatialData
from .exact.linear import labeling_error as labeling_error, linear_error as linear_error
from .exact.risk import PopulationRisk as PopulationRisk
from .model import SimplifiedViT as SimplifiedViT
from .structure import Partition as Partition, association as association
from .training import (
    Constant as Constant,
    Descent as Descent,
    HeldOut as HeldOut,
    Samples as Samples,
    descend as descend,
    descend_population as descend_population,
    realistic_start as realistic_start,
)

__all__: list[str]
__version__: str
