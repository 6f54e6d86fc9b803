"""Execute chapters and write their notebooks: ``tools/execute.py [book/part/chapter.md ...]``.

The ``.md`` is the source; the notebook gets its cells, runs from top to bottom in a fresh kernel,
and is replaced in one step; the ``.md`` is brought into the form in which jupytext writes it. What a
re-run would change for no reason (timestamps, the interpreter's version, random cell ids) is not stored,
so an unchanged chapter gives an empty ``git diff``.

While chapters run here, their verdicts are written into the ledger (PATCH_ASSOCIATION_RECORD=1);
everywhere else they are compared with it. ``--check`` runs nothing and only compares the pairs;
``--text-only`` runs nothing either, and writes changed prose into the notebooks beside the outputs they have,
and the words of the claims into the cards that they show.
What was edited in a notebook is written over by neither: ``--from-notebooks`` takes it over into the ``.md``.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import edits
from notebooks import cards_in, chapters, differences, name_of, notebook_from_text, write_pair

from patch_lab.kit.files import write_atomically
from patch_lab.kit.ledger import evidence_file

LIMIT_S = 60  # a reader waits this long for a chapter on two cores, and no longer
CELL_TIMEOUT_S = 600


class ChapterFailed(Exception):
    """A chapter could not be executed, or printed what must not be stored."""


def main() -> int:
    """Execute or check the chapters that were named, by default all; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chapters", nargs="*", type=Path, metavar="book/PART/CHAPTER.md")
    parser.add_argument("--check", action="store_true", help="compare the pairs, execute nothing")
    parser.add_argument("--text-only", action="store_true", help="write changed prose, execute nothing")
    parser.add_argument("--from-notebooks", action="store_true", help="take over edits of notebooks")
    parser.add_argument("--allow-slow", action="store_true", help=f"accept chapters over {LIMIT_S} s")
    arguments = parser.parse_args()
    paths = [_chapter(path, parser) for path in arguments.chapters] or chapters()
    if not paths:
        print("There is no chapter yet: book/<part>/<chapter>.md")
        return 0
    if arguments.from_notebooks:
        return _take_over(paths)
    if arguments.text_only:
        return _write_prose(paths)
    return _check(paths) if arguments.check else _execute_all(paths, arguments.allow_slow)


def _chapter(path: Path, parser: argparse.ArgumentParser) -> Path:
    """The chapter's .md, whichever file of the pair was named."""
    text = path.resolve().with_suffix(".md")
    if text not in chapters():
        parser.error(f"{path} is no chapter; expected book/<part>/<chapter>.md")
    return text


def _check(paths: list[Path]) -> int:
    problems = [problem for path in paths for problem in differences(path)]
    for problem in problems:
        print(problem)
    print(
        "Run `make words`, or `make execute` where code changed: some pairs are not as their text says."
        if problems
        else f"{len(paths)} chapters agree with their notebooks."
    )
    return 1 if problems else 0


def _write_prose(paths: list[Path]) -> int:
    failed = 0
    for path in paths:
        try:
            changed = write_prose(path)
        except ChapterFailed as error:
            print(error)
            failed += 1
            continue
        if changed:
            print(f"{name_of(path)}: the prose is written, the outputs are as they were.")
    return 1 if failed else 0


def _take_over(paths: list[Path]) -> int:
    failed = taken = 0
    for path in paths:
        before = _ran(_code(notebook_from_text(path)))
        try:
            if not edits.take(path):
                continue
            taken += 1
            print(f"{name_of(path)}: {path.name} has what was edited in the notebook.")
            if before != _ran(_code(notebook_from_text(path))):
                raise ChapterFailed(
                    f"{name_of(path)} has changed in its code or tags: make execute CHAPTERS={path}"
                )
            write_prose(path)
        except edits.BothEdited as error:
            print(
                f"{name_of(path)} was edited in its notebook and in {path.name}:\n{error}\nWrite these into"
            )
            print("the notebook, or put the .md back with git checkout; then call this again.")
            failed += 1
        except edits.PastedPicture as error:
            print(f"{name_of(path)} has a pasted picture, which its .md cannot hold:\n{error}")
            print("Save it as a file beside the chapter, and show that one; then call this again.")
            failed += 1
        except ChapterFailed as error:
            print(error)
            failed += 1
    if not taken + failed:
        print("No notebook was edited: all that they say is in their .md.")
    return 1 if failed else 0


def refuse_edited(path: Path) -> None:
    """Raise ChapterFailed, with the way out, where the notebook says what its ``.md`` does not."""
    if lost := edits.edits(path):
        file = path.with_suffix(".ipynb")
        raise ChapterFailed(
            f"{name_of(path)} was edited in its notebook, which would be lost:\n  "
            + "\n  ".join(lost)
            + f"\nTake it over with `make text CHAPTERS={path}`, or drop it with `git checkout {file}`."
        )


def write_prose(path: Path) -> bool:
    """Give a notebook the text of its ``.md`` and keep its outputs; whether anything changed.

    Raises
    ------
    ChapterFailed
        If there is no whole notebook, it was edited, or code is not what it was when the outputs were made.
    """
    refuse_edited(path)
    notebook = notebook_from_text(path)
    old = edits.read_notebook(path.with_suffix(".ipynb"))
    if old is None:
        raise ChapterFailed(f"{name_of(path)} has no whole notebook: make execute CHAPTERS={path}")
    before, after = _code(old), _code(notebook)
    if _ran(before) != _ran(after) or not edits.as_run(old, path):
        raise ChapterFailed(
            f"{name_of(path)} has changed in its code or tags, not in its words alone: "
            f"make execute CHAPTERS={path}"
        )
    for cell_before, cell in zip(before, after):
        cell.outputs = cell_before.outputs
        cell.execution_count = cell_before.execution_count
        _say_anew(cell)
    return write_pair(notebook, path)


def _say_anew(cell) -> None:
    """Let a stored card have the words that its claim has today; its numbers are those of the evidence."""
    for output, card in cards_in(cell):
        shown = {"text/markdown": card._repr_markdown_(), "text/plain": repr(card)}
        output.data.update(shown)


def _code(notebook) -> list:
    """The cells that run; editors add empty ones."""
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def _ran(cells: list) -> list:
    """What outputs depend on; captions and alt texts are words."""
    return [(cell.source.strip(), cell.metadata.get("tags", [])) for cell in cells]


def _execute_all(paths: list[Path], allow_slow: bool) -> int:
    failed = []
    slow = []
    for path in paths:
        print(f"{name_of(path)} ...", end=" ", flush=True)
        start = _processor_seconds()
        try:
            execute(path)
        except ChapterFailed as error:
            print(f"FAILED\n{error}")
            failed.append(path)
            continue
        seconds = _processor_seconds() - start
        print(f"{seconds:.1f} s")
        if seconds > LIMIT_S and not allow_slow:
            slow.append(path)
    for path in slow:
        print(
            f"{name_of(path)} takes over {LIMIT_S} s of a processor: make it smaller, or record a sweep "
            "(--allow-slow accepts it)"
        )
    if failed:
        print(f"{len(failed)} of {len(paths)} chapters failed: {', '.join(map(name_of, failed))}")
    elif not slow:
        print(f"{len(paths)} chapters executed.")
    return 1 if failed or slow else 0


def _processor_seconds() -> float:
    """What kernels that have ended took of a processor, whatever ran beside them."""
    return sum(os.times()[2:4])


def execute(path: Path) -> None:
    """Run one chapter in a fresh kernel in its own folder and replace its notebook.

    Raises
    ------
    ChapterFailed
        If the notebook was edited, if a cell fails, or one writes to stderr (a warning or a progress bar does
        not belong in a book).
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    refuse_edited(path)
    notebook = notebook_from_text(path)
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_S,
        kernel_name="python3",
        record_timing=False,
        extra_arguments=["--Application.log_level=ERROR"],  # the kernel warns about its local sockets
        resources={"metadata": {"path": str(path.parent)}},
    )
    with _evidence_of_whole_runs(path):
        try:
            client.execute(env={**os.environ, "PATCH_ASSOCIATION_RECORD": "1", "PYTHONHASHSEED": "0"})
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise ChapterFailed(str(error).strip()) from None
        for number, cell in enumerate(notebook.cells, start=1):
            for output in cell.get("outputs", ()):
                if output.output_type == "stream" and output.name == "stderr":
                    raise ChapterFailed(
                        f"cell {number} writes to stderr, which a page must not show:\n{output.text}"
                    )
    # The kernel reports its own version; the file keeps what notebook_from_text gave it.
    notebook.metadata = notebook_from_text(path).metadata
    write_pair(notebook, path)


@contextmanager
def _evidence_of_whole_runs(path: Path):
    """Give a chapter's evidence back as it was if its run fails: evidence and outputs are of one run."""
    file = evidence_file(name_of(path))
    before = file.read_bytes() if file.exists() else None
    try:
        yield
    except BaseException:
        if before is None:
            file.unlink(missing_ok=True)
        else:
            write_atomically(file, before)
        raise


if __name__ == "__main__":
    sys.exit(main())
