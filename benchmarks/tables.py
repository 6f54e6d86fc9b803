"""Write what was timed into ``benchmarks/README.md``, between its marks.

The numbers are those of ``benchmarks/kept.json``, written by ``make bench KEEP=1`` on a quiet machine, and of
``benchmarks/gpu.json``, written by ``make bench-gpu`` where there is a GPU.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from patch_lab.kit.files import write_atomically

README = Path(__file__).with_name("README.md")
KEPT = README.with_name("kept.json")
GPU = README.with_name("gpu.json")
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def seconds(x: float) -> str:
    """A time with two significant digits and the unit that suits it."""
    size, unit = next((scaled for scaled in _UNITS if x >= scaled[0]), _UNITS[-1])
    return _with_unit(digits(x / size), unit)


def digits(x: float) -> str:
    """Two significant digits, without an exponent."""
    rounded = float(f"{x:.2g}")
    if x >= 10:
        return f"{rounded:,.0f}"
    if x >= 0.1:
        return f"{x:#.2g}"
    return f"{rounded:.10f}".rstrip("0")


def _with_unit(text: str, unit: str) -> str:
    return f"{text}\N{NO-BREAK SPACE}{unit}"


def quickness(ratio: float) -> str:
    """How many times as fast as the other: the inverse of a ratio of times."""
    return digits(1 / ratio)


def compared(rows: list[dict]) -> str:
    """A table of pairs: both times, how many times as fast ours is, and the quartiles of that."""
    lines = ["| what | here | the other way | | times as fast |", "|:--|--:|:--|--:|--:|"]
    for row in rows:
        spread = f"{quickness(row['ratio'])} [{quickness(row['high'])}, {quickness(row['low'])}]"
        times = f"{seconds(row['ours_s'])} | {row['theirs']} | {seconds(row['theirs_s'])}"
        lines.append(f"| {row['name']}{_more(row)} | {times} | {spread} |")
    return "\n".join(lines)


def _more(row: dict) -> str:
    notes = []
    if "bandwidth_share" in row:
        notes.append(f"{100 * row['bandwidth_share']:.0f}% of the memory's speed")
    if "memory" in row:
        notes.append(f"{digits(row['memory'])} of the memory kept")
    if "peak" in row:
        notes.append(f"{digits(row['peak'])} of the peak")
    if "formula" in row:
        notes.append(f"{digits(row['formula'])} of vanilla's products")
    return f" ({'; '.join(notes)})" if notes else ""


def about(machine: dict) -> str:
    """The machine in a sentence."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    cores = f"{machine['cores']} cores of {machine['processor']}, {machine['threads']} of them for torch"
    return (
        f"Timed on {machine['date']} on {cores}, at a load of {machine['load']:g} before the start, "
        f"with {versions}."
    )


def trained(table: dict) -> str:
    """Training at the paper's size: images a second, what of the card's peak that is, and memory."""
    lines = [
        f"Timed on {table['date']} on one {table['hardware']}, with torch {table['torch']}.",
        "",
        "| what | code | images a second | of the peak | memory |",
        "|:--|:--|--:|--:|--:|",
    ]
    for row in table["rows"]:
        if "images_per_s" not in row:  # failed, left out, or a profile
            continue
        note = f"{row['name']} ({row['code']})" if "code" in row else row["name"]
        share = f"{100 * row['share_of_peak']:.0f}%" if "share_of_peak" in row else "–"
        memory = _with_unit(digits(row["memory_gb"]), "GB") if "memory_gb" in row else "–"
        lines.append(f"| {note} | {row['commit']} | {row['images_per_s']:,.0f} | {share} | {memory} |")
    return "\n".join(lines)


def write() -> None:
    """Put every table between its marks, ``<!-- timed NAME -->`` and ``<!-- end -->``."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    tables = {"machine": about(kept["machine"])}
    tables |= {name: compared(rows) for name, rows in kept["results"].items()}
    tables["gpu"] = trained(json.loads(GPU.read_text(encoding="utf-8")))

    def filled(mark: re.Match) -> str:
        return f"{mark[1]}\n{tables[mark[2]]}\n{mark[3]}"

    text = README.read_text(encoding="utf-8")
    mark = re.compile(r"(<!-- timed (\w+) -->\n).*?(\n<!-- end -->)", re.DOTALL)
    write_atomically(README, mark.sub(filled, text))


if __name__ == "__main__":
    write()
