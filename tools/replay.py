"""Replay every notebook alone: ``tools/replay.py [book/part/chapter.ipynb ...]``.

What Colab does, made strict. The package is built into a wheel and installed into an empty folder;
each notebook is copied by itself into another, so that nothing of the repository lies beside it;
nbval runs it there and compares every output with the stored one (pictures excepted).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from notebooks import ROOT, chapters, name_of  # noqa: E402

SANITIZE = ROOT / "tests" / "nbval_sanitize.cfg"
CELL_TIMEOUT_S = 300
WORKERS = 2


def main() -> int:
    """Replay the chapters that were named, by default all; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
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
        for notebook in notebooks:
            alone = place / "alone" / notebook.parent.name / notebook.stem
            alone.mkdir(parents=True)
            shutil.copy2(notebook, alone)
        status = replay(place / "alone", site)
    print(f"{len(notebooks)} notebooks run alone and give what they store." if status == 0 else
          "Replay failed: the lines with FAILED name the chapters; `make execute` stores new outputs.")
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
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--target", str(site), str(wheel)], check=True)
    code = "import patch_association; print(patch_association.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment(site), cwd=place, capture_output=True, text=True
    )
    if not found.stdout.startswith(str(site)):
        raise SystemExit(f"The notebooks would not import the wheel but {found.stdout or found.stderr}")
    return site


def environment(site: Path) -> dict[str, str]:
    """The environment of the kernels: the wheel comes first, and verdicts are compared, not recorded."""
    variables = {key: value for key, value in os.environ.items() if key != "PATCH_ASSOCIATION_RECORD"}
    return {**variables, "PYTHONPATH": str(site)}


def replay(folder: Path, site: Path) -> int:
    """Run strict nbval over the copies; pytest's exit status."""
    (folder / "pytest.ini").write_text("[pytest]\n")  # the repository's settings are not for these
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
        "-c", "pytest.ini", "--rootdir", ".",
        "--nbval", "--nbval-current-env", f"--nbval-sanitize-with={SANITIZE}",
        "--nbval-cell-timeout", str(CELL_TIMEOUT_S),
        # A notebook's cells share a kernel, so they must share a worker.
        "-n", str(WORKERS), "--dist", "loadfile", ".",
    ]
    return subprocess.run(command, cwd=folder, env=environment(site), stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())
