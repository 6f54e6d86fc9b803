"""Make the built book independent of any network.

MathJax comes with the pages, so that equations are typeset from ``file://``. Its files are those of
the package ``sphinx-mathjax-offline``; that package's own Sphinx extension copies all of them, 24 MB,
and a page needs the entries below, 2 MB. Jupyter Book's hooks for Thebe, which would load code from
a server and which this book does not use, are taken out (declared twice, they are an error besides).
"""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

ENTRY = "tex-chtml-full.js"  # TeX in with every TeX extension, HTML and CSS out
NEEDED = [ENTRY, "output/chtml", "a11y/assistive-mml.js"]


def source() -> Path:
    """MathJax's folder inside the installed package, whose name has hyphens and cannot be imported."""
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    if spec is None or spec.origin is None:
        raise RuntimeError("sphinx-mathjax-offline is not installed: run `make book`")
    return Path(spec.origin).parent / "static" / "mathjax"


def copy_mathjax(app, error: Exception | None) -> None:
    """After a build: put what is needed into ``_static/mathjax`` and nothing else."""
    if error is not None or app.builder.format != "html":
        return
    target = Path(app.outdir) / "_static" / "mathjax"
    for name in NEEDED:
        if (source() / name).is_dir():
            shutil.copytree(source() / name, target / name, dirs_exist_ok=True)
        else:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source() / name, target / name)


def drop_thebe(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Keep Thebe's scripts off every page."""
    context["script_files"] = [
        script
        for script in context.get("script_files", ())
        if "thebe" not in f"{getattr(script, 'filename', script)} {getattr(script, 'attributes', '')}".lower()
    ]


def setup(app) -> dict:
    """Point Sphinx to the local MathJax, and clean the pages after the other extensions."""
    app.config.mathjax_path = f"mathjax/{ENTRY}"
    app.connect("build-finished", copy_mathjax)
    app.connect("html-page-context", drop_thebe, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
