"""What a built page asks of its reader: open code, screens before a figure, words to read, bytes to load."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from browser import settle

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
