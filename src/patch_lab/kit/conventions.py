"""Named settings of the chapters; ``book/departures.toml`` says where they hold, and why."""

from __future__ import annotations

from dataclasses import replace

from patch_association.defaults import DEFAULT

#: Section 4.1 is about a small start.
SMALL_START = replace(DEFAULT, linear=1e-4)
#: The theorems on the first move and on the end of runs.
NO_LINEAR_PART = replace(DEFAULT, linear=0.0)
#: One rate for everything, as the paper's (GD) prints it.
SINGLE_RATE = replace(DEFAULT, diagonal=1.5, init_std=0.001, rate=0.1, score_rate_power=0)
#: Section 5: the value vector on its own, and training from scratch beside it.
TRANSFER = replace(DEFAULT, linear=0.1, diagonal=4.0)
#: The learners of the Gaussian example.
GAUSSIAN = replace(DEFAULT, diagonal=4.0, init_std=0.1)
