"""Photograph the built pages: ``tools/screenshots.py [book/setting/structure ...]``.

Each page is taken in both themes at the widths of a desk and of a phone, in slices that are short
enough to look at. The pictures lie in ``screenshots/``, which git ignores.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from browser import ROOT, SITE, BrowserMissing, asked_pages, chromium, settle

OUT = ROOT / "screenshots"
SLICE = 2000  # pixels of height


def main() -> int:
    """Take the pictures that were asked for; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", help="as book/setting/structure; all by default")
    parser.add_argument("--themes", nargs="+", default=["light", "dark"], choices=["light", "dark"])
    parser.add_argument("--widths", nargs="+", type=int, default=[1280, 390])
    parser.add_argument("--open", action="store_true", help="unfold dropdowns, solutions and hidden code")
    arguments = parser.parse_args()
    pages = asked_pages(arguments.pages)
    try:
        with chromium() as browser:
            for theme in arguments.themes:
                for width in arguments.widths:
                    for page in pages:
                        shoot(browser, page, theme, width, arguments.open)
    except BrowserMissing as error:
        print(error)
        return 1
    print(f"The pictures are in {OUT}")
    return 0


def shoot(browser, page: Path, theme: str, width: int, unfold: bool) -> None:
    """One page in one theme at one width, in slices."""
    tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
    tab.goto(page.as_uri())
    settle(tab)
    if unfold:
        tab.evaluate(
            "document.querySelectorAll('details').forEach(d => d.open = true);"
            "document.querySelectorAll('.toggle-hidden').forEach(e => e.classList.remove('toggle-hidden'));"
        )
    height = tab.evaluate("document.documentElement.scrollHeight")
    tab.set_viewport_size({"width": width, "height": min(height, 16000)})
    name = str(page.relative_to(SITE).with_suffix("")).replace("/", "-")
    OUT.mkdir(exist_ok=True)
    for number, top in enumerate(range(0, height, SLICE), start=1):
        tab.screenshot(
            path=OUT / f"{name}-{theme}-{width}-{number}.png",
            clip={"x": 0, "y": top, "width": width, "height": min(SLICE, height - top)},
            full_page=True,
        )
    tab.close()


if __name__ == "__main__":
    sys.exit(main())
