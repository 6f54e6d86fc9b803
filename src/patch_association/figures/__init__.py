"""One look for every plot: the palette of the quantities, the style, the drawings that recur."""

from patch_association.figures.style import COLORS, SCORES, SHADES, new_figure, set_palette, use_style
from patch_association.figures.patches import draw_matrix, draw_patches, draw_sets

__all__ = [
    "COLORS",
    "SCORES",
    "SHADES",
    "draw_matrix",
    "draw_patches",
    "draw_sets",
    "new_figure",
    "set_palette",
    "use_style",
]
