"""Training models on pictures: runs with records and checkpoints, and short runs for chapters.

``config``  all settings and the presets; ``run``  from settings to a finished run, and back from its
folder; ``trainer``, ``step``, ``feed``  the loop, a step, the batches
``checkpoint``, ``processes``, ``progress``, ``cli``  keeping, sharing, showing and starting it
``together``  many runs of one network side by side; ``short``  short runs in double precision
"""

from patch_lab.images.training.config import PRESETS, TrainConfig, preset, with_settings
from patch_lab.images.training.run import ImageRun, load_run, train
from patch_lab.images.training.short import ShortRun, coupled_runs, guess, in_double, train_short
from patch_lab.images.training.together import Row, train_together

__all__ = [
    "PRESETS", "ImageRun", "Row", "ShortRun", "TrainConfig", "coupled_runs", "guess", "in_double", "load_run",
    "preset", "train", "train_short", "train_together", "with_settings",
]  # fmt: skip
