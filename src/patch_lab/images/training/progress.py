"""What a training run shows: a bar on a terminal, a line per epoch elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

from tqdm import tqdm

_EVERY = 0.5  # seconds between looks at the loss: each look waits for the device


class Progress:
    """A bar over all steps with loss, accuracy, pictures per second and the time left."""

    def __init__(self, config, steps: int, show: bool, first: int):
        self.config = config
        self.looked = time.perf_counter()
        self.started = self.looked
        self.first = first
        self.bar = None
        if show:  # a bar takes a lock between processes even where it draws nothing
            options: dict[str, Any] = dict(unit="step", dynamic_ncols=True, smoothing=0.05, desc="train")
            self.bar = tqdm(total=config.epochs * steps, initial=first, disable=None, **options)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_) -> None:
        if self.bar is not None:
            self.bar.close()

    def step(self, sums) -> None:
        """After a step; ``sums`` as in TrainStep, of this process so far in the epoch."""
        if self.bar is None or self.bar.disable:
            return
        self.bar.update()
        now = time.perf_counter()
        if now - self.looked >= _EVERY:
            self.looked = now
            loss, right, count = sums.tolist()
            speed = (self.bar.n - self.first) * self.config.batch_size / (now - self.started)
            self.bar.set_postfix_str(
                f"loss {loss / count:.3f}, accuracy {right / count:.1%}, {speed:.0f} images/s"
            )

    def epoch(self, row: dict, timing: dict) -> None:
        """After an epoch, with its metrics."""
        if self.bar is None:
            return
        left = int((self.config.epochs - row["epoch"]) * timing["seconds"])
        line = f"epoch {row['epoch']}/{self.config.epochs}: "
        line += f"loss {row['train_loss']:.4f}, accuracy {row['train_accuracy']:.1%}"
        if "val_loss" in row:
            line += f", validation {row['val_loss']:.4f}, {row['val_accuracy']:.1%}"
        line += f", {timing['images_per_s']:.0f} images/s, about {left // 60}:{left % 60:02d} left"
        tqdm.write(line, file=sys.stdout)
        sys.stdout.flush()
