"""Replay every notebook alone: ``tools/replay.py [book/part/chapter.ipynb ...]``.

What Colab does, made strict. The package is built into a wheel and installed into an empty folder;
each notebook of the edition (the book's cells and those that show its prose's numbers) is written by
itself into another, so that nothing of the repository lies beside it; nbval runs it there and compares every
output with the stored one (pictures excepted).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parent))

from book_labels import read_book
from edition import make
from notebooks import ROOT, chapters, name_of, write_notebook

SANITIZE = ROOT / "tests" / "nbval_sanitize.cfg"
CELL_TIMEOUT_S = 300
WORKERS = min(8, os.cpu_count() or 1)  # each holds a kernel with PyTorch


def main() -> int:
    """Replay the chapters that were named, by default all; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chapters", nargs="*", type=Path, metavar="book/PART/CHAPTER.ipynb")
    named = parser.parse_args().chapters
    notebooks = [path.resolve().with_suffix(".ipynb") for path in named or chapters()]
    missing = [name_of(path) for path in notebooks if not path.exists()]
    if missing or not notebooks:
        print(f"No notebook to replay for {', '.join(missing) or 'any chapter'}: run `make execute`.")
        return 1
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        place = Path(folder).resolve()
        site = install_wheel(place)
        book = read_book()
        for notebook in notebooks:
            alone = place / "alone" / notebook.parent.name / notebook.stem
            alone.mkdir(parents=True)
            file = str(notebook.with_suffix("").relative_to(ROOT))
            write_notebook(make(file, book, images=False), alone / notebook.name)
        status = replay(place / "alone", site)
    print(
        f"{len(notebooks)} notebooks run alone and give what they store."
        if status == 0
        else "Replay failed: the lines with FAILED name the chapters; `make execute` stores new outputs."
    )
    return status


def install_wheel(place: Path) -> Path:
    """Build the package's wheel and unpack it into an empty folder, without a network; that folder."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    built = subprocess.run(
        [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(place / "wheel"), str(ROOT)],
        stdin=subprocess.DEVNULL,
    )
    if built.returncode:
        raise SystemExit("The wheel could not be built: pip's lines above say why.")
    (wheel,) = (place / "wheel").glob("*.whl")
    site = place / "site"
    subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", "--target", str(site), str(wheel)], check=True
    )
    code = "import patch_association; print(patch_association.__file__)"
    imported = subprocess.run(
        [sys.executable, "-c", code], env=environment(site), cwd=place, capture_output=True, text=True
    )
    if not imported.stdout.startswith(str(site)):
        raise SystemExit(f"The notebooks would not import the wheel but {imported.stdout or imported.stderr}")
    return site


def environment(site: Path) -> dict[str, str]:
    """The environment of the kernels: the wheel comes first, and verdicts are compared, not recorded."""
    variables = {key: value for key, value in os.environ.items() if key != "PATCH_ASSOCIATION_RECORD"}
    # A worker for each core is enough: threads of several kernels wait for one another.
    return {"OMP_NUM_THREADS": "1", **variables, "PYTHONPATH": str(site)}


def replay(folder: Path, site: Path) -> int:
    """Run strict nbval over the copies; pytest's exit status.

    A kernel that never answered says nothing about its notebook: two kernels that start at once can
    be given the same port. Such notebooks, and no others, are replayed once more, one after another.
    """
    (folder / "pytest.ini").write_text("[pytest]\n")  # the repository's settings are not for these
    report = folder.parent / "report.xml"
    # A notebook's cells share a kernel, so they must share a worker.
    status = run_nbval(folder, site, ["-n", str(WORKERS), "--dist", "loadfile", f"--junitxml={report}", "."])
    silent, failed = unsettled(report)
    if status == 0 or failed or not silent:
        return status
    print(f"The kernels of {', '.join(silent)} never answered; replaying these alone.", flush=True)
    return run_nbval(folder, site, [name.replace(".", "/") + ".ipynb" for name in silent])


def run_nbval(folder: Path, site: Path, options: list[str]) -> int:
    """One run of pytest with nbval, strict; its exit status."""
    alone = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        "pytest.ini",
        "--rootdir",
        ".",
        "--nbval",
        "--nbval-current-env",
    ]
    strict = [f"--nbval-sanitize-with={SANITIZE}", f"--nbval-cell-timeout={CELL_TIMEOUT_S}"]
    command = [sys.executable, "-m", "pytest", *alone, *strict, *options]
    return subprocess.run(command, cwd=folder, env=environment(site), stdin=subprocess.DEVNULL).returncode


def unsettled(report: Path) -> tuple[list[str], bool]:
    """The notebooks whose kernel never answered, and whether anything else went wrong."""
    silent = set()
    failed = False
    for case in ElementTree.parse(report).iter("testcase"):
        for trouble in (*case.findall("error"), *case.findall("failure")):
            if "Kernel didn't respond" in f"{trouble.get('message')} {trouble.text}":
                silent.add(case.get("classname", "").removesuffix(".ipynb"))
            else:
                failed = True
    return sorted(silent), failed


if __name__ == "__main__":
    sys.exit(main())
