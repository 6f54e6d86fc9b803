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

``figure`` carries the message alone, and a click on it loads what it ``shows``. A figure ``of`` another
chapter is shown small below, from that chapter's stored outputs; one of the same page stays where it is.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import ClassVar

import numpy as np
from docutils import nodes
from findings import FOLDER as DRAWINGS
from findings import chapter, figure
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

from patch_association.images.locality import encoding_locality, similarity
from patch_association.images.vit import ViT
from patch_lab.images.puzzle import cosines
from patch_lab.images.training.config import TrainConfig
from patch_lab.images.training.trainer import make_model
from patch_lab.records import decode, encode, load
from patch_lab.sweeps import study

FOLDER = Path(__file__).resolve().parent.parent / "_static" / "explore"
PAGES = "book/explore"
#: The engines that an explorable needs beside its own file and the kit, in order.
ENGINES = {
    "descent": ("checks", "risk"),
    "valleys": ("checks", "risk"),
    "counting": ("checks", "samples"),
    "paint": ("checks", "samples"),
    "cloud": ("checks", "samples"),
    "learn": ("checks", "samples"),
    "shuffle": ("checks", "samples", "encodings", "puzzle"),
    "look": ("checks", "samples", "shallow"),
    "epochs": ("checks", "samples", "training", "puzzle"),
}
#: Scripts that hold data; they are written from the package's records when the book is built.
DATA = ("encodings", "training")


def scripts(name: str) -> list[str]:
    """The scripts of an explorable, in the order in which they run."""
    return [*ENGINES.get(name, ()), "kit", name]


class Explorable(SphinxDirective):
    """The place where an explorable stands."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"state": str, "figure": str, "of": str, "shows": str}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        missing = [one for one in scripts(name) if one not in DATA and not (FOLDER / f"{one}.js").is_file()]
        if missing:
            raise self.error(f"there is no explorable {name!r}: {', '.join(missing)}.js is not in {FOLDER}")
        here = self.env.docname
        own = here == f"{PAGES}/{name}"
        wanted = self.env.metadata[here].setdefault("explorables", [])
        wanted += [one for one in scripts(name) if one not in wanted]
        page = f"{PAGES}/{name}"
        address = relative_uri(f"{here}.html", f"{page}.html") if page in self.env.found_docs else ""
        state = f"#{self.options['state']}" if "state" in self.options else ""
        where = (
            ""
            if own
            else f' data-embedded data-page="{html.escape(address)}" data-state="{html.escape(state)}"'
        )
        still = self.parse_content_to_nodes() if self.content else []
        if "figure" in self.options and "of" not in self.options:
            shown = html.escape(f"#{self.options['shows']}")
            where += f' data-figure="{html.escape(self.options["figure"])}" data-shows="{shown}"'
        elif "figure" in self.options:
            still += [nodes.raw("", self.still(name), format="html")]
        note = "<noscript><p>What moves here needs JavaScript.</p></noscript>"
        return [
            nodes.raw(
                "",
                f'<div class="pa-explorable" data-explorable="{html.escape(name)}"{where}>{note}',
                format="html",
            ),
            *still,
            nodes.raw("", "</div>", format="html"),
        ]

    def still(self, name: str) -> str:
        """The figure of another chapter, small, as a link that loads its state."""
        label, of, here = self.options["figure"], self.options["of"], f"{self.env.docname}.html"
        self.env.note_dependency(f"book/{of}.ipynb")
        try:
            drawing, alt = figure(chapter(self.env.app, of), label)
        except LookupError:
            raise self.error(f"{of} has no figure {label!r}") from None
        self.env.metadata[self.env.docname].setdefault("findings", {})[label] = drawing
        picture, there = (relative_uri(here, to) for to in (f"{DRAWINGS}/{label}.svg", f"book/{of}.html"))
        return (
            f'<figure class="pa-still"><a href="#{html.escape(self.options["shows"])}" '
            f'data-loads="{html.escape(name)}"><img src="{html.escape(picture)}" alt="{html.escape(alt)}" '
            f'loading="lazy"></a><figcaption>Standing still: <a href="{html.escape(there)}#{label}">the '
            "figure of its chapter</a>. A click on the picture loads its setting.</figcaption></figure>"
        )


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
    start = 0.02 * np.random.default_rng(0).standard_normal((196, 192))
    record = load("vit_encodings")
    return {
        "vit": triangles(decode(record.one(model="ViT-Tiny/16")["similarity"])),
        "deit": triangles(decode(record.one(model="DeiT-Tiny/16")["similarity"])),
        "start": triangles(similarity(start)),
    }


def training() -> dict:
    """Two networks before training and after every epoch: cosines of encodings, recall, accuracy.

    ``looks`` is the recall of the mean attention of the first layer's more local head after every epoch;
    it is not recorded before training.
    """
    found: dict = {}
    for run in load("cifar10_study").where(epochs=40, width=64, tile=32, seed=0):
        config = TrainConfig(
            **study.settings(run["model"], run["epochs"], run["tile"], run["seed"], run["width"])
        )
        network = make_model(config, 10, 32, 3)
        assert isinstance(network, ViT)
        start = network.positions[0].detach().numpy()
        P = [start, *decode(run["positions"]).astype(np.float64)]  # (epochs + 1) of (N, width)
        local = encoding_locality(start)
        found["chance"] = local.chance
        found[run["model"]] = {
            "cosines": triangles([cosines(similarity(one)) for one in P]),
            "recall": [round(local.recall, 4), *(at["recall"] for at in run["metrics"])],
            "looks": [max(at["attention"][0]) for at in run["metrics"]],
            "accuracy": [0.1, *(at["val_accuracy"] for at in run["metrics"])],  # ten classes
        }
    return found


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
    }
    held = {"encodings": ("encodings", encodings()), "training": ("epochs", training())}
    for name, (key, data) in held.items():
        script = f"// {says[name]}\nwindow.patchAssociation.{key} = {json.dumps(data)};\n"
        (Path(app.outdir) / "_static" / "explore" / f"{name}.js").write_text(script, encoding="utf-8")


def setup(app) -> dict:
    """Register the directive."""
    app.add_directive("explorable", Explorable)
    app.connect("html-page-context", add_scripts, priority=400)
    app.connect("build-finished", write_data)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
