"""Recorded runs: what does not fit in a chapter's minute, with where it came from.

A record is one JSON file: the configuration, the seeds, the data and their hash, the commit, the versions,
the hardware, the wall time and the results. Records of finished runs ship with the package, in the folder
``records`` of their part::

    record = records.load("limits")
    record.where(part="fall", D=16).column("drift_inside")   # an array, one entry a cell
    record.where(part="fall").frame()                        # a pandas frame, one row a cell
    record.origin()                                          # when, where, how long, by which command

``record``  what a record is, how it is stored, where it came from
``table``   choosing cells, and reading them as arrays or as a frame
``codec``   one rounding, one form for arrays, one hash for drawn data
"""

from patch_lab.kit.records.codec import decode, encode, fingerprint, rounded, sample_source
from patch_lab.kit.records.record import Record, hardware, load, parse, provenance, read, record_names
from patch_lab.kit.records.table import Cells

__all__ = [
    "Cells",
    "Record",
    "decode",
    "encode",
    "fingerprint",
    "hardware",
    "load",
    "parse",
    "provenance",
    "read",
    "record_names",
    "rounded",
    "sample_source",
]
