"""One look for every figure and table: the palettes, the style, the drawings that recur, a file a part."""

from patch_lab.figures.dynamics import (
    draw_atoms,
    draw_constants,
    draw_drift,
    draw_drift_map,
    draw_entries,
    draw_events,
    draw_figure_four,
    draw_frames,
    draw_paths,
    draw_portrait,
    draw_power_law,
    draw_rate_map,
    draw_steps_needed,
    label_events,
)
from patch_lab.figures.images import (
    draw_montage,
    plot_exchanged,
    plot_head_maps,
    plot_looking,
    plot_losses,
    plot_montages,
    plot_pictures,
    plot_rows,
    plot_shuffle_accuracy,
    plot_study,
    plot_study_shuffles,
)
from patch_lab.figures.lifetimes import draw_counts, draw_margins, draw_predicted_lifetimes, draw_reach
from patch_lab.figures.patches import draw_matrix, draw_patches, draw_sets, mark_patch
from patch_lab.figures.setting import (
    draw_normal_error,
    plot_first_step,
    plot_learned_matrices,
    plot_learners,
    plot_linear_share,
)
from patch_lab.figures.style import (
    CATEGORIES,
    COLORS,
    INK,
    PAPER,
    SCORES,
    draw_band,
    draw_estimate,
    draw_means,
    label_ends,
    label_ticks,
    look,
    looks,
    new_figure,
    seaborn_looks,
    set_palette,
    tints,
    use_style,
)
from patch_lab.figures.tables import Table, table
from patch_lab.figures.transfer import (
    draw_pretraining,
    plot_complexities,
    plot_dilution,
    plot_heads,
    plot_limits,
    plot_mismatch,
    plot_sample_curves,
)
