"""Reading the recorded sweeps of this part: from cells to one table of errors a learner and size.

``cells`` is a record, a view of one (``record.where(learner="likelihood")``) or any list of cells.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


def errors_by_size(cells) -> tuple[np.ndarray, np.ndarray]:
    """The errors of the cells of one learner and one D: sizes (K,) and errors (seeds, K).

    A cell holds either several sizes (``sizes``, and errors (seeds, K)) or one (``samples``, and one
    error a seed). Cells that differ in ``first_seed`` alone are put below one another.

    Raises
    ------
    ValueError
        If a cell has no errors or does not say of how many samples, or the sizes have different numbers of
        seeds.
    """
    cells = _with_keys(cells, "errors")
    if wrong := [sorted(cell) for cell in cells if not {"sizes", "samples"} & cell.keys()]:
        raise ValueError(f"every cell must hold 'sizes' or 'samples', got one with {wrong[0]}")
    columns: dict[int, list[float]] = {}
    for cell in sorted(cells, key=lambda cell: cell.get("first_seed", 0)):
        errors = np.asarray(cell["errors"], dtype=np.float64)
        sizes = cell["sizes"] if "sizes" in cell else [cell["samples"]]
        for size, column in zip(sizes, errors.reshape(len(errors), -1).T):
            columns.setdefault(int(size), []).extend(column.tolist())
    sizes = sorted(columns)
    seeds = [len(columns[size]) for size in sizes]
    if len(set(seeds)) > 1:
        raise ValueError(f"the cells must have the same seeds at every size, got {seeds}")
    return np.array(sizes, dtype=np.int64), np.array([columns[size] for size in sizes]).T


def errors_by_patches(cells) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """:func:`errors_by_size` for every number of patches, in order.

    Raises
    ------
    ValueError
        Where :func:`errors_by_size` refuses, or if a cell has no ``num_patches``.
    """
    cells = _with_keys(cells, "num_patches")
    patches = sorted({cell["num_patches"] for cell in cells})
    return {D: errors_by_size([cell for cell in cells if cell["num_patches"] == D]) for D in patches}


def averaged_by_patches(cells, over: str) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """:func:`errors_by_patches` with the cells that differ in ``over`` alone averaged, seed by seed.

    Such cells share their downstream seeds (several pre-trainings, say): put below one another they
    would look like more seeds than there are.

    Raises
    ------
    ValueError
        If a cell has no ``over``, or the cells of its values differ in sizes or seeds.
    """
    cells = _with_keys(cells, over)
    values = sorted({cell[over] for cell in cells})
    tables = [errors_by_patches([cell for cell in cells if cell[over] == value]) for value in values]
    averaged = {}
    for D in sorted({D for table in tables for D in table}):
        sizes, errors = zip(*(table[D] for table in tables if D in table))
        if any(s.tolist() != sizes[0].tolist() or e.shape != errors[0].shape for s, e in zip(sizes, errors)):
            raise ValueError(
                f"cells that differ in {over} must have the same sizes and seeds, at D = {D} they do not"
            )
        averaged[D] = (sizes[0], np.mean(errors, axis=0))
    return averaged


def _with_keys(cells, key) -> list:
    """The cells as a list; each must have the key."""
    try:
        cells = list(cells)
    except TypeError:
        raise ValueError(f"cells must be a record or a list of cells, got {type(cells).__name__}") from None
    for cell in cells:
        if not isinstance(cell, Mapping) or key not in cell:
            held = sorted(map(str, cell)) if isinstance(cell, Mapping) else type(cell).__name__
            raise ValueError(f"every cell must be a dict that holds {key!r}, got {held}")
    return cells
