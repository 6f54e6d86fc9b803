"""One look for every plot: the palette of the quantities, the style, the drawings that recur."""

from patch_association.figures.gaussian import (
    plot_curves,
    plot_first_step,
    plot_learned_matrices,
    plot_learners,
    plot_linear_share,
)
from patch_association.figures.style import COLORS, SCORES, SHADES, new_figure, set_palette, use_style
from patch_association.figures.linear import draw_normal_error, draw_phase_diagram
from patch_association.figures.patches import draw_matrix, draw_patches, draw_sets

__all__ = [
    "COLORS",
    "SCORES",
    "SHADES",
    "draw_matrix",
    "draw_normal_error",
    "draw_patches",
    "draw_phase_diagram",
    "draw_sets",
    "new_figure",
    "plot_curves",
    "plot_first_step",
    "plot_learned_matrices",
    "plot_learners",
    "plot_linear_share",
    "set_palette",
    "use_style",
]
