"""``explorable``: a picture that a reader moves, on its page or in a chapter, with the scripts that it needs.

::

    :::{explorable} descent
    :state: D=16&C=4&q=0.5
    :::

On the page ``explore/descent`` it owns the page's address. Anywhere else it is embedded: it starts with
``state``, and its link leads to its page with whatever the reader has set. What the directive contains is
shown until the script takes over, and stays where there is none.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinx.util.osutil import relative_uri

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
}


def scripts(name: str) -> list[str]:
    """The scripts of an explorable, in the order in which they run."""
    return [*ENGINES.get(name, ()), "kit", name]


class Explorable(SphinxDirective):
    """The place where an explorable stands."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"state": str}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        missing = [one for one in scripts(name) if not (FOLDER / f"{one}.js").is_file()]
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


def add_scripts(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """On a page with an explorable, and on no other, its scripts; classic ones, as file:// asks."""
    for name in app.env.metadata.get(pagename, {}).get("explorables", ()):
        app.add_js_file(f"explore/{name}.js", loading_method="defer")


def setup(app) -> dict:
    """Register the directive."""
    app.add_directive("explorable", Explorable)
    app.connect("html-page-context", add_scripts, priority=400)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
