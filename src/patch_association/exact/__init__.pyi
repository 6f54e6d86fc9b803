# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .integer_sums import trinomial as trinomial
from .labels import (
    bayes_error as bayes_error,
)
from .linear import (
    labeling_error as labeling_error,
    labeling_law as labeling_law,
    linear_error as linear_error,
)
from .risk import PopulationRisk as PopulationRisk
from .set_sums import (
    SupportTooLarge as SupportTooLarge,
    law_of_set_sums as law_of_set_sums,
    support_bound as support_bound,
)
