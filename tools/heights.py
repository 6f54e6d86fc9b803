"""Measure how high what moves stands on each screen, and write ``book/_static/heights.css`` from it.

    make heights

A page keeps the place of what moves until its script has drawn it, so that nothing below jumps. How high that
is depends on fonts, words and the width of a page: it is measured on the built pages, in a browser. Where one
explorable stands in several places its least height is kept.
"""

from __future__ import annotations

import sys
from collections import defaultdict

from browser import ROOT, SITE, BrowserMissing, built_pages, chromium

FILE = ROOT / "book" / "_static" / "heights.css"
#: What a page is as wide as, and for which screens its heights are: the last that fits counts.
SCREENS = {1280: "(scripting: enabled)", 390: "(max-width: 600px) and (scripting: enabled)"}
HEAD = "/* Written by tools/heights.py: how high what moves stands once it is drawn. */\n"
# Drawn, and kept no place for: what is there by itself.
MEASURE = """() => {
  for (const box of document.querySelectorAll('[data-explorable]')) {
    box.style.setProperty('min-height', '0', 'important');
  }
  const place = box => box.closest('.pa-alone') ? '.pa-alone ' : '[data-embedded]';
  return [...document.querySelectorAll('[data-explorable]')].map(box => [
    box.dataset.explorable, place(box),
    Math.floor(box.getBoundingClientRect().height)]);
}"""


def heights(browser, width: int) -> dict[str, int]:
    """Pixels by selector, of all that moves on all pages that are so wide."""
    pixels = defaultdict(list)
    for page in built_pages():
        if "data-explorable=" not in page.read_text(encoding="utf-8"):
            continue
        tab = browser.new_page(viewport={"width": width, "height": 900})
        tab.goto(page.as_uri())
        for box in tab.locator("[data-explorable]").all():
            box.scroll_into_view_if_needed()
        tab.wait_for_function(
            "() => [...document.querySelectorAll('[data-explorable]')].every(e => 'live' in e.dataset)"
        )
        tab.evaluate("() => document.fonts.ready.then(() => window.explorable?.ready).then(() => true)")
        tab.wait_for_timeout(500)
        for name, place, high in tab.evaluate(MEASURE):
            pixels[f'{place}[data-explorable="{name}"]'].append(high)
        tab.close()
    return {selector: min(pixels[selector]) for selector in sorted(pixels)}


def main() -> int:
    """Write the file; 1 where nothing was built or no browser is there."""
    if not SITE.exists():
        print("The book is not built: make book")
        return 1
    text = HEAD
    try:
        with chromium() as browser:
            for width, screen in SCREENS.items():
                lines = [
                    f"  {selector} {{ --pa-high: {high}px; }}\n"
                    for selector, high in heights(browser, width).items()
                ]
                text += f"@media {screen} {{\n{''.join(lines)}}}\n"
    except BrowserMissing as error:
        print(error)
        return 1
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE.relative_to(ROOT)} holds the heights; make book shows them.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
