"""The sweeps of the part on the setting."""

from __future__ import annotations

SWEEPS = ()
