"""Measure the built pages as a reader meets them: ``tools/page_measures.py [book/setting/structure ...]``.

Printed for each page: the share of its area that open code takes at 1440 pixels, the screens of 900 pixels
until its first figure, the words on the way of reading (without what is folded or played with, code and
mathematics), and the bytes that a browser reads for it before compression, with and without its pictures.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent))

from browser import SITE, BrowserMissing, asked_pages, chromium, settle

DESK = {"width": 1440, "height": 900}

# Areas are of what is shown; what a closed fold hides has a box all the same, so visibility is asked for.
# A word is a run of letters or digits, not a formula.
MEASURE = """() => {
  const article = document.querySelector('article.bd-article') ?? document.querySelector('main');
  const area = elements => elements.reduce((sum, e) => {
    const box = e.getBoundingClientRect();
    return sum + box.width * box.height;
  }, 0);
  const page = article.getBoundingClientRect();
  const code = [...article.querySelectorAll('.cell_input, .highlight')].filter(e => e.checkVisibility() &&
    !e.parentElement.closest('.cell_input, .highlight') && !e.closest('.cell_output'));
  const figures = [...article.querySelectorAll('figure, .pa-drawing, img, canvas, .pa-explorable')].filter(
    e => e.checkVisibility());
  const reading = article.cloneNode(true);
  reading.querySelectorAll('details, .toggle, .toggle-hidden, .dropdown, .cell_input, pre, .math, svg, ' +
    '.pa-explorable, .pa-predict, script, style, .headerlink, .prev-next-area').forEach(e => e.remove());
  const pictures = [...article.querySelectorAll('.pa-drawing')].reduce(
    (sum, e) => sum + new TextEncoder().encode(e.outerHTML).length, 0);
  return {
    code_share: area(code) / (page.width * page.height),
    screens: figures.length
      ? (Math.min(...figures.map(e => e.getBoundingClientRect().top)) + scrollY) / innerHeight : null,
    words: (reading.textContent.match(/[\\p{L}\\p{N}][\\p{L}\\p{N}'’-]*/gu) ?? []).length,
    pictures,
  };
}"""


@dataclass(frozen=True)
class Measures:
    """What was measured on one page.

    Attributes
    ----------
    code_share : float
        Open code's share of the article's area.
    screens : float or None
        Screens above the first figure; None without one.
    words : int
        On the way of reading.
    bytes : int
        All files that the page loads, the page included.
    bytes_without_pictures : int
    """

    code_share: float
    screens: float | None
    words: int
    bytes: int
    bytes_without_pictures: int


def measure(browser, path: Path) -> Measures:
    """Open one page and measure it."""
    tab = browser.new_page(viewport=DESK, color_scheme="light")
    loaded: set[str] = set()
    tab.on("requestfinished", lambda request: loaded.add(unquote(urlsplit(request.url).path)))
    try:
        tab.goto(path.as_uri())
        settle(tab)
        found = tab.evaluate(MEASURE)
    finally:
        tab.close()
    files = {Path(name) for name in loaded if Path(name).is_file()}
    total = sum(file.stat().st_size for file in files)
    images = sum(file.stat().st_size for file in files if "_images" in file.parts)
    return Measures(
        code_share=found["code_share"],
        screens=found["screens"],
        words=found["words"],
        bytes=total,
        bytes_without_pictures=total - images - found["pictures"],
    )


def main() -> int:
    """Measure the pages that were named, by default all; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", help="as book/setting/structure; all by default")
    pages = asked_pages(parser.parse_args().pages)
    try:
        with chromium() as browser:
            found = {str(page.relative_to(SITE).with_suffix("")): measure(browser, page) for page in pages}
    except BrowserMissing as error:
        print(error)
        return 1
    print(f"{'page':<36}{'code':>7}{'first figure':>14}{'words':>8}{'MB':>7}{'no pictures':>13}")
    for name, page in found.items():
        _row(name, **asdict(page))
    if len(found) > 1:
        shown = [page.screens for page in found.values() if page.screens is not None]
        print(f"median first figure: {median(shown):.1f} screens" if shown else "no figure anywhere")
    return 0


def _row(name, code_share, screens, words, bytes, bytes_without_pictures) -> None:
    first = "none" if screens is None else f"{screens:.1f}"
    sizes = f"{bytes / 1e6:>7.2f}{bytes_without_pictures / 1e6:>13.2f}"
    print(f"{name:<36}{code_share:>7.0%}{first:>14}{words:>8,}{sizes}")


if __name__ == "__main__":
    sys.exit(main())
