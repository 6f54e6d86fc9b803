"""The sweeps of the part on the dynamics."""

from __future__ import annotations

from patch_association.sweeps.coupling import SWEEP as COUPLING
from patch_association.sweeps.idealized import SWEEP as IDEALIZED
from patch_association.sweeps.limits import SWEEP as LIMITS, ZERO
from patch_association.sweeps.realistic import SWEEP as REALISTIC

SWEEPS = (IDEALIZED, REALISTIC, COUPLING, LIMITS, ZERO)
