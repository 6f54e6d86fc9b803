"""The profile of hypothesis, and a process that leaves the other cores and the screen alone."""

import os

from hypothesis import settings

# Derandomized, so that a red run is red for everyone; without a deadline, since the cores are shared.
settings.register_profile("book", deadline=None, max_examples=30, derandomize=True, database=None)
settings.load_profile("book")

# Before torch and matplotlib are imported: tiny matrices gain nothing from threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
