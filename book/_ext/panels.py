"""The panels of a stored figure, apart: on a phone they stand below one another.

A figure of several axes is one SVG, laid out for a desk. Here it is cut where nothing is drawn, into rows and
these into panels, each an SVG of its own. On a desk the panels stand where they stood. On a phone each is as
wide as its column, with the scale that it shares with a neighbor; none is drawn wider than a phone can show
(:data:`patch_lab.kit.figures.style.WIDTHS`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from xml.etree.ElementTree import Element, SubElement, TreeBuilder, XMLParser, fromstring, tostring

import numpy as np
from fontTools.misc.transform import Identity, Transform

#: In points, as all lengths here: two pieces may overlap by as much and are still cut apart.
OVERLAP = 3.0
#: An axes that is as narrow is a scale of colors, and stays with its neighbor.
BAR = 26.0
#: Letters that stand as high above an axes are its title.
TITLE = 8.0

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
    """A part of a figure: its elements; its box, with room for a scale shown on a phone alone; its row's."""

    parts: list[Element]
    box: Box
    row: tuple[float, float]
    titled: bool = False


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

    def rows(self) -> list[list[Panel]]:
        """The panels of each row."""
        lines = apart(self._items(), 1)
        self.wide = max(self.wide, *(item.ink[2] for line in lines for item in line))
        rows = []
        for line, (top, bottom) in zip(lines, edges(lines, 1, self.high)):
            groups = apart(line, 0)
            row = []
            for group, (left, right) in zip(groups, edges(groups, 0, self.wide)):
                ink = union(item.ink for item in group)
                box = (max(left, ink[0] - 1.5), ink[1] - 1.5, min(right, ink[2] + 1.5), ink[3] + 1.5)
                parts = [part for item in group for part in item.parts]
                row.append(Panel(parts, box, (top, bottom), any(map(self._titled, parts))))
            rows.append(row)
        panels = [panel for row in rows for panel in row]
        for panel in panels:
            for axes in filter(is_axes, list(panel.parts)):
                self._borrow(panel, axes, panels)
        return rows

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

    def _titled(self, part: Element) -> bool:
        return is_axes(part) and self.ink(part)[1] < self.frame(part)[1] - TITLE

    def _borrow(self, panel: Panel, axes: Element, panels: list[Panel]) -> None:
        """An axes that leaves its scale to a neighbor shows it, too, on a phone."""
        own = scale(axes, 1)
        if own is None or own.find(".//use") is None or lettered(own):
            return
        frame = self.frame(axes)
        others = [part for other in panels if other is not panel for part in other.parts]
        for lender in filter(is_axes, others):
            theirs = self.frame(lender)
            lent = scale(lender, 1)
            aligned = abs(theirs[1] - frame[1]) + abs(theirs[3] - frame[3]) < 1
            if lent is None or not lettered(lent) or not aligned:
                continue
            by = frame[0] - theirs[0]
            SubElement(panel.parts[0], "use", {
                "class": "pa-lent", "href": f"#{lent.attrib['id']}", "transform": f"translate({by:.2f} 0)",
            })  # fmt: skip
            x0, y0, x1, y1 = panel.box
            panel.box = (min(x0, self.ink(lent)[0] + by - 1.5), y0, x1, y1)
            return


# ---- elements


def elements(root: Element):
    """All elements, comments left out."""
    return (one for one in root.iter() if isinstance(one.tag, str))


def is_axes(element: Element) -> bool:
    """Whether an element is an axes."""
    return element.get("id", "").startswith("axes")


def scale(axes: Element, side: int) -> Element | None:
    """The scale to the side (0) or in height (1) of an axes."""
    scales = [one for one in axes if one.get("id", "").startswith("matplotlib.axis")]
    return scales[side] if len(scales) > side else None


def lettered(axis: Element) -> bool:
    """Whether a scale has letters."""
    return any(one.get("id", "").startswith("text") for one in elements(axis))


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


def extent(path: str) -> Box:
    """The box of a path, whose commands are absolute: that of its points."""
    numbers = np.array(re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", path), dtype=float)
    if not len(numbers):
        return NOTHING
    points = numbers.reshape(-1, 2)  # (points, 2): x and y
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


def written(part: Element) -> str:
    """An element as text, without comments."""
    return re.sub(r"<!--.*?-->", "", tostring(part, encoding="unicode"), flags=re.DOTALL)
