"""The sweeps of the part on the setting."""

from __future__ import annotations

from patch_association.sweeps.gaussian import SWEEP as GAUSSIAN

SWEEPS = (GAUSSIAN,)
