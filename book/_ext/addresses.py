"""Old addresses lead to where their content went: pages that are no more, and labels on another page.

A page that is no more becomes a page that leads on, with what stood behind the ``#``. A label that has moved
from the page of its address is looked up in ``_static/addresses.js``, which ``book.js`` loads for that alone.
"""

from __future__ import annotations

import json
from pathlib import Path

from sphinx.util.osutil import relative_uri

#: Pages that are no more, and where their content went.
MOVED = {
    "book/changes": "book/index",
    "book/conventions": "book/letters",
    "book/explore/cloud": "book/next_to#ten-lamps",
    "book/images/large_scale": "book/images/laptop",
    "book/notation": "book/letters",
    "book/setting/gaussian_patches": "book/beyond/gaussian_patches",
    "book/speed": "book/quickstart",
    "book/why": "book/index",
}
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Moved</title>
<script>location.replace("{page}" + (location.hash || "{place}"))</script>
<noscript><meta http-equiv="refresh" content="0; url={page}{place}"></noscript>
<a href="{page}{place}">Moved here</a></html>
"""


def labels(env) -> dict[str, str]:
    """The page of every label: of sections and figures, of equations, statements and exercises."""
    found = {}
    standard = env.get_domain("std")
    for known in (standard.anonlabels, standard.labels):
        found |= {entry[1]: entry[0] for entry in known.values()}
    equations = env.get_domain("math").equations
    found |= {f"equation-{label}": page for label, (page, _) in equations.items()}
    for registry in (getattr(env, "proof_list", {}), getattr(env, "sphinx_exercise_registry", {})):
        found |= {label: entry["docname"] for label, entry in registry.items()}
    return {label: page for label, page in sorted(found.items()) if label and page.startswith("book/")}


def write(app, exception) -> None:
    """Write the pages that lead on, and the table of labels."""
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    table = json.dumps(labels(app.env), separators=(",", ":"))
    (out / "_static" / "addresses.js").write_text(f"window.pageOfLabel = {table};\n", encoding="utf-8")
    for old, new in MOVED.items():
        target, mark, place = new.partition("#")
        page = relative_uri(f"{old}.html", f"{target}.html")
        path = out / f"{old}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_PAGE.format(page=page, place=mark + place), encoding="utf-8")


def setup(app) -> dict:
    """Write both when the build has ended."""
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
