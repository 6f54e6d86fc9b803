"""The panels of a stored figure, apart: on a phone they stand below one another.

A figure of several axes is one SVG, laid out for a desk. Here it is cut where nothing is drawn, into rows and
these into panels, each an SVG of its own. On a desk the panels stand where they stood. On a phone each is as
wide as the screen, below its title, and with the scale that it shares with a neighbor; ``figures.js`` draws
anew what is still too wide: all that lies inside the axes moves together, and letters keep their size.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from xml.etree.ElementTree import Element, SubElement, TreeBuilder, XMLParser, fromstring, tostring

import numpy as np
from fontTools.misc.transform import Identity, Transform
from matplotlib.path import Path

#: In points, as all lengths here: two pieces may overlap by as much and are still cut apart.
OVERLAP = 3.0
#: An axes that is as narrow is a scale of colors, and stays with its neighbor.
BAR = 26.0
#: A drawing that has no scale is cut in its middle where there is a gap as wide.
GAP = 8.0
#: A panel that is wider than this does not fit on a phone in letters of eleven pixels.
PHONE = 340.0
#: The least size of letters.
LETTERS = 10.4
#: A name at the end of a curve begins as far behind it (:func:`patch_lab.kit.figures.style.label_ends`).
BEHIND = 6.0

Box = tuple[float, float, float, float]
NOTHING: Box = (inf, inf, -inf, -inf)


def union(boxes: Iterable[Box]) -> Box:
    """The least box around all."""
    boxes = [NOTHING, *boxes]
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


def overlap(a: Box, b: Box, side: int) -> float:
    """How far two boxes overlap to the side (0) or in height (1); negative is a gap."""
    return min(a[side + 2], b[side + 2]) - max(a[side], b[side])


@dataclass
class Item:
    """What is not cut: an axes with its scale of colors, or what stands outside all axes."""

    parts: list[Element]
    ink: Box


@dataclass
class Panel:
    """A part of a figure: its elements, its box on a desk, and its box on a phone, without its title."""

    parts: list[Element]
    box: Box
    narrow: Box = NOTHING
    spans: list[tuple[float, float]] = field(default_factory=list)
    title: str = ""


class Figure:
    """A figure as Matplotlib stores it, by its elements' boxes."""

    def __init__(self, svg: str):
        # Without name spaces, names are read and written as they are.
        bare = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg[svg.index("<svg") :]).replace("xlink:href", "href")
        bare = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", bare, flags=re.DOTALL)
        self.root = fromstring(bare, XMLParser(target=TreeBuilder(insert_comments=True)))
        self.wide, self.high = (float(x) for x in self.root.attrib["viewBox"].split()[2:])
        self.named = {one.attrib["id"]: one for one in elements(self.root) if "id" in one.attrib}
        self._kept: dict[int, Box] = {}

    def rows(self, whole: bool = False) -> list[list[Panel]]:
        """The panels of each row; ``whole`` keeps a drawing that has no scale uncut."""
        for text in elements(self.root):
            if text.get("id", "").startswith("text"):
                enlarge(text)
        lines = apart(self._items(), 1)
        self.wide = max(self.wide, *(item.ink[2] for line in lines for item in line))
        panels = []
        for line, (top, bottom) in zip(lines, edges(lines, 1, self.high)):
            groups = apart(line, 0)
            row = []
            for group, (left, right) in zip(groups, edges(groups, 0, self.wide)):
                ink = union(item.ink for item in group)
                box = (max(left, ink[0] - 1.5), top, min(right, ink[2] + 1.5), bottom)
                row.append(Panel([part for item in group for part in item.parts], box))
            panels.append(row)
        if len(panels) == len(panels[0]) == 1 and not whole:
            panels[0] = self._halves(panels[0][0])
        for row in panels:
            for panel in row:
                self._describe(panel)
        self._share([panel for row in panels for panel in row])
        return panels

    # ---- where things are

    def ink(self, element: Element, at: Transform = Identity) -> Box:
        """The box of what an element draws, where ``at`` puts it."""
        if at is Identity and id(element) in self._kept:
            return self._kept[id(element)]
        box = self._ink(element, at)
        if at is Identity:
            self._kept[id(element)] = box
        return box

    def _ink(self, element: Element, at: Transform) -> Box:
        if not isinstance(element.tag, str) or element.tag in ("defs", "clipPath"):
            return NOTHING
        inner = at.transform(transform_of(element))
        box = NOTHING
        if element.tag == "g":
            box = union(self.ink(child, inner) for child in element)
        elif element.tag == "use":
            target = self.named[element.attrib["href"][1:]]
            inner = inner.translate(float(element.get("x", 0)), float(element.get("y", 0)))
            box = moved(extent(target.get("d", "")), inner.transform(transform_of(target)))
        elif element.tag == "image":
            x, y, w, h = (float(element.get(key, 0)) for key in ("x", "y", "width", "height"))
            box = moved((x, y, x + w, y + h), inner)
        elif element.tag == "path" and seen(element):
            box = moved(extent(element.get("d", "")), inner)
        clip = re.search(r"#([^)]+)", element.get("clip-path", ""))
        if clip is None or box == NOTHING:
            return box
        shape = next(iter(self.named[clip[1]]))
        if shape.tag == "rect":
            x, y, w, h = (float(shape.attrib[key]) for key in ("x", "y", "width", "height"))
            window = (x, y, x + w, y + h)
        else:
            window = extent(shape.attrib["d"])
        window = moved(window, inner)
        if overlap(box, window, 0) < 0 or overlap(box, window, 1) < 0:
            return NOTHING
        return (
            max(box[0], window[0]), max(box[1], window[1]), min(box[2], window[2]), min(box[3], window[3])
        )  # fmt: skip

    def frame(self, axes: Element) -> Box:
        """The box between the four sides of an axes: its ground, which is there and is not seen."""
        ground = next((one for one in axes if one.get("id", "").startswith("patch")), None)
        path = None if ground is None else ground.find("path")
        return self.ink(axes) if path is None or seen(path) else extent(path.attrib["d"])

    # ---- what stays together

    def _items(self) -> list[Item]:
        drawing = self.root.find("g")
        items: list[Item] = []
        for one in drawing if drawing is not None else ():
            if not isinstance(one.tag, str) or one.attrib["id"] == "patch_1":  # the ground is the page's
                continue
            item = Item([one], self.ink(one))
            if one.attrib["id"].startswith("legend"):
                items += self._entries(one)
                continue
            if item.ink == NOTHING:
                continue
            if is_axes(one):
                frame = self.frame(one)
                left = [old for old in items if is_axes(old.parts[0]) and old.ink[0] < frame[0]]
                left = [old for old in left if overlap(old.ink, frame, 1) > 0]
                if frame[2] - frame[0] < min(BAR, frame[3] - frame[1]) and left:
                    item.ink = union([item.ink, max(left, key=lambda old: old.ink[2]).ink])
            near = [
                old
                for old in items
                if overlap(old.ink, item.ink, 0) > OVERLAP and overlap(old.ink, item.ink, 1) > OVERLAP
            ]
            for old in near:
                item = Item([*old.parts, *item.parts], union([old.ink, item.ink]))
                items.remove(old)
            items.append(item)
        return self._columns(items)

    def _columns(self, items: list[Item]) -> list[Item]:
        """Axes that hang over the same scale stay together, and a label at their side with them."""
        columns: list[Item] = []
        for item in sorted(items, key=lambda one: -one.ink[3]):
            first = item.parts[0]
            below = []
            if is_axes(first) and len(item.parts) == 1 and (own := scale(first, 0)) is not None:
                frame = self.frame(first)
                if own.find(".//use") is not None and not lettered(own):
                    below = [old for old in columns if any(self._hangs(frame, part) for part in old.parts)]
            for old in below:
                item = Item([*item.parts, *old.parts], union([item.ink, old.ink]))
                columns.remove(old)
            columns.append(item)
        for item in [one for one in columns if not is_axes(one.parts[0])]:
            if item.ink[2] - item.ink[0] < min(BAR, item.ink[3] - item.ink[1]):
                columns.remove(item)
                beside = [one for one in columns if overlap(one.ink, item.ink, 1) > 0]
                near = min(beside, key=lambda one: abs(one.ink[0] - item.ink[2]))
                near.parts.append(item.parts[0])
                near.ink = union([near.ink, item.ink])
        return columns

    def _hangs(self, frame: Box, part: Element) -> bool:
        below = self.frame(part)
        return is_axes(part) and abs(below[0] - frame[0]) + abs(below[2] - frame[2]) < 1

    def _entries(self, legend: Element) -> list[Item]:
        """The entries of a legend that stands outside all axes: each a sample with its words."""
        items: list[Item] = []
        parts: list[Element] = []
        for one in legend:
            if self.ink(one) in (NOTHING, self.ink(legend)):  # its frame
                continue
            parts.append(one)
            if one.get("id", "").startswith("text"):
                entry = Element("g", {"id": f"legend-{len(items)}"})
                entry.extend(parts)
                items.append(Item([entry], self.ink(entry)))
                parts = []
        return items

    def _halves(self, panel: Panel) -> list[Panel]:
        """A wide drawing without scales, cut where its middle is empty."""
        axes = panel.parts[0]
        if panel.box[2] - panel.box[0] < PHONE or len(panel.parts) > 1 or not is_axes(axes) or ticked(axes):
            return [panel]
        inks = sorted(ink for ink in map(self.ink, axes) if ink != NOTHING)
        reached = inks[0][2]
        cuts = []
        for ink in inks[1:]:
            if ink[0] - reached > GAP and 0.3 < (ink[0] + reached) / 2 / self.wide < 0.82:
                cuts.append((reached + ink[0]) / 2)
            reached = max(reached, ink[2])
        if not cuts:
            return [panel]
        cut = min(cuts, key=lambda x: abs(x - self.wide / 2))
        halves = []
        for first, (left, right) in zip((True, False), ((panel.box[0], cut), (cut, panel.box[2]))):
            part = Element("g", {"id": axes.attrib["id"] if first else ""})
            for child in axes:
                ink = self.ink(child)
                if (ink[0] < cut) == first and (ink != NOTHING or first):
                    part.append(child)
            halves.append(Panel([part], (left, panel.box[1], right, panel.box[3])))
        return halves

    # ---- what a phone needs to know

    def _describe(self, panel: Panel) -> None:
        titles = []
        inks = []
        for part in panel.parts:
            if is_axes(part):
                frame = self.frame(part)
                if frame == self.ink(part):  # it has no ground: words beside what is drawn keep their size
                    drawn = (self.ink(one) for one in part if not one.get("id", "").startswith("text"))
                    frame = union(drawn)
                panel.spans.append((frame[0], frame[2]))
                titles += self._mark(part, frame)
            elif part.attrib.get("id", "").startswith(("legend", "text")):
                mark(part, sum(self.ink(part)[0::2]) / 2)
            inks += [self.ink(one) for one in (part if is_axes(part) else [part]) if not is_title(one)]
        box = union(inks)
        panel.narrow = (panel.box[0], box[1] - 2, panel.box[2], box[3] + 2)
        # A title of two lines keeps both, unless it is one of several.
        panel.title = said(titles[0]) if len(titles) == 1 else " · ".join(map(first_line, titles))
        panel.spans = merged(panel.spans)
        for axis in filter(None, (scale(part, 0) for part in panel.parts if is_axes(part))):
            axis.set("data-axis", "")

    def _mark(self, axes: Element, frame: Box) -> list[Element]:
        """Mark an axes' words with the place that each keeps; its titles."""
        ends = {round(end, 1) for path in axes.iter("path") for end in [extent(path.get("d", ""))[2]]}
        titles = []
        for part in axes:
            name = part.get("id", "")
            if name.startswith("legend"):
                box = self.ink(part)
                mark(part, box[2] if box[0] + box[2] > frame[0] + frame[2] else box[0])
                continue
            for text in elements(part):
                if not text.get("id", "").startswith("text"):
                    continue
                box = self.ink(text)
                if box == NOTHING:
                    continue
                if text is part and bold(text) and box[3] <= frame[1] and abs(box[0] - frame[0]) < 4:
                    text.set("class", "pa-title")
                    titles.append(text)
                    continue
                mark(text, self._kept_place(text, box, frame, ends))
                if text is part:
                    text.set("class", "pa-word")
        for text in [one for one in axes if one.get("class") == "pa-word"]:
            if self._on_ground(axes, self.ink(text)):
                text.set("data-stays", "")  # in its cell, its bar or its disc
            else:
                halo = Element("use", {"class": "pa-halo", "href": f"#{text.attrib['id']}"})
                axes.insert(list(axes).index(text), halo)
        return titles

    def _on_ground(self, axes: Element, word: Box) -> bool:
        """Whether a word stands on something that is filled: a cell, a bar, an area, a raster."""
        middle = ((word[0] + word[2]) / 2, (word[1] + word[3]) / 2)
        for one in elements(axes):
            if one.tag == "path" and "fill: none" not in one.get("style", "fill: none"):
                points = vertices(one.get("d", ""))
                if len(points) > 2 and Path(points).contains_point(middle):
                    return True
            elif one.tag == "image":
                box = self.ink(one)
                if box[0] <= middle[0] <= box[2] and box[1] <= middle[1] <= box[3]:
                    return True
        return False

    def _kept_place(self, text: Element, box: Box, frame: Box, ends: set[float]) -> float:
        if box[0] >= frame[2] - 1:
            return box[0]
        if box[2] <= frame[0] + 1:
            return box[2]
        origin = next((transform_of(one)[4] for one in text.iter("g") if "transform" in one.attrib), box[0])
        if any(abs(origin - BEHIND - end) < 0.8 for end in ends):
            return origin
        return (box[0] + box[2]) / 2

    def _share(self, panels: list[Panel]) -> None:
        """A panel that leaves its scale to a neighbor shows it, too, on a phone."""
        for panel in panels:
            for axes in filter(is_axes, list(panel.parts)):
                for side in (0, 1):
                    self._borrow(panel, axes, side, panels)

    def _borrow(self, panel: Panel, axes: Element, side: int, panels: list[Panel]) -> None:
        own = scale(axes, side)
        if own is None or own.find(".//use") is None or lettered(own):
            return
        frame = self.frame(axes)
        for other in panels:
            for lender in other.parts:
                if other is panel or not is_axes(lender):
                    continue
                theirs = self.frame(lender)
                lent = scale(lender, side)
                aligned = abs(theirs[side] - frame[side]) + abs(theirs[side + 2] - frame[side + 2]) < 1
                if lent is None or not lettered(lent) or not aligned:
                    continue
                by = (frame[0] - theirs[0], 0.0) if side else (0.0, frame[3] - theirs[3])
                SubElement(panel.parts[0], "use", {
                    "class": "pa-lent", "href": f"#{lent.attrib['id']}",
                    "transform": f"translate({by[0]:.2f} {by[1]:.2f})",
                })  # fmt: skip
                panel.narrow = union([panel.narrow, moved(self.ink(lent), Identity.translate(*by))])
                return


# ---- elements


def elements(root: Element):
    """All elements, comments left out."""
    return (one for one in root.iter() if isinstance(one.tag, str))


def is_axes(element: Element) -> bool:
    """Whether an element is an axes."""
    return element.get("id", "").startswith("axes")


def is_title(element: Element) -> bool:
    """Whether an element was found to be the title of its axes."""
    return element.get("class") == "pa-title"


def scale(axes: Element, side: int) -> Element | None:
    """The scale to the side (0) or in height (1) of an axes."""
    scales = [one for one in axes if one.get("id", "").startswith("matplotlib.axis")]
    return scales[side] if len(scales) > side else None


def lettered(axis: Element) -> bool:
    """Whether a scale has letters."""
    return any(one.get("id", "").startswith("text") for one in elements(axis))


def ticked(axes: Element) -> bool:
    """Whether an axes has scales."""
    return any(one is not None and one.find(".//use") is not None for one in (scale(axes, 0), scale(axes, 1)))


def bold(text: Element) -> bool:
    """Whether a text begins in bold letters."""
    glyph = next(text.iter("use"), None)
    return glyph is not None and "Bold" in glyph.attrib["href"]


def said(text: Element) -> str:
    """What a text was written as: Matplotlib keeps each line in a comment."""
    lines = [(one.text or "").strip() for one in text.iter() if not isinstance(one.tag, str)]
    return "\n".join(lines)


def first_line(text: Element) -> str:
    """The first line of a text."""
    return said(text).split("\n")[0]


def mark(element: Element, x: float) -> None:
    """A word keeps this place of it where it is drawn anew."""
    element.set("data-x", f"{x:.1f}")


def enlarge(text: Element) -> None:
    """No letters smaller than can be read."""
    for one in text.iter("g"):
        size = re.search(r"scale\((0\.\d+) -0\.\d+\)", one.get("transform", ""))
        if size and float(size[1]) < LETTERS / 100:
            one.set(
                "transform",
                one.attrib["transform"].replace(size[0], f"scale({LETTERS / 100} -{LETTERS / 100})"),
            )


def seen(path: Element) -> bool:
    """Whether a path has a line or is filled."""
    style = path.get("style", "")
    return "fill: none" not in style or "stroke:" in style


def transform_of(element: Element) -> Transform:
    """An element's own transformation."""
    transform = Identity
    for name, given in re.findall(r"(\w+)\(([^)]*)\)", element.get("transform", "")):
        numbers = [float(x) for x in re.split(r"[\s,]+", given.strip())]
        if name == "rotate":
            transform = transform.rotate(np.radians(numbers[0]))
        elif name == "matrix":
            transform = transform.transform(Transform(*numbers))
        else:
            transform = getattr(transform, name)(*numbers)
    return transform


def vertices(path: str) -> np.ndarray:
    """The points of a path, whose commands are absolute."""
    numbers = np.array(re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", path), dtype=float)
    return numbers.reshape(-1, 2)  # (points, 2): x and y


def extent(path: str) -> Box:
    """The box of a path, whose commands are absolute: that of its points."""
    points = vertices(path)
    if not len(points):
        return NOTHING
    return (*points.min(axis=0).tolist(), *points.max(axis=0).tolist())


def moved(box: Box, by: Transform) -> Box:
    """The box around a box that is moved."""
    if box == NOTHING:
        return NOTHING
    corners = [by.transformPoint((x, y)) for x in box[0::2] for y in box[1::2]]
    return union((x, y, x, y) for x, y in corners)


# ---- cuts


def apart(items: list[Item], side: int) -> list[list[Item]]:
    """The items in groups between which a straight cut leads, in order."""
    groups: list[list[Item]] = []
    reached = -inf
    for item in sorted(items, key=lambda one: one.ink[side]):
        if item.ink[side] > reached - OVERLAP or not groups:
            groups.append([])
        groups[-1].append(item)
        reached = max(reached, item.ink[side + 2])
    return groups


def edges(groups: list[list[Item]], side: int, end: float) -> list[tuple[float, float]]:
    """Where each group begins and ends: in the middle of the gaps."""
    inks = [union(item.ink for item in group) for group in groups]
    cuts = [(a[side + 2] + b[side]) / 2 for a, b in pairwise(inks)]
    return list(pairwise([0.0, *cuts, end]))


def merged(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Intervals that overlap, as one."""
    intervals: list[tuple[float, float]] = []
    for low, high in sorted(spans):
        if intervals and low <= intervals[-1][1]:
            intervals[-1] = (intervals[-1][0], max(intervals[-1][1], high))
        else:
            intervals.append((low, high))
    return intervals


def written(part: Element) -> str:
    """An element as text, without comments."""
    return re.sub(r"<!--.*?-->", "", tostring(part, encoding="unicode"), flags=re.DOTALL)
