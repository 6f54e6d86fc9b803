# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .patches import (
    draw_matrix as draw_matrix,
    draw_patches as draw_patches,
    draw_sets as draw_sets,
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
    new_figure as new_figure,
    style_of as style_of,
    styles_of as styles_of,
    tints as tints,
    use_style as use_style,
)
from .tables import (
    table as table,
)
