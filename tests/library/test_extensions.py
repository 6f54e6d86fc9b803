"""What the pages' extensions make of drawings and words, without a build."""

import io
import re

import cells
import drawings
import essay
import gallery
import guides
import numpy as np
import panels
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from matplotlib import colormaps
from sphinx.errors import ExtensionError

from patch_lab.kit.figures import new_figure, style

pytestmark = pytest.mark.usefixtures("book_style")


def two_panels(rows, columns):
    """A figure of two axes as Matplotlib stores it, and their boxes, in points from its top."""
    fig, axes = new_figure(rows, columns, width="wide", height=3 * rows)
    for ax, title in zip(axes, ("One thing", "Another")):
        ax.plot([1, 2, 3], [2, 1, 4], label="a curve")
        ax.set(title=title, xlabel="steps", ylabel="what is measured")
    fig.set_dpi(72)
    fig.draw_without_rendering()
    high = fig.bbox.height
    boxes = [ax.get_tightbbox() for ax in axes]
    file = io.StringIO()
    fig.savefig(file, format="svg")
    return file.getvalue(), [(box.x0, high - box.y1, box.x1, high - box.y0) for box in boxes]


@pytest.mark.parametrize("shape", [(1, 2), (2, 1)])
def test_each_panel_is_where_matplotlib_drew_its_axes(shape):
    svg, boxes = two_panels(*shape)
    drawn = [panel for row in panels.Figure(svg).rows() for panel in row]
    assert [panel.titled for panel in drawn] == [True, True]
    for panel, box in zip(drawn, boxes, strict=True):
        ink = panels.union(panels.Figure(svg).ink(part) for part in panel.parts)
        np.testing.assert_allclose(ink, box, atol=4)
        assert panel.box[0] <= ink[0] and ink[2] <= panel.box[2]


def test_a_panel_is_as_large_as_its_part_of_the_drawing():
    soup = BeautifulSoup(drawings.draw(two_panels(2, 1)[0], "p", "Two curves."), "html.parser")
    for panel in soup.select(".pa-panel"):
        svg = panel.select_one("svg")
        desk = [float(x) for x in svg["viewbox"].split()]
        assert [int(svg[side]) for side in ("width", "height")] == [round(x * 4 / 3) for x in desk[2:]]
        assert f"--w:{svg['width']}px" in panel["style"]


def test_a_panel_shows_on_a_phone_the_scale_that_its_neighbor_has():
    """It is drawn at its own side, in room that lies under the neighbor on a desk."""
    fig, axes = new_figure(1, 2, sharey=True)
    for ax in axes:
        ax.plot([1, 2, 3], [2, 1, 4])
    file = io.StringIO()
    fig.savefig(file, format="svg")
    soup = BeautifulSoup(drawings.draw(file.getvalue(), "p", "Two curves."), "html.parser")
    first, second = soup.select(".pa-panel")
    assert not first.select(".pa-lent") and len(second.select(".pa-lent")) == 1
    before = [float(re.search(r"margin:\S+ 0 \S+ (\S+)%", one["style"])[1]) for one in (first, second)]
    assert before[0] >= 0 > before[1]
    assert int(second.svg["width"]) >= int(first.svg["width"]) - 20  # no label


def test_words_of_a_drawing_are_read_on_either_ground():
    """A pale curve keeps its color; its name, and its night, have the contrast that words need."""
    fig, ax = new_figure(width="half")
    ax.plot([1, 2], [1, 2], color="#9FC4EE")
    ax.text(1, 1.5, "pale", color="#9FC4EE")
    file = io.StringIO()
    fig.savefig(file, format="svg")
    drawn = drawings.draw(file.getvalue(), "p", "A pale curve.")
    day = re.search(r"var\(--t9fc4ee,(#\w{6})\)", drawn)[1]
    night = re.search(r"--t9fc4ee:(#\w{6});", drawn)[1]
    assert drawings.contrast(day, style.PAPER) >= 4.5
    assert drawings.contrast(night, style.DARK[style.PAPER]) >= 4.5
    assert "stroke: var(--c9fc4ee,#9fc4ee)" in drawn
    assert drawings.contrast("#000000", "#ffffff") == pytest.approx(21)


def test_a_tint_carries_words_by_night_as_by_day():
    """Ink on what is pale, paper on what is deep: what is read by day is read by night."""
    night = {ground: drawings.dark(ground.lower()) for ground in (style.INK, style.PAPER)}
    for hue in np.linspace(0, 2 * np.pi, 13):
        for L in np.linspace(0.3, 0.95, 14):
            color = drawings._from_oklab(L, 0.06 * np.cos(hue), 0.06 * np.sin(hue))
            for ground, least in ((style.INK, 5.5), (style.PAPER, 4.5)):
                if drawings.tinted(color) and drawings.contrast(color, ground) >= least:
                    assert drawings.contrast(drawings.dark(color), night[ground]) >= 4.5, (color, ground)


def test_a_raster_of_scores_turns_with_the_page_and_a_photograph_does_not():
    ramp, other = (
        drawings.draw(raster(colors), "p", "A raster.") for colors in (style.SCORES, colormaps["viridis"])
    )
    assert 'class="pa-scores"' in ramp and "pa-scores" not in other


def raster(colors) -> str:
    """Numbers from 0 to 1 in these colors, as Matplotlib stores them."""
    fig, ax = new_figure(width="half")
    ax.imshow(np.linspace(0, 1, 64).reshape(8, 8), cmap=colors, interpolation="nearest")
    file = io.StringIO()
    fig.savefig(file, format="svg")
    return file.getvalue()


def test_a_color_is_named_as_each_theme_shows_it():
    document = new_document("page")
    document += nodes.paragraph("", "The crimson curve, and no other.")
    drawings.name_colors(document)
    words = [(word.get("classes"), word.astext()) for word in document.findall(nodes.inline)]
    assert (["pa-day"], "crimson") in words and (["pa-night"], "pink") in words
    assert [text.astext() for text in document[0] if isinstance(text, nodes.Text)] == [
        "The ",
        " curve, and no other.",
    ]


@pytest.mark.parametrize(
    ("source", "drawn", "label"),
    [
        ("import numpy as np", False, "Imports"),
        ("\nfrom math import pi", True, "Imports"),
        ("ax.plot(x)", True, "Code of the figure"),
        ("important = 3", False, "Code"),
    ],
)
def test_a_fold_says_what_it_holds(source, drawn, label):
    output = nodes.container("", nodes.image(uri="a.svg") if drawn else nodes.paragraph("", "3"))
    assert cells.label_of(source, output) == label


def test_the_parameters_wait_behind_one_line():
    document = new_document("page")
    document += nodes.container("", nodes.literal_block("", "q = 0.4"), classes=["cell", "tag_parameters"])
    document += nodes.container("", nodes.literal_block("", "q + 1"), classes=["cell"])
    cells.fold_parameters(document)
    (folded,) = document.findall(cells.Fold)
    assert folded.astext() == "q = 0.4" and folded.parent is document[0]
    assert document[1][0].astext() == "q + 1"


def test_both_sheets_of_the_heap_lie_within_their_frame():
    tiles = BeautifulSoup(essay.still_heap("a.png"), "html.parser").select("svg svg")
    columns = [int(tile["x"]) for tile in tiles]
    assert len(tiles) == 2 * 196 and set(columns) == {*range(14), *range(16, 30)}  # of a frame 30 wide
    assert {int(tile["y"]) for tile in tiles} == set(range(14))


def test_the_drawings_of_the_gallery_keep_to_their_frames():
    """Bars stand on an axis inside; companions fill the diagonal of the strangers' square to its end."""
    axis, *_ = gallery.drawings()["counting"]["marks"]
    assert 80 < float(re.match(r"M4 ([\d.]+)H96", axis[1]["d"])[1]) < 96
    marks = [about for _, about in gallery.drawings()["descent"]["marks"] if "width" in about]
    ends = {about["class"]: (about["x"] + about["width"], about["y"] + about["height"]) for about in marks}
    assert ends["pa-same"] == ends["pa-other"]


#: What the theme writes, and what a screen reader should get.
RAW = {
    '<a href="x.html">3. Model (T)</a><details><summary><span class="toctree-toggle">':
        '<a href="x.html">3. Model (T)</a><details><summary aria-label="Notes on Model (T)">'
        '<span class="toctree-toggle">',
    '<p>Notes</p><details><summary><span class="toctree-toggle">':
        '<p>Notes</p><details><summary aria-label="Notes"><span class="toctree-toggle">',
    '<button class="btn search-button-field" title="Search" aria-label="Search">':
        '<button class="btn search-button-field" title="Search">',
    '<div class="sidebar-primary-item"> <a class="navbar-brand">':
        '<div class="sidebar-primary-item" role="navigation" aria-label="Home"> <a class="navbar-brand">',
    '<th class="head"><p></p></th>': "<td></td>",
    '<div role="list" class="citation-list">': '<div class="citation-list">',
    '<div class="citation" id="id3" role="doc-biblioentry">': '<div class="citation" id="id3">',
    '<span id="id1">Li [<a class="reference internal" href="references.html#id3" title="A">2023</a>]':
        '<span id="id1">Li [<a class="reference internal" href="references.html#id3" aria-label="Li 2023" '
        'title="A">2023</a>]',
    '<section class="pa-scene" data-scene="heap" aria-label="A heap"><div class="pa-ways">'
    '<a class="a" href="b">the theorem</a></div></section>':
        '<section class="pa-scene" data-scene="heap" aria-label="A heap"><div class="pa-ways">'
        '<a class="a" href="b" aria-label="the theorem: A heap">the theorem</a></div></section>',
}  # fmt: skip
#: What the search and the links to neighbors are made from.
FOUND = (
    '<h1>A</h1><p>First.</p><div class="find admonition"><p class="admonition-title">What</p>We find.</div>'
    '<section><div class="proof theorem admonition" id="thm"><p class="admonition-title">Theorem</p>It is.'
    '</div></section><figure id="fig"><figcaption><span class="caption-number">Fig. 1</span>It.</figcaption>'
    '</figure><a class="left-prev" href="b.html"><p class="prev-next-title">B</p></a>'
)


@pytest.mark.parametrize(("raw", "heard"), RAW.items())
def test_a_screen_reader_gets_a_name_for_everything_once(raw, heard):
    assert guides.named(raw) == heard
    assert guides.named(heard) == heard  # as of a page that the next build leaves alone


@pytest.mark.parametrize(
    ("mark", "lost"), [("<button", "the button of the search"), ("<h1", "the findings of a chapter")]
)
def test_a_build_says_what_the_theme_writes_in_another_way(mark, lost):
    pages = [*map(guides.named, RAW), FOUND]
    guides.require_all(pages)
    with pytest.raises(ExtensionError, match=f"no page has {lost}"):
        guides.require_all([page for page in pages if mark not in page])
