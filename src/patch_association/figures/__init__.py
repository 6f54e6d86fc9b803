"""One look for every plot: the palette of the quantities, the style, the drawings that recur."""

from patch_association.figures.dynamics_coupling import draw_paths, draw_power_law
from patch_association.figures.dynamics_limits import (
    draw_drift_map,
    draw_lifetimes,
    draw_rate_map,
    draw_sorted_scores,
    draw_steps_needed,
)
from patch_association.figures.dynamics_realistic import (
    draw_figure_four,
    draw_frames,
    draw_same_set,
    plot_seeds,
)
from patch_association.figures.gaussian import (
    plot_curves,
    plot_first_step,
    plot_learned_matrices,
    plot_learners,
    plot_linear_share,
)
from patch_association.figures.idealized import (
    draw_atoms,
    draw_constants,
    draw_drift,
    draw_end_of_alpha,
    draw_entries,
    draw_events,
    label_events,
)
from patch_association.figures.images import (
    draw_head_maps,
    draw_montage,
    plot_head_maps,
    plot_losses,
    plot_montages,
    plot_pictures,
    plot_recorded_losses,
    plot_rows,
    plot_shuffle_accuracy,
)
from patch_association.figures.style import COLORS, SCORES, SHADES, new_figure, set_palette, use_style
from patch_association.figures.linear import draw_normal_error, draw_phase_diagram
from patch_association.figures.patches import draw_matrix, draw_patches, draw_sets
from patch_association.figures.transfer import (
    draw_pretraining,
    plot_complexities,
    plot_dilution,
    plot_heads,
    plot_mismatch,
    plot_sample_curves,
)

__all__ = [
    "COLORS",
    "SCORES",
    "SHADES",
    "draw_atoms",
    "draw_constants",
    "draw_drift",
    "draw_drift_map",
    "draw_end_of_alpha",
    "draw_entries",
    "draw_events",
    "draw_figure_four",
    "draw_frames",
    "draw_head_maps",
    "draw_lifetimes",
    "draw_matrix",
    "draw_montage",
    "draw_normal_error",
    "draw_patches",
    "draw_paths",
    "draw_phase_diagram",
    "draw_pretraining",
    "draw_power_law",
    "draw_rate_map",
    "draw_same_set",
    "draw_sets",
    "draw_sorted_scores",
    "draw_steps_needed",
    "label_events",
    "new_figure",
    "plot_complexities",
    "plot_curves",
    "plot_dilution",
    "plot_first_step",
    "plot_head_maps",
    "plot_heads",
    "plot_learned_matrices",
    "plot_learners",
    "plot_linear_share",
    "plot_losses",
    "plot_mismatch",
    "plot_montages",
    "plot_pictures",
    "plot_recorded_losses",
    "plot_rows",
    "plot_sample_curves",
    "plot_seeds",
    "plot_shuffle_accuracy",
    "set_palette",
    "use_style",
]
