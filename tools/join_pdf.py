"""Join the PDFs that Chromium prints into one, with running page numbers and an outline.

Chromium writes plain PDF 1.4: one table of objects, no object streams. So joining them is renumbering: the
objects of each file get numbers of their own, its tree of pages becomes a branch of one tree, and each page a
number at its foot. What Chromium does not write is refused, not guessed.
"""

from __future__ import annotations

import re

REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
OBJECT = re.compile(rb"(\d+) 0 obj\s*")
FOOT = 22  # points from the lower edge to a page's number


def objects(pdf: bytes) -> tuple[dict[int, tuple[bytes, bytes]], int]:
    """Every object by its number, as its dictionary and its stream; and the number of the catalog."""
    table = re.search(rb"startxref\s+(\d+)\s+%%EOF\s*$", pdf)
    if not table or not pdf.startswith(b"%PDF-1.4") or not pdf[int(table[1]) :].startswith(b"xref"):
        raise ValueError("expected a PDF 1.4 with one plain table of objects, as Chromium prints it")
    start = int(table[1])
    root = re.search(rb"/Root (\d+) 0 R", pdf[start:])
    offsets = [int(row) for row in re.findall(rb"(\d{10}) \d{5} n", pdf[start:])]
    if not root or not offsets:
        raise ValueError("expected a trailer with a root and at least one object")
    found = {}
    for offset in offsets:
        opened = OBJECT.match(pdf, offset)
        if not opened:
            raise ValueError(f"expected an object at byte {offset}")
        length = re.compile(rb"/Length (\d+)\b(?! 0 R)")
        head_end = pdf.index(b"endobj", offset)
        stream = pdf.find(b"stream\n", offset, head_end)
        if stream < 0:
            found[int(opened[1])] = pdf[opened.end() : head_end].strip(), b""
            continue
        head = pdf[opened.end() : stream].strip()
        size = length.search(head)
        if not size:
            raise ValueError(f"object {int(opened[1])} does not say how long its stream is")
        begin = stream + len(b"stream\n")
        found[int(opened[1])] = head, pdf[begin : begin + int(size[1])]
    return found, int(root[1])


def join(parts: list[tuple[str, bytes]]) -> bytes:
    """One PDF of several, each with the title that the outline shows."""
    everything: dict[int, tuple[bytes, bytes]] = {}
    catalog, tree, outline, font = 1, 2, 3, 4
    before = (b"<</Length 2>>", b"q\n")
    everything[font] = b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>", b""
    everything[5] = before
    branches, entries, printed, last = [], [], 0, 5
    for title, pdf in parts:
        found, root = objects(pdf)
        shift, last = last, last + max(found)
        moved = {number + shift: (_shifted(head, shift), stream) for number, (head, stream) in found.items()}
        top = int(re.search(rb"/Pages (\d+) 0 R", moved.pop(root + shift)[0])[1])  # type: ignore[index]
        pages = _in_order(moved, top)
        for number in pages:
            printed += 1
            last += 1
            moved[last] = _foot(printed, moved[number][0])
            moved[number] = _numbered(moved[number][0], last, font), b""
        moved[top] = moved[top][0].replace(b"<<", b"<</Parent %d 0 R " % tree, 1), b""
        branches.append((top, len(pages)))
        entries.append((title, pages[0]))
        everything |= moved
    kids = b" ".join(b"%d 0 R" % top for top, _ in branches)
    everything[tree] = b"<</Type /Pages /Count %d /Kids [%s]>>" % (sum(n for _, n in branches), kids), b""
    first, final = last + 1, last + len(entries)
    for k, (title, page) in enumerate(entries):
        number = first + k
        around = b"/Prev %d 0 R " % (number - 1) if k else b""
        around += b"/Next %d 0 R " % (number + 1) if number < final else b""
        text = b"FEFF" + title.encode("utf-16-be").hex().upper().encode()
        head = b"<</Title <%s> /Parent %d 0 R %s/Dest [%d 0 R /Fit]>>" % (text, outline, around, page)
        everything[number] = head, b""
    everything[outline] = (
        b"<</Type /Outlines /First %d 0 R /Last %d 0 R /Count %d>>" % (first, final, len(entries)),
        b"",
    )
    everything[catalog] = (
        b"<</Type /Catalog /Pages %d 0 R /Outlines %d 0 R /PageMode /UseOutlines>>" % (tree, outline),
        b"",
    )
    return _written(everything, catalog)


def _shifted(head: bytes, by: int) -> bytes:
    return REFERENCE.sub(lambda found: b"%d 0 R" % (int(found[1]) + by), head)


def _in_order(found, node: int) -> list[int]:
    """The numbers of the pages below a node of the tree."""
    kids = re.search(rb"/Kids\s*\[(.*?)\]", found[node][0], re.S)
    if not kids:
        return [node]
    return [page for kid in REFERENCE.findall(kids[1]) for page in _in_order(found, int(kid))]


def _foot(number: int, page: bytes) -> tuple[bytes, bytes]:
    box = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) [\d.]+\s*\]", page)
    if not box:
        raise ValueError("a page does not say how wide it is")
    text = b"Q BT /PageNumber 9 Tf %.1f %d Td (%d) Tj ET\n" % (float(box[1]) / 2 - 5, FOOT, number)
    return b"<</Length %d>>" % len(text), text


def _numbered(page: bytes, foot: int, font: int) -> bytes:
    """A page that shows its number: its content stands between two streams of ours."""
    content = re.search(rb"/Contents (\d+ 0 R)", page)
    if not content:
        raise ValueError("expected a page with one stream of content")
    page = page.replace(content[0], b"/Contents [5 0 R %s %d 0 R]" % (content[1], foot))
    name = b"/PageNumber %d 0 R" % font
    if b"/Font <<" in page:
        return page.replace(b"/Font <<", b"/Font <<%s " % name, 1)
    return re.sub(rb"/Resources\s*<<", lambda found: found[0] + b"/Font <<%s>> " % name, page, count=1)


def _written(everything: dict[int, tuple[bytes, bytes]], catalog: int) -> bytes:
    out, places = bytearray(b"%PDF-1.4\n%\xd3\xeb\xe9\xe1\n"), {}
    for number, (head, stream) in sorted(everything.items()):
        places[number] = len(out)
        body = head + b"\nstream\n" + stream + b"\nendstream" if stream else head
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start, size = len(out), max(everything) + 1
    rows = [b"%010d 00000 n \n" % places[n] if n in places else b"0000000000 65535 f \n" for n in range(size)]
    out += b"xref\n0 %d\n%s" % (size, b"".join(rows))
    out += b"trailer\n<</Size %d /Root %d 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, catalog, start)
    return bytes(out)
