"""The whole book as one PDF, printed by Chromium: ``tools/print_book.py [book/part/chapter ...]``.

All pages in the order of the contents, by day, with running page numbers and an outline. Proofs, solutions
and claims have pages of their own; code that the pages fold is left folded, as on the screen. Links to other
pages lead to the book online. It goes to ``_build/html/book.pdf``.
"""

from __future__ import annotations

import argparse
import sys
from io import BytesIO
from pathlib import Path

import yaml
from pypdf import PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject

sys.path.insert(0, str(Path(__file__).resolve().parent))

from browser import ROOT, SITE, BrowserMissing, chromium, settle

sys.path.append(str(ROOT / "book" / "_ext"))
from lettering import all_pages

OUT = SITE / "book.pdf"

FONT = {"Type": "Font", "Subtype": "Type1", "BaseFont": "Helvetica"}  # of the pages' numbers

#: Pages that say nothing on paper, because everything on them moves.
ON_SCREEN_ONLY = "book/explore/"

# What only a screen can show goes, and the theme's second title, which has no number; text is black on white.
STYLE = """
  .bd-sidebar-primary, .bd-sidebar-secondary, .bd-header, .bd-header-article, .prev-next-area, .bd-footer,
  .bd-footer-content, .pa-enlarge, .copybtn, .headerlink, .pa-commit, .pa-controls, .pa-tip, .pa-filter,
  .pa-player, .pa-tools, a[data-loads],
  .pa-fold:not([open]), .pa-explorable[data-embedded]:not(.pa-moves),
  .pst-async-banner-revealer, .skip-link, #pst-skip-link, .toggle-button { display: none !important; }
  .bd-main .bd-content #jb-print-docs-body { display: none !important; }
  .bd-main .bd-content .bd-article h1:first-of-type { display: block; margin-top: 0; }
  .bd-main .bd-content { margin-left: 0; }
  body, .bd-container, .bd-container__inner, .bd-main, .bd-article {
    min-height: 0 !important; padding-bottom: 0 !important;
  }
  .bd-article { font-size: 11pt; }
  .bd-article-container, .bd-main, .bd-content, .bd-container__inner { max-width: none !important; }
  figure, table, pre, .math, .pa-verdict, .cell_input { break-inside: avoid; }
  h1, h2, h3, .admonition-title { break-after: avoid; }
  .bd-article pre, .bd-article pre * { white-space: pre-wrap !important; font-size: 8pt !important; }
  details:not([open], .pa-fold) > summary::after { content: " (folded, as online)"; }
"""
PREPARE = """address => {
  for (const link of document.querySelectorAll("article a[href]")) {
    const href = link.getAttribute("href");
    if (!href.startsWith("#") && !/^[a-z]+:/.test(href)) {
      link.href = address + decodeURIComponent(new URL(link.href).pathname).split("/_build/html/").pop()
        + new URL(link.href).hash;
    }
  }
  document.querySelectorAll(".pa-veiled").forEach((figure) => figure.classList.remove("pa-veiled"));
}"""

TITLE = """h1 => {
  const copy = h1.cloneNode(true);
  copy.querySelectorAll(".headerlink, .katex-html, annotation").forEach((e) => e.remove());
  return copy.textContent;
}"""


def contents() -> list[str]:
    """The pages in their order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    pages = all_pages(toc)
    return [page for page in pages if not page.startswith(ON_SCREEN_ONLY)]


def print_page(browser, path: Path, address: str) -> tuple[str, bytes]:
    """A page's title, and the page as a PDF of its own."""
    tab = browser.new_page(
        color_scheme="light", reduced_motion="reduce", viewport={"width": 800, "height": 1100}
    )
    try:
        tab.goto(path.as_uri())
        settle(tab)
        tab.evaluate(PREPARE, address)
        tab.add_style_tag(content=STYLE)
        title = tab.locator("article h1").first.evaluate(TITLE)
        margin = {"top": "18mm", "bottom": "20mm", "left": "18mm", "right": "18mm"}
        return " ".join(title.split()), tab.pdf(format="A4", margin=margin, print_background=True)
    finally:
        tab.close()


def join(parts: list[tuple[str, bytes]]) -> bytes:
    """One PDF of several, each with the title that the outline shows, and running numbers at the foot."""
    book = PdfWriter()
    out = BytesIO()
    for title, pdf in parts:
        book.append(BytesIO(pdf), outline_item=title, import_outline=False)
    font = DictionaryObject({NameObject(f"/{key}"): NameObject(f"/{value}") for key, value in FONT.items()})
    for number, page in enumerate(book.pages, start=1):
        resources = page["/Resources"].get_object()
        assert isinstance(resources, DictionaryObject)
        fonts = resources.setdefault(NameObject("/Font"), DictionaryObject()).get_object()
        fonts[NameObject("/PageNumber")] = font
        before, after = DecodedStreamObject(), DecodedStreamObject()
        before.set_data(b"q\n")
        middle = float(page.mediabox.width) / 2 - 5
        after.set_data(b"Q BT /PageNumber 9 Tf %.1f 22 Td (%d) Tj ET\n" % (middle, number))
        content = page.raw_get("/Contents")
        page[NameObject("/Contents")] = ArrayObject(
            [book._add_object(before), content, book._add_object(after)]
        )
    book.page_mode = "/UseOutlines"
    book.write(out)
    return out.getvalue()


def print_book(browser, pages: list[str], out: Path = OUT) -> list[str]:
    """Write the PDF of these pages; their titles."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    address = config["sphinx"]["config"]["ogp_site_url"]
    parts = [print_page(browser, SITE / f"{page}.html", address) for page in pages]
    out.write_bytes(join(parts))
    return [title for title, _ in parts]


def main() -> int:
    """Print the pages that were named, by default all; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", help="as book/setting/structure; all by default")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE")
    arguments = parser.parse_args()
    pages = [page.removesuffix(".html") for page in arguments.pages] or contents()
    missing = [page for page in pages if not (SITE / f"{page}.html").exists()]
    if missing:
        print(f"Not built: {', '.join(missing)}. Run `make book` first.")
        return 1
    try:
        with chromium() as browser:
            titles = print_book(browser, pages, arguments.out)
    except BrowserMissing as error:
        print(error)
        return 1
    size = arguments.out.stat().st_size / 1e6
    print(f"{len(titles)} pages of the book in {arguments.out} ({size:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
