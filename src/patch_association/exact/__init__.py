"""What needs no sampling: laws of sums, linear predictors, constructions, the population risk, limits.

The names below are the room's face; each is imported from its module when it is first used.

``laws``, ``types_law``  laws of integer sums, and of the set sums of Assumption 1
``labels``  the least error of any predictor, and what the labeling function does
``linear``, ``linear_bounds``  generalized linear predictors (Theorem 3.1), and bounds for all weights
``constructions``, ``optimality``  attention built by hand (Theorem 3.2), and when none is better
``risk``, ``draw_noise``, ``score_rates``  the population risk of (T), its noise, and the rates of Lemma 4.3
``drift``, ``sign``  which way the scores first move, and for which q
``lifetime``  how far single scores stray on N inputs, to first order
``block_attention``, ``block_error``, ``dilution``, ``noisy_scores``  attention held fixed, and its errors
``sample_bounds``, ``sample_limits``  what no learner can do better, at N samples and in the limit
``gaussian``, ``set_blind``  the cubic label on Gaussian patches
``costs``  operations and bytes
"""

from typing import TYPE_CHECKING

from patch_association._faces import face

if TYPE_CHECKING:  # what a type checker and an editor see; at run time ``face`` does the same, lazily
    from patch_association.exact.block_attention import BlockAttention, DenseAttention
    from patch_association.exact.block_error import exact_error
    from patch_association.exact.constructions import (
        association_scores,
        chain_encodings,
        derangement_scores,
        hard_attention_bound,
        hard_attention_error,
        paired_encodings,
        query_key_for,
        violations,
    )
    from patch_association.exact.costs import (
        descent_cost,
        positional_attention_flops,
        self_attention_flops,
        simplified_flops,
    )
    from patch_association.exact.dilution import (
        broken_set_error,
        diluted_error,
        diluted_limit,
        in_set_mass,
        linear_weight,
        mismatch_forecast,
    )
    from patch_association.exact.draw_noise import draw_moments, draws_needed
    from patch_association.exact.drift import small_diagonal_drift
    from patch_association.exact.gaussian import (
        critical_diagonal,
        critical_ratio,
        linear_disagreement,
        proved_excess,
        sample_excess,
        sample_linear_disagreement,
    )
    from patch_association.exact.labels import bayes_error, labeling_bounds, mimic_probability
    from patch_association.exact.laws import trinomial
    from patch_association.exact.lifetime import ScoreNoise
    from patch_association.exact.linear import (
        best_arbitrary_error,
        best_monotone_error,
        critical_q,
        decode,
        decoding_weights,
        labeling_error,
        labeling_law,
        linear_error,
        search_weights,
        weighted_law,
    )
    from patch_association.exact.linear_bounds import (
        any_weights_bound,
        any_weights_boundary,
        any_weights_limit,
        rademacher_tail,
        spread_weights_bound,
    )
    from patch_association.exact.noisy_scores import noisy_association
    from patch_association.exact.optimality import cubic_form
    from patch_association.exact.risk import PopulationRisk
    from patch_association.exact.sample_bounds import (
        known_sets_error,
        lower_bound,
        set_mean_cosine,
        wrong_sign,
    )
    from patch_association.exact.sample_limits import (
        all_sets_told,
        equal_weights,
        far_sets_told,
        samples_per_set,
        weights_by_count,
    )
    from patch_association.exact.set_blind import blind_errors, num_partitions
    from patch_association.exact.sign import FirstMove, best_strengths, lower_edge, upper_edge, window
    from patch_association.exact.types_law import SupportTooLarge, law_of_set_sums, support_bound

_MODULES = {
    "block_attention": "BlockAttention DenseAttention",
    "block_error": "exact_error",
    "constructions": (
        "association_scores chain_encodings derangement_scores hard_attention_bound "
        "hard_attention_error paired_encodings query_key_for violations"
    ),
    "costs": "descent_cost positional_attention_flops self_attention_flops simplified_flops",
    "dilution": "broken_set_error diluted_error diluted_limit in_set_mass linear_weight mismatch_forecast",
    "draw_noise": "draw_moments draws_needed",
    "drift": "small_diagonal_drift",
    "gaussian": (
        "critical_diagonal critical_ratio linear_disagreement proved_excess sample_excess "
        "sample_linear_disagreement"
    ),
    "labels": "bayes_error labeling_bounds mimic_probability",
    "laws": "trinomial",
    "lifetime": "ScoreNoise",
    "linear": (
        "best_arbitrary_error best_monotone_error critical_q decode decoding_weights labeling_error "
        "labeling_law linear_error search_weights weighted_law"
    ),
    "linear_bounds": (
        "any_weights_bound any_weights_boundary any_weights_limit rademacher_tail spread_weights_bound"
    ),
    "noisy_scores": "noisy_association",
    "optimality": "cubic_form",
    "risk": "PopulationRisk",
    "sample_bounds": "known_sets_error lower_bound set_mean_cosine wrong_sign",
    "sample_limits": "all_sets_told equal_weights far_sets_told samples_per_set weights_by_count",
    "set_blind": "blind_errors num_partitions",
    "sign": "FirstMove best_strengths lower_edge upper_edge window",
    "types_law": "SupportTooLarge law_of_set_sums support_bound",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "BlockAttention",
    "DenseAttention",
    "FirstMove",
    "PopulationRisk",
    "ScoreNoise",
    "SupportTooLarge",
    "all_sets_told",
    "any_weights_bound",
    "any_weights_boundary",
    "any_weights_limit",
    "association_scores",
    "bayes_error",
    "best_arbitrary_error",
    "best_monotone_error",
    "best_strengths",
    "blind_errors",
    "broken_set_error",
    "chain_encodings",
    "critical_diagonal",
    "critical_q",
    "critical_ratio",
    "cubic_form",
    "decode",
    "decoding_weights",
    "derangement_scores",
    "descent_cost",
    "diluted_error",
    "diluted_limit",
    "draw_moments",
    "draws_needed",
    "equal_weights",
    "exact_error",
    "far_sets_told",
    "hard_attention_bound",
    "hard_attention_error",
    "in_set_mass",
    "known_sets_error",
    "labeling_bounds",
    "labeling_error",
    "labeling_law",
    "law_of_set_sums",
    "linear_disagreement",
    "linear_error",
    "linear_weight",
    "lower_bound",
    "lower_edge",
    "mimic_probability",
    "mismatch_forecast",
    "noisy_association",
    "num_partitions",
    "paired_encodings",
    "positional_attention_flops",
    "proved_excess",
    "query_key_for",
    "rademacher_tail",
    "sample_excess",
    "sample_linear_disagreement",
    "samples_per_set",
    "search_weights",
    "self_attention_flops",
    "set_mean_cosine",
    "simplified_flops",
    "small_diagonal_drift",
    "spread_weights_bound",
    "support_bound",
    "trinomial",
    "upper_edge",
    "violations",
    "weighted_law",
    "weights_by_count",
    "window",
    "wrong_sign",
]

__getattr__, __dir__ = face(__name__, _HOME)
