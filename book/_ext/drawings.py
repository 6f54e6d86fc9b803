"""Put figures into the page itself, so that they follow the theme and are lettered like the text.

A chapter's figures are SVG, whose colors are fixed for a white page. Here each becomes part of the HTML,
panel by panel (``panels.py``):
every color turns into a CSS variable that is the stored color by day and its counterpart at night, the
names inside the drawing become the figure's own, and the alternative text becomes its accessible name.
An SVG anywhere else (a notebook, Colab, a repository's page) stays what it is.
"""

from __future__ import annotations

import base64
import html
import re
from functools import cache
from io import BytesIO
from itertools import count
from pathlib import Path

import numpy as np
from docutils import nodes
from panels import Figure, Panel, written
from PIL import Image

from patch_lab.kit.figures.style import DARK, PAPER, SCORES

#: By how much red, green and blue of a raster may differ that has no colors.
GRAY = 6
#: What chroma makes a color and no gray, and by how much it grows on a dark page.
TINTED, VIVID = 0.03, 1.35
#: The least contrast of words with the page (WCAG 2, level AA).
CONTRAST = 4.5
_PIXELS_PER_POINT = 96 / 72
#: The color of words: of a group of glyphs, which are drawn upside down at a hundredth of their size.
_WORDS = re.compile(r'(?<=<g style="fill: )(#[0-9a-fA-F]{6})(?="[^>]*scale\(0\.\d+ -0\.\d+\))')
_COLOR = re.compile(r"(?<=[:\s\"])(#[0-9a-fA-F]{6})(?=[;\"\s])")


def draw(svg: str, prefix: str, alt: str) -> str:
    """The HTML of a stored drawing: its panels, each an SVG, where they stood."""
    if re.search(r"<svg\b[^>]*>.*</svg>", svg, re.DOTALL) is None:
        raise ValueError("not an SVG: it has no <svg> element")
    if re.search(r'viewBox="[\d.\s-]+"', svg) is None:
        raise ValueError("an SVG without a viewBox cannot be fitted to the page")
    figure = Figure(svg)
    rows = figure.rows()
    bodies = [["".join(map(written, panel.parts)) for panel in row] for row in rows]
    bodies[0][0] = "".join(map(written, figure.root.findall("defs"))) + bodies[0][0]
    mark = "\0"  # where one panel ends, so that all share their names and colors
    body = _own_names(mark.join(letter for row in bodies for letter in row), prefix)
    body = re.sub(r'(?<= d=")[^"]+', lambda path: _shorter(path[0]), body)
    body = re.sub(r"[ \t]*\n\s*", "\n", body)
    body = re.sub(r'<image\b(?=[^>]*base64,\s*([^"]+)")', _turned, body)
    words = sorted({color.lower() for color in _WORDS.findall(body) if tinted(color)})
    body = _WORDS.sub(
        lambda color: (
            f"var(--t{color[1][1:].lower()},{legible(color[1], PAPER)})" if tinted(color[1]) else color[1]
        ),
        body,
    )
    colors = sorted({color.lower() for color in _COLOR.findall(body)})
    body = _COLOR.sub(lambda color: f"var(--c{color[1][1:].lower()},{color[1].lower()})", body)
    paper = PAPER.lower()  # is the page itself
    night = "".join(f"--c{c[1:]}:{dark(c) if c != paper else 'var(--pst-color-background)'};" for c in colors)
    night += "".join(f"--t{c[1:]}:{legible(dark(c), DARK[PAPER])};" for c in words)
    parts = iter(body.split(mark))
    drawn = []
    # In two rows, what stands below a panel and has no title belongs to it: on a phone it follows it.
    below = [len(row) for row in rows] == 2 * [len(rows[0])] and not any(panel.titled for panel in rows[1])
    for line, row in enumerate(rows):
        reached = 0.0
        panels = []
        for column, panel in enumerate(row):
            order = len(rows) * column + line if below else 0
            panels.append(_panel(panel, next(parts), figure.wide, reached, order))
            reached = panel.box[2]
        drawn.append(f'<span class="pa-row">{"".join(panels)}</span>')
    most = max(panel.box[2] - panel.box[0] for row in rows for panel in row)
    wide, most = (round(_PIXELS_PER_POINT * x) for x in (figure.wide, most))
    return (
        f'<span class="pa-drawing" role="img" aria-label="{html.escape(alt)}" '
        f'style="--wide:{wide}px;--most:{most}px">'
        f"<style>html[data-theme=dark] .pa-drawing{{{night}}}</style>{''.join(drawn)}</span>"
    )


def _turned(image: re.Match) -> str:
    """A raster of grays, or of scores, gets a class: its light is dark on a dark page, as axes are."""
    with Image.open(BytesIO(base64.b64decode(image[1]))) as raster:
        color = np.asarray(raster.convert("RGB"), dtype=int)
    spread = color.max(axis=-1) - color.min(axis=-1)
    if spread.max() <= GRAY:
        return f'{image[0]} class="pa-gray"'
    seen = np.unique(color.reshape(-1, 3), axis=0)  # (H, W, 3) to its colors
    ramp = np.round(255 * SCORES(np.linspace(0, 1, 256))[:, :3])  # (256, 3)
    apart = np.abs(seen[:, None] - ramp).max(axis=-1).min(axis=-1)
    return f'{image[0]} class="pa-scores"' if apart.max() <= GRAY else image[0]


def _panel(panel: Panel, body: str, wide: float, reached: float, order: int) -> str:
    """A panel in its row: its width and the gaps around it are shares of the figure's width."""
    x0, y0, x1, y1 = panel.box
    top, bottom = panel.row
    w, h = (round(x * _PIXELS_PER_POINT) for x in (x1 - x0, y1 - y0))
    share, above, under, before = (
        f"{100 * x / wide:.3f}%" for x in (x1 - x0, y0 - top, bottom - y1, x0 - reached)
    )
    return (
        f'<span class="pa-panel" style="--order:{order};--w:{w}px;'
        f'width:{share};margin:{above} 0 {under} {before}">'
        f'<svg aria-hidden="true" viewBox="{x0:.2f} {y0:.2f} {x1 - x0:.2f} {y1 - y0:.2f}" '
        f'width="{w}" height="{h}">{body}</svg></span>'
    )


def _own_names(body: str, prefix: str) -> str:
    """Ids that are referred to get a prefix, the others go: two drawings on one page may share names."""
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', body))
    body = re.sub(
        r'\s+id="([^"]+)"', lambda name: f' id="{prefix}{name[1]}"' if name[1] in used else "", body
    )
    return re.sub(r'(xlink:)?(href="#|url\(#)', lambda start: start[2] + prefix, body)


def _shorter(path: str) -> str:
    """A path with two decimals: a hundredth of a point is not seen."""
    return re.sub(
        r"\s+", " ", re.sub(r"-?\d+\.\d+", lambda x: f"{float(x[0]):.2f}".rstrip("0").rstrip("."), path)
    )


@cache
def dark(color: str) -> str:
    """The counterpart of a color on a dark page: the palette's own, or the same hue at mirrored lightness."""
    known = {light.lower(): night for light, night in DARK.items()}
    if color in known:
        return known[color].lower()
    L, a, b = _oklab(color)
    if not tinted(color):
        return _from_oklab(0.93 - 0.72 * L, a, b)
    return _from_oklab(1.055 - 0.82 * L, VIVID * a, VIVID * b)  # a pale tint would be mud


def tinted(color: str) -> bool:
    """Whether it is a color, and no gray."""
    return bool(np.hypot(*_oklab(color)[1:]) >= TINTED)


@cache
def legible(color: str, ground: str) -> str:
    """The color, or the nearest lightness of its hue in which words are read on the ground."""
    L, a, b = _oklab(color)
    away = -0.01 if _luminance(ground) > 0.5 else 0.01
    while contrast(color, ground) < CONTRAST:
        L += away
        color = _from_oklab(L, a, b)
    return color


def contrast(color: str, other: str) -> float:
    """The contrast of two colors, as WCAG 2 has it: from 1 to 21."""
    low, high = sorted((_luminance(color), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    return float(np.dot((0.2126, 0.7152, 0.0722), _linear(color)))


_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def _linear(color: str) -> np.ndarray:
    c = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def _oklab(color: str) -> np.ndarray:
    return _LAB @ np.cbrt(_CONES @ _linear(color))


def _from_oklab(*lab: float) -> str:
    linear = np.clip(np.linalg.solve(_CONES, np.linalg.solve(_LAB, np.array(lab)) ** 3), 0, 1)
    c = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * x):02x}" for x in c)


#: What a color of a figure is called on a dark page.
NIGHT = {"crimson": "pink", "black": "white", "brown": "orange", "dark": "bright", "white": "dark"}
AS_WRITTEN = (nodes.literal, nodes.literal_block, nodes.math, nodes.raw)
_NAMED = re.compile(
    r"\b(?:crimson|brown|black(?= (?:line|path|frame|curve))"
    r"|dark(?= (?:where|around))|white(?= panel)|(?<=stay )white)\b"
)


def name_colors(doctree: nodes.document) -> None:
    """Words for colors that a dark page changes stand there twice, and each theme shows its own."""
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, AS_WRITTEN):
            say_twice(text, _NAMED, lambda named: NIGHT[named[0]], ("pa-day", "pa-night"))


#: A panel's place in a caption, on a desk; on a phone panels stand below one another, and are counted.
_PLACED = re.compile(
    r"\b(?P<head>Left|Middle|Right)(?=[:,])|\b(?P<on>[Oo])n the (?P<side>left|right)\b"
    r"|(?<=\()(?P<note>left|middle|right)(?=\))"
)


def name_places(doctree: nodes.document) -> None:
    """Words for the places of panels stand in captions twice, and each screen shows its own."""
    for caption in doctree.findall(nodes.caption):
        last = "third" if re.search(r"\b[Mm]iddle\b", caption.astext()) else "second"
        count = {"left": "first", "middle": "second", "right": last}

        def counted(place: re.Match, count: dict[str, str] = count) -> str:
            if place["side"]:
                start = "In" if place["on"] == "O" else "in"
                return f"{start} the {count[place['side']]} panel"
            return count[place["note"]] if place["note"] else count[place["head"].lower()].capitalize()

        for text in list(caption.findall(nodes.Text)):
            if not isinstance(text.parent, AS_WRITTEN):
                say_twice(text, _PLACED, counted, ("pa-wide", "pa-narrow"))


def say_twice(text: nodes.Text, pattern: re.Pattern, other, classes: tuple[str, str]) -> None:
    """Each match stands there as it is, and then as ``other`` says it, in spans of two classes."""
    written = text.astext()
    words: list[nodes.Node] = []
    reached = 0
    for match in pattern.finditer(written):
        if match.start() > reached:
            words.append(nodes.Text(written[reached : match.start()]))
        words.append(nodes.inline("", match[0], classes=[classes[0]]))
        words.append(nodes.inline("", other(match), classes=[classes[1]]))
        reached = match.end()
    if not reached:
        return
    if written[reached:]:
        words.append(nodes.Text(written[reached:]))
    inside = text.parent
    place = next(k for k, child in enumerate(inside.children) if child is text)  # others may read the same
    inside[place : place + 1] = words


def inline(app, doctree: nodes.document, docname: str) -> None:
    """Replace a page's SVG images by the drawings themselves."""
    if app.builder.format != "html":
        return
    name_colors(doctree)
    name_places(doctree)
    numbers = count(1)
    for image in list(doctree.findall(nodes.image)):
        if not image["uri"].endswith(".svg") or "://" in image["uri"]:
            continue
        svg = Path(app.srcdir, image["uri"].lstrip("/")).read_text(encoding="utf-8")
        if 'id="figure_1"' not in svg:  # a badge, with colors of its own
            continue
        content = draw(svg, f"f{next(numbers)}-", image.get("alt", ""))
        image.replace_self(nodes.raw("", content, format="html", classes=image.get("classes", [])))


def setup(app) -> dict:
    """Run after the images were collected."""
    app.connect("doctree-resolved", inline)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
