"""Build the book with every warning as an error, then say which file to open.

Only what changed since the last build is read again. Where that fails, what the last one kept may be the
reason (a label that moved from a page to another counts as two), and the book is built from nothing.

A page's download button gives the chapter's notebook in plain Markdown, not the one that the book is made of.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from edition import write_edition
from set_up import alone, run

ROOT = Path(__file__).resolve().parent.parent
INDEX = ROOT / "_build" / "html" / "index.html"
KEPT = ROOT / "_build" / ".doctrees"


def main() -> int:
    """Run Jupyter Book; its exit status."""
    start = time.monotonic()
    # -W: warnings fail the build; -n: so do references to nothing; --keep-going: report them all.
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    command = [str(jupyter_book), "build", ".", "-W", "-n", "--keep-going"]
    try:
        with alone("build") as lock:
            print("Building the book ...", flush=True)
            again = KEPT.exists()
            status = run(command, lock)
            if status and again:
                print("That built on an earlier book. Once more, from nothing ...", flush=True)
                shutil.rmtree(KEPT)
                status = run(command, lock)
            if status == 0:
                drop_pages_without_source(INDEX.parent, ROOT)
                write_edition(INDEX.parent / "_sources")
    except OSError as error:
        print(f"The book was NOT built: {error}", file=sys.stderr)
        return 1
    if status:
        print("The book was NOT built: every WARNING and ERROR above has to go first.")
        return status
    print(f"The book is built ({time.monotonic() - start:.0f} s). Open {INDEX.as_uri()}")
    return 0


def drop_pages_without_source(site: Path, root: Path) -> None:
    """Delete the pages that an earlier build made of chapters that are gone, with their copied sources."""
    for page in (site / "book").rglob("*.html"):
        source = root / page.relative_to(site)
        if not any(source.with_suffix(kind).exists() for kind in (".md", ".ipynb")):
            page.unlink()
            for copy in (site / "_sources").glob(f"{page.relative_to(site).with_suffix('')}.*"):
                copy.unlink()


if __name__ == "__main__":
    sys.exit(main())
