"""``explorable``: a picture that a reader moves, on its page or in a chapter, with the scripts that it needs.

::

    :::{explorable} descent
    :state: D=16&C=4&q=0.5
    :figure: fig-idealized-events
    :of: dynamics/idealized
    :shows: D=16&C=4&q=0.3
    :::

On the page ``explore/descent`` it owns the page's address. Anywhere else it is embedded: it starts with
``state``, and its link leads to its page with whatever the reader has set. What the directive contains is
shown until the script takes over, and stays where there is none.

``why`` is the paragraph that explains the answer to its question, ``setting/structure#anchor``.
``figure`` carries the message alone, and a click on it loads what it ``shows``. A figure ``of`` another
chapter is shown small below, from that chapter's stored outputs; one of the same page stays where it is.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import ClassVar

import essay
import gallery
import numpy as np
from docutils import nodes
from findings import around, finding, picture_of, raw
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

from patch_association.images.locality import encoding_locality, similarity
from patch_lab.images.puzzle import cosines
from patch_lab.kit.records import encode

FOLDER = Path(__file__).resolve().parent.parent / "_static" / "explore"
PAGES = "book/explore"
#: The engines that an explorable needs beside its own file and the kit, in order.
ENGINES = {
    "descent": ("checks", "risk"),
    "valleys": ("checks", "risk"),
    "counting": ("checks", "samples"),
    "paint": ("checks", "samples"),
    "heap": ("checks", "samples", "sheets"),
    "scenes": ("checks", "samples", "risk", "kit", "counting", "valleys", "paint", "essay"),
    "shuffle": ("checks", "samples", "encodings", "puzzle"),
    "look": ("checks", "samples", "shallow"),
    "epochs": ("checks", "samples", "training", "puzzle"),
    "prove": ("checks",),
    "gallery": ("checks", "drawings"),
}
#: Scripts that hold data; they are written from the package's records when the book is built.
DATA = ("encodings", "training", "sheets", "essay", "drawings")


def scripts(name: str) -> list[str]:
    """The scripts of an explorable, in the order in which they run; a scene's lies in ``scenes/``."""
    folder, _, _ = name.rpartition("/")
    before = scripts(folder) if folder else ENGINES.get(name, ())
    return list(dict.fromkeys([*before, *(() if name == "gallery" else ("kit",)), name]))


def load(directive: SphinxDirective, name: str) -> None:
    """Let the directive's page load the scripts of an explorable, each once."""
    wanted = directive.env.metadata[directive.env.docname].setdefault("explorables", [])
    wanted += [script for script in scripts(name) if script not in wanted]


class Explorable(SphinxDirective):
    """The place where an explorable stands."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"state": str, "figure": str, "of": str, "shows": str, "why": str}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        missing = [
            script
            for script in scripts(name)
            if script not in DATA and not (FOLDER / f"{script}.js").is_file()
        ]
        if missing:
            raise self.error(f"there is no explorable {name!r}: {', '.join(missing)}.js is not in {FOLDER}")
        here = self.env.docname
        load(self, name)
        page = f"{PAGES}/{name}"
        address = relative_uri(f"{here}.html", f"{page}.html") if page in self.env.found_docs else ""
        state = f"#{self.options['state']}" if "state" in self.options else ""
        where = f' data-embedded data-page="{html.escape(address)}" data-state="{html.escape(state)}"'
        where = "" if here == page else where
        still = ""
        if "figure" in self.options and "of" not in self.options:
            shown = html.escape(f"#{self.options['shows']}")
            where += f' data-figure="{html.escape(self.options["figure"])}" data-shows="{shown}"'
        elif "figure" in self.options:
            still = self.still(name)
        note = "<noscript><p>This animation needs JavaScript.</p></noscript>"
        why = ""
        if "why" in self.options:
            of, _, anchor = self.options["why"].partition("#")
            there = relative_uri(f"{here}.html", f"book/{of}.html")
            why = f'<a class="pa-why" href="{html.escape(f"{there}#{anchor}")}">Why</a>'
        start = f'<div class="pa-explorable" data-explorable="{html.escape(name)}"{where}>{note}{why}'
        panel = around(self, start, f"{still}</div>")
        if here != page or "of" not in self.options:
            return panel
        ways = f"{{doc}}`Everything you can move <gallery>` · {{doc}}`/book/{self.options['of']}`"
        text, _ = self.state.inline_text(ways, self.lineno)
        return [nodes.paragraph("", "", *text, classes=["pa-above"]), *panel]

    def still(self, name: str) -> str:
        """The figure of another chapter, small, as a link that loads its state."""
        label = self.options["figure"]
        of = self.options["of"]
        here = f"{self.env.docname}.html"
        picture, alt = picture_of(self, label, of)
        there = relative_uri(here, f"book/{of}.html")
        return (
            f'<figure class="pa-still"><a href="#{html.escape(self.options["shows"])}" '
            f'data-loads="{html.escape(name)}"><img src="{picture}" alt="{alt}" '
            f'loading="lazy"></a><figcaption>{html.escape(finding(self, label, of))} '
            f'<a href="{html.escape(there)}#{label}">The figure in its chapter</a>; a click on the picture '
            "loads its setting.</figcaption></figure>"
        )


class Scene(SphinxDirective):
    """A scene of the essay: ``:::{scene} name`` with ``explorable``, and a still where no script runs.

    The still is one of :mod:`essay`, or the ``figure`` ``of`` a chapter. What the directive
    contains stands below it: the ways to the theorem and to the notebook.
    """

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"explorable": str, "figure": str, "of": str}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        here = self.env.docname
        explorable = self.options.get("explorable", name)
        load(self, explorable if explorable in ENGINES else f"scenes/{explorable}")
        if "figure" in self.options:
            there, alt = picture_of(self, self.options["figure"], self.options["of"])
            still = f'<img src="{there}" alt="{alt}">'
        else:
            still = drawn(name, here)
        start = (
            f'<section class="pa-scene" data-scene="{name}" aria-label="{SCENES[name]}">'
            f'<a class="pa-skip" href="#past-{name}">Skip the picture: {SCENES[name]}</a>'
            f'<div class="pa-explorable pa-moves" data-explorable="{explorable}" data-embedded data-state="">'
            f'<noscript><div class="pa-still-scene">{still}</div></noscript></div><div class="pa-ways">'
        )
        scene = around(self, start, f'</div><span id="past-{name}" tabindex="-1"></span></section>')
        if name != "heap" or here == "book/index":
            return scene
        ways = "{doc}`The book </book/index>` · {doc}`Everything you can move </book/explore/gallery>`"
        text, _ = self.state.inline_text(ways, self.lineno)
        return [nodes.paragraph("", "", *text, classes=["pa-above"]), *scene]


class Gallery(SphinxDirective):
    """A small moving drawing for each line ``name | words``: a link to the page that it stands for."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        here = self.env.docname
        load(self, "gallery")
        cards: list[nodes.Node] = [raw('<div class="pa-gallery">')]
        for line in self.content:
            name, _, words = line.partition(" | ")
            if name not in gallery.drawings():
                raise self.error(f"the gallery has no drawing {name!r}")
            page = f"{PAGES}/{name}" if name != "next_to" else "book/next_to"
            there = html.escape(relative_uri(f"{here}.html", f"{page}.html"))
            picture = relative_uri(f"{here}.html", "_static/explore/cat.jpg")
            text, _ = self.state.inline_text(words, self.lineno)
            drawing = still_frame(name, gallery.drawings()[name], picture)
            cards += [raw(f'<a href="{there}">{drawing}'), nodes.paragraph("", "", *text), raw("</a>")]
        return [*cards, raw("</div>")]


class Moving(SphinxDirective):
    """A figure that moves with one number: ``:::{moving} name``; what it contains is its caption.

    It is one of :func:`gallery.moving`. It runs once while it is seen, and then follows its
    slider; where nothing moves, its middle frame stands.
    """

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in gallery.moving():
            raise self.error(f"no figure {name!r} moves")
        load(self, "gallery")
        drawing = gallery.moving()[name]
        last = len(drawing["curves"]) - 1
        start = (
            f'<figure class="pa-moving">{axes_and_curves(name, drawing)}<figcaption>'
            f'<label><output class="pasted-text">{drawing["says"][last // 2]}</output>'
            f'<input type="range" min="0" max="{last}" step="any" value="{last // 2}" data-slides="{name}" '
            f'aria-label="{drawing["moves"]}"></label>'
        )
        return around(self, start, "</figcaption></figure>")


def axes_and_curves(name: str, drawing: dict) -> str:
    """The middle frame of a figure that moves, in its axes."""
    left, right, top, bottom = PLOT
    x0, x1, y0, y1 = drawing["range"]

    def across(x):
        return f"{left + (right - left) * (x - x0) / (x1 - x0):.1f}"

    def down(y):
        return f"{bottom - (bottom - top) * (y - y0) / (y1 - y0):.1f}"

    frame = drawing["curves"][(len(drawing["curves"]) - 1) // 2]
    marks = [f'<path class="pa-frame" d="M{left} {top}V{bottom}H{right}M{left} {down(0)}H{right}"/>']
    for x, label in drawing["ticks"][0]:
        marks.append(f'<text x="{across(x)}" y="{bottom + 20}" text-anchor="middle">{label}</text>')
    for y, label in drawing["ticks"][1]:
        marks.append(f'<text x="{left - 8}" y="{down(y)}" dy="4" text-anchor="end">{label}</text>')
    across_label, down_label = drawing["labels"]
    middle = (left + right) / 2
    marks.append(f'<text x="{middle}" y="{bottom + 42}" text-anchor="middle">{across_label}</text>')
    turned = f'transform="rotate(-90 14 {(top + bottom) / 2})"'
    marks.append(f'<text x="14" y="{(top + bottom) / 2}" text-anchor="middle" {turned}>{down_label}</text>')
    for color, points, label in zip(drawing["colors"], frame, drawing["names"]):
        path = " ".join(f"{across(x)},{down(y)}" for x, y in points)
        x, y = points[0]
        marks.append(f'<polyline class="pa-{color}" points="{path}"/>')
        marks.append(
            f'<text class="pa-{color} pa-name" x="{across(x)}" y="{down(y)}" dx="8" dy="-9">{label}</text>'
        )
    spot = f'data-moves="{name}" data-plot="{left} {right} {top} {bottom}"'
    return (
        f'<svg {spot} viewBox="0 0 720 320" role="img" aria-label="{drawing["alt"]}">{"".join(marks)}</svg>'
    )


#: Left, right, top and bottom of the axes of a figure that moves, in its picture of 720 by 320.
PLOT = (64, 660, 14, 268)


def still_frame(name: str, drawing: dict, picture: str) -> str:
    """A drawing of the gallery as it stands where nothing moves; its pieces are cut from ``picture``."""
    marks = [[tag, dict(attributes)] for tag, attributes in drawing["marks"]]
    for k, attribute, frames in drawing["moves"]:
        marks[k][1][attribute] = written(frames[drawing.get("still", len(frames) - 1)])
    parts = [GROUND] if name == "valleys" else []
    for tag, attributes in marks:
        inner = attributes.pop("text", "")
        if tag == "svg":
            inner = f'<image href="{html.escape(picture)}" width="14" height="14"/>'
        settings = "".join(f' {key}="{value}"' for key, value in attributes.items())
        parts.append(f"<{tag}{settings}>{inner}</{tag}>")
    return f'<svg data-moves="{name}" viewBox="0 0 100 100" aria-hidden="true">{"".join(parts)}</svg>'


def written(value) -> str:
    """A number, or the segments between points, as an attribute of SVG."""
    if not isinstance(value, list):
        return f"{value:g}"
    return "".join(f"M{x:g} {y:g}L{u:g} {v:g}" for x, y, u, v in zip(*[iter(value)] * 4))


#: The color of the ground of two valleys: whose valley it is, across the line of equal scores.
GROUND = (
    '<linearGradient id="pa-ground" x1="0" y1="0" x2="100" y2="100" gradientUnits="userSpaceOnUse">'
    '<stop offset="0.42" class="pa-other"/><stop offset="0.58" class="pa-same"/></linearGradient>'
)


class Still(SphinxDirective):
    """A picture of :mod:`essay` that does not move; what it contains is its caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        start = f'<figure class="pa-still-scene">{drawn(self.arguments[0], self.env.docname)}<figcaption>'
        return around(self, start, "</figcaption></figure>")


#: What a screen reader calls the scenes.
SCENES = {
    "heap": "The heap and the sheet",
    "strings": "Strings over the epochs",
    "network": "Be the network",
    "counting": "Counting drowns",
    "sets": "Draw your own sets",
    "valleys": "Two valleys",
    "forgotten": "Known, then forgotten",
    "gazes": "Where four heads look",
}


def drawn(name: str, here: str) -> str:
    """A still of the essay by name, for the page ``here``."""
    if name == "heap":
        return essay.still_heap(relative_uri(f"{here}.html", "_static/explore/cat.jpg"))
    return {"strings": essay.still_strings, "grids": essay.still_grids}[name]()


def computed(name, rawtext, text, lineno, inliner, options=None, content=()):
    """``{computed}`name```: a number of the essay, computed while the book is built."""
    number = essay.numbers().get(text)
    if number is None:
        problem = inliner.reporter.error(f"the essay has no number {text!r}", line=lineno)
        return [inliner.problematic(rawtext, rawtext, problem)], [problem]
    return [nodes.inline(rawtext, number, classes=["pasted-text"])], []


def add_scripts(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """On a page with an explorable, and on no other, its scripts; classic ones, as file:// asks."""
    for name in app.env.metadata.get(pagename, {}).get("explorables", ()):
        app.add_js_file(f"explore/{name}.js", loading_method="defer")


def triangles(matrices) -> str:
    """The upper triangles of symmetric matrices (..., N, N), one after the other, in half precision."""
    matrices = np.asarray(matrices)
    return encode(matrices[(..., *np.triu_indices(matrices.shape[-1]))].astype("f2"))


def encodings() -> dict:
    """Inner products of trained and of random encodings; what is symmetric is its upper triangle."""
    return {name: triangles(products) for name, products in essay.similarities().items()}


def training() -> dict:
    """Two networks before training and after every epoch: cosines of encodings, recall, accuracy."""
    networks: dict = {}
    for kind, run in essay.networks().items():
        local = encoding_locality(run["encodings"][0])
        networks[kind] = {
            "cosines": triangles([cosines(similarity(P)) for P in run["encodings"]]),
            "recall": [round(local.recall, 4), *(at["recall"] for at in run["metrics"])],
            "accuracy": [0.1, *(at["val_accuracy"] for at in run["metrics"])],  # ten classes
        }
    return networks


def write_data(app, error: Exception | None) -> None:
    """After a build: what explorables show of records, as classic scripts."""
    if error is not None or app.builder.format != "html":
        return
    says = {
        "encodings": (
            "Inner products of positional encodings: ViT-Tiny/16 (AugReg) and DeiT-Tiny/16, weights under "
            "Apache-2.0, and a random start."
        ),
        "training": "Two Vision Transformers before training on CIFAR-10 (JPEG) and after every epoch.",
        "sheets": "The strings of ViT-Tiny/16 and of a random start, and where they lead.",
        "essay": "What the scenes of the essay show of records, and exact errors.",
        "drawings": "The frames of the gallery's small drawings, and of figures that move.",
    }
    held = {
        "encodings": ("encodings", encodings()),
        "training": ("epochs", training()),
        "sheets": ("sheets", essay.heap()),
        "essay": ("essay", essay.data()),
        "drawings": ("gallery", gallery.drawings() | gallery.moving()),
    }
    for name, (key, data) in held.items():
        script = (
            f"// {says[name]}\nwindow.patchAssociation.{key} = {json.dumps(data, separators=(',', ':'))};\n"
        )
        (Path(app.outdir) / "_static" / "explore" / f"{name}.js").write_text(script, encoding="utf-8")
    (Path(app.outdir) / "_static" / "share.png").write_bytes(essay.share_picture())


def setup(app) -> dict:
    """Register the directive."""
    app.add_directive("explorable", Explorable)
    app.add_directive("scene", Scene)
    app.add_directive("still", Still)
    app.add_directive("gallery", Gallery)
    app.add_directive("moving", Moving)
    app.add_role("computed", computed)
    app.connect("html-page-context", add_scripts, priority=400)
    app.connect("build-finished", write_data)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
