# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .block_attention import BlockAttention as BlockAttention, DenseAttention as DenseAttention
from .block_error import exact_error as exact_error
from .constructions import (
    association_scores as association_scores,
    chain_encodings as chain_encodings,
    derangement_scores as derangement_scores,
    hard_attention_bound as hard_attention_bound,
    hard_attention_error as hard_attention_error,
    paired_encodings as paired_encodings,
    query_key_for as query_key_for,
    violations as violations,
)
from .costs import (
    descent_cost as descent_cost,
    positional_attention_flops as positional_attention_flops,
    self_attention_flops as self_attention_flops,
    simplified_flops as simplified_flops,
)
from .dilution import (
    broken_set_error as broken_set_error,
    diluted_error as diluted_error,
    diluted_limit as diluted_limit,
    in_set_mass as in_set_mass,
    linear_weight as linear_weight,
    mismatch_forecast as mismatch_forecast,
)
from .draw_noise import draw_moments as draw_moments, draws_needed as draws_needed
from .drift import small_diagonal_drift as small_diagonal_drift
from .gaussian import (
    critical_diagonal as critical_diagonal,
    critical_ratio as critical_ratio,
    linear_disagreement as linear_disagreement,
    proved_excess as proved_excess,
    sample_excess as sample_excess,
    sample_linear_disagreement as sample_linear_disagreement,
)
from .labels import (
    bayes_error as bayes_error,
    labeling_bounds as labeling_bounds,
    mimic_probability as mimic_probability,
)
from .laws import trinomial as trinomial
from .lifetime import ScoreNoise as ScoreNoise
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
    any_weights_limit as any_weights_limit,
    rademacher_tail as rademacher_tail,
    spread_weights_bound as spread_weights_bound,
)
from .noisy_scores import noisy_association as noisy_association
from .optimality import cubic_form as cubic_form
from .risk import PopulationRisk as PopulationRisk
from .sample_bounds import (
    known_sets_error as known_sets_error,
    lower_bound as lower_bound,
    set_mean_cosine as set_mean_cosine,
    wrong_sign as wrong_sign,
)
from .sample_limits import (
    all_sets_told as all_sets_told,
    equal_weights as equal_weights,
    far_sets_told as far_sets_told,
    samples_per_set as samples_per_set,
    weights_by_count as weights_by_count,
)
from .set_blind import blind_errors as blind_errors, num_partitions as num_partitions
from .sign import (
    FirstMove as FirstMove,
    best_strengths as best_strengths,
    lower_edge as lower_edge,
    upper_edge as upper_edge,
    window as window,
)
from .types_law import (
    SupportTooLarge as SupportTooLarge,
    law_of_set_sums as law_of_set_sums,
    support_bound as support_bound,
)
