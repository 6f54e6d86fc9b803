"""Reading the recorded sweeps of this part: from cells to one table of errors a learner and size."""

from __future__ import annotations

import numpy as np


def errors_by_size(results: list[dict], **where) -> tuple[np.ndarray, np.ndarray]:
    """The errors of the cells with these settings: sizes (K,) and errors (seeds, K).

    A cell holds either several sizes (``sizes``, and errors (seeds, K)) or one (``samples``, and one
    error a seed). Cells that differ in ``first_seed`` alone are put below one another.

    Raises
    ------
    ValueError
        If no cell fits, or the sizes have different numbers of seeds.
    """
    cells = [cell for cell in results if all(cell.get(key) == value for key, value in where.items())]
    if not cells:
        raise ValueError(f"there is no recorded cell with {where}")
    columns: dict[int, list[float]] = {}
    for cell in sorted(cells, key=lambda cell: cell.get("first_seed", 0)):
        errors = np.asarray(cell["errors"], dtype=np.float64)
        sizes = cell["sizes"] if "sizes" in cell else [cell["samples"]]
        for size, column in zip(sizes, errors.reshape(len(errors), -1).T):
            columns.setdefault(int(size), []).extend(column.tolist())
    sizes = sorted(columns)
    if len({len(columns[size]) for size in sizes}) > 1:
        raise ValueError(
            f"the cells with {where} must have the same seeds at every size, "
            f"got {[len(columns[size]) for size in sizes]}"
        )
    return np.array(sizes), np.array([columns[size] for size in sizes]).T


def by_patches(results: list[dict], **where) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """:func:`errors_by_size` for every number of patches that was run with these settings, in order."""
    patches = {
        cell["num_patches"] for cell in results if all(cell.get(key) == value for key, value in where.items())
    }
    return {D: errors_by_size(results, num_patches=D, **where) for D in sorted(patches)}


def averaged_by_patches(results: list[dict], over: str, **where) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """:func:`by_patches` with the cells that differ in ``over`` alone averaged, seed by seed.

    Such cells share their downstream seeds (several pre-trainings, say): put below one another they
    would look like more seeds than there are.
    """
    values = {cell[over] for cell in results if all(cell.get(key) == value for key, value in where.items())}
    tables = [by_patches(results, **{over: value}, **where) for value in sorted(values)]
    averaged = {}
    for D in sorted({D for table in tables for D in table}):
        found = [table[D] for table in tables if D in table]
        if any(
            not np.array_equal(sizes, found[0][0]) or errors.shape != found[0][1].shape
            for sizes, errors in found
        ):
            raise ValueError(
                f"cells that differ in {over} must have the same sizes and seeds, at D = {D} they do not"
            )
        averaged[D] = (found[0][0], np.mean([errors for _, errors in found], axis=0))
    return averaged
