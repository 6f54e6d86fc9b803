# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .complexity import (
    GrowthFit as GrowthFit,
    SampleComplexity as SampleComplexity,
    crossing as crossing,
    growth_fits as growth_fits,
    sample_complexity as sample_complexity,
    slope_interval as slope_interval,
)
from .discovery import (
    FoundSets as FoundSets,
    coactivation as coactivation,
    first_moment as first_moment,
    likelihood_sets as likelihood_sets,
    refined_feature as refined_feature,
)
from .fine_tuning import (
    FineTuned as FineTuned,
    draw_reads as draw_reads,
    fine_tune as fine_tune,
    usual_step as usual_step,
)
from .learners import (
    FixedAttentionFit as FixedAttentionFit,
    Outcome as Outcome,
    error_table as error_table,
    train_from_scratch as train_from_scratch,
    with_fixed_attention as with_fixed_attention,
)
from .logistic import (
    fit_logistic as fit_logistic,
    linear_test_error as linear_test_error,
    tuned_logistic as tuned_logistic,
)
from .mismatch import (
    Heads as Heads,
    SeveralFeatures as SeveralFeatures,
    draw_several as draw_several,
    reassign as reassign,
    several_errors as several_errors,
    shared_attention as shared_attention,
)
from .overlap import OverlapRule as OverlapRule, overlap_rule as overlap_rule
from .recorded import (
    averaged_by_patches as averaged_by_patches,
    by_patches as by_patches,
    errors_by_size as errors_by_size,
)
