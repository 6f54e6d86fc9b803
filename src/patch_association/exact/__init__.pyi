# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .integer_sums import trinomial as trinomial
from .labels import (
    bayes_error as bayes_error,
    labeling_bounds as labeling_bounds,
    mimic_probability as mimic_probability,
)
from .linear import (
    best_arbitrary_error as best_arbitrary_error,
    best_monotone_error as best_monotone_error,
    critical_q as critical_q,
    decode as decode,
    decoding_weights as decoding_weights,
    labeling_error as labeling_error,
    labeling_law as labeling_law,
    linear_error as linear_error,
    search_weights as search_weights,
    weighted_law as weighted_law,
)
from .linear_bounds import (
    any_weights_bound as any_weights_bound,
    any_weights_boundary as any_weights_boundary,
    loud_tails as loud_tails,
    set_weights_bound as set_weights_bound,
    spread_weights_bound as spread_weights_bound,
)
from .risk import PopulationRisk as PopulationRisk
from .set_sums import (
    SupportTooLarge as SupportTooLarge,
    law_of_set_sums as law_of_set_sums,
    support_bound as support_bound,
)
