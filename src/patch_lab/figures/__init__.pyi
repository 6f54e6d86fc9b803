# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .dynamics import (
    draw_atoms as draw_atoms,
    draw_border as draw_border,
    draw_constants as draw_constants,
    draw_drift as draw_drift,
    draw_drift_map as draw_drift_map,
    draw_entries as draw_entries,
    draw_events as draw_events,
    draw_feedback as draw_feedback,
    draw_figure_four as draw_figure_four,
    draw_first_moves as draw_first_moves,
    draw_first_steps as draw_first_steps,
    draw_frames as draw_frames,
    draw_image_steps as draw_image_steps,
    draw_loudness as draw_loudness,
    draw_overshoot as draw_overshoot,
    draw_paths as draw_paths,
    draw_portrait as draw_portrait,
    draw_power_law as draw_power_law,
    draw_rate_map as draw_rate_map,
    draw_score_paths as draw_score_paths,
    draw_sketch as draw_sketch,
    draw_steps_needed as draw_steps_needed,
    draw_trap as draw_trap,
    draw_turned_rows as draw_turned_rows,
    label_events as label_events,
)
from .images import (
    plot_exchanged as plot_exchanged,
    plot_head_maps as plot_head_maps,
    plot_looking as plot_looking,
    plot_losses as plot_losses,
    plot_montages as plot_montages,
    plot_pictures as plot_pictures,
    plot_rows as plot_rows,
    plot_shuffle_accuracy as plot_shuffle_accuracy,
    plot_study as plot_study,
    plot_study_shuffles as plot_study_shuffles,
)
from .lifetimes import (
    draw_counts as draw_counts,
    draw_margins as draw_margins,
    draw_predicted_lifetimes as draw_predicted_lifetimes,
    draw_reach as draw_reach,
)
from .patches import (
    draw_matrix as draw_matrix,
    draw_patches as draw_patches,
    draw_sets as draw_sets,
)
from .setting import (
    draw_model as draw_model,
    draw_normal_error as draw_normal_error,
    plot_first_step as plot_first_step,
    plot_learned_matrices as plot_learned_matrices,
    plot_learners as plot_learners,
    plot_linear_share as plot_linear_share,
)
from .style import (
    CATEGORIES as CATEGORIES,
    COLORS as COLORS,
    INK as INK,
    SCORES as SCORES,
    draw_band as draw_band,
    draw_estimate as draw_estimate,
    label_ends as label_ends,
    label_ticks as label_ticks,
    look as look,
    looks as looks,
    new_figure as new_figure,
    tints as tints,
    use_style as use_style,
)
from .tables import (
    table as table,
)
from .transfer import (
    draw_pretraining as draw_pretraining,
    draw_pulls as draw_pulls,
    plot_complexities as plot_complexities,
    plot_dilution as plot_dilution,
    plot_heads as plot_heads,
    plot_limits as plot_limits,
    plot_mismatch as plot_mismatch,
    plot_sample_curves as plot_sample_curves,
)
