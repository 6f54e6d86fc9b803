"""What a built page asks of its reader: words to read, bytes to load."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from browser import settle

DESK = {"width": 1440, "height": 900}

# A word is a run of letters or digits, not a formula.
WORDS = """() => {
  const article = document.querySelector('article.bd-article') ?? document.querySelector('main');
  const reading = article.cloneNode(true);
  reading.querySelectorAll('details, .toggle, .toggle-hidden, .dropdown, .cell_input, pre, .math, svg, ' +
    '.pa-explorable, .pa-predict, script, style, .headerlink, .prev-next-area').forEach(e => e.remove());
  return (reading.textContent.match(/[\\p{L}\\p{N}][\\p{L}\\p{N}'’-]*/gu) ?? []).length;
}"""


@dataclass(frozen=True)
class Measures:
    """Words on a page's way of reading, and bytes of all files that it loads, the page included."""

    words: int
    bytes: int


def measure(browser, path: Path) -> Measures:
    """Open one page and measure it."""
    tab = browser.new_page(viewport=DESK, color_scheme="light")
    loaded: set[str] = set()
    tab.on("requestfinished", lambda request: loaded.add(unquote(urlsplit(request.url).path)))
    try:
        tab.goto(path.as_uri())
        settle(tab)
        words = tab.evaluate(WORDS)
    finally:
        tab.close()
    files = {Path(name) for name in loaded if Path(name).is_file()}
    return Measures(words, sum(file.stat().st_size for file in files))
