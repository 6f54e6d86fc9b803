"""Recorded sweeps: grids of cells, run one by one or side by side, resumable, written as a record.

``patch-association sweep NAME`` runs one. A finished cell is on the disk before the next is counted; a sweep
that is stopped goes on where it stopped with ``--resume`` and ends with the same results as one that was not.

``sweep``     what a sweep is: a grid of cells
``run``       running it, and its record
``outcomes``  cells one by one or side by side, in processes of joblib
``journal``   the finished cells of a sweep under way
``catalog``   every sweep by name

The cells of a part's sweeps stand in the part's own ``sweeps``. What they record is read with
:func:`patch_lab.kit.records.load`.
"""

from patch_lab.kit.sweeps.catalog import registry, rerun
from patch_lab.kit.sweeps.run import CellError, finished_record, run_sweep
from patch_lab.kit.sweeps.sweep import Sweep, grid

__all__ = ["CellError", "Sweep", "finished_record", "grid", "registry", "rerun", "run_sweep"]
