"""Training runs: from settings to a finished model, a record and checkpoints on the way."""

from __future__ import annotations

import io
import json
import math
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from patch_association._files import write_atomically
from patch_association.images import convolution
from patch_association.images.checkpoint import load_checkpoint, save_checkpoint
from patch_association.images.config import FREE_ON_RESUME, TrainConfig
from patch_association.images.data import data_root, load
from patch_association.images.feed import Feed, make_feed
from patch_association.images.folder import load_folder, load_imagenet
from patch_association.images.locality import encoding_locality
from patch_association.images.parallel import OneProcess, processes
from patch_association.images.progress import Progress
from patch_association.images.step import TrainStep, evaluate, learning_rate, make_optimizer
from patch_association.images.vit import ViT, ViTConfig

RECORD, POSITIONS = "record.json", "positions.npz"


@dataclass
class Run:
    """What a training run gives back.

    Attributes
    ----------
    model : module
        As it is after the last step.
    record : dict
        What ``record.json`` holds: name, config, data, metrics (one object per epoch), test,
        locality, finished and provenance.
    """

    model: nn.Module
    record: dict


def load_data(config: TrainConfig):
    """The data set of a configuration: in memory, or a folder that is read as training goes on."""
    if config.dataset in ("imagenet", "folder"):
        loader = load_imagenet if config.dataset == "imagenet" else load_folder
        return loader(data_root(config.root), config.image_size)
    return load(config.dataset, config.root, config.train_size, config.test_size, config.download)


def make_model(config: TrainConfig, data) -> nn.Module:
    """The model of a configuration for a data set, with the start that its seed gives."""
    classes = len(data.classes)
    if config.model == "vit":
        shape = dict(image_size=data.image_size, channels=data.channels, num_classes=classes)
        return ViT(ViTConfig.named(config.vit, **shape, **config.vit_changes()), seed=config.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return getattr(convolution, config.model)(classes, data.channels)


def train(
    config: TrainConfig,
    out=None,
    resume: bool = False,
    progress: bool = True,
    data=None,
    name: str = "train",
    command: str | None = None,
    provenance: Callable[[float, str], dict] | None = None,
) -> Run:
    """Train a model.

    Parameters
    ----------
    config : TrainConfig
    out : path, optional
        A folder for ``record.json``, the learned P (``positions.npz``) and checkpoints; without it
        nothing is written.
    resume : bool
        Go on from the newest whole checkpoint in ``out``, to the result that the run would have
        had without the interruption (bit for bit on the CPU with the same number of threads).
    progress : bool
        Show a bar on a terminal and a line per epoch elsewhere.
    data : ImageSet or FolderSet, optional
        In place of ``config.dataset``.
    name, command : str
        For the record.
    provenance : callable
        ``provenance(wall_s, device)`` -> dict for the record: :func:`patch_association.records.provenance`.
        By default the record holds the wall time and the device alone.

    Raises
    ------
    ValueError
        On settings that do not fit, on a folder that holds a run already (without ``resume``) or
        another one, on damaged checkpoints, and when the loss is no longer finite.
    OSError
        If a checkpoint cannot be written; the message says what is kept.
    """
    place = processes(config.device)
    out = None if out is None else Path(out)
    # Process 0 first: it alone sets a damaged checkpoint aside.
    if place.rank != 0:
        place.wait()
    state = _found(config, out, resume)
    if place.rank == 0:
        place.wait()
    data = load_data(config) if data is None else data
    feed = make_feed(data, config, place)
    with _threads(config.threads):
        trainer = Trainer(config, data, feed, place, out, name, command, provenance or _only_times)
        if state is not None:
            trainer.restore(state)
        with Progress(config, feed.steps, place, progress, trainer.epoch, trainer.step_number) as bar:
            finished = trainer.run(bar)
        return Run(trainer.plain, trainer.record(finished))


def _only_times(wall_s: float, device: str) -> dict:
    return {"wall_s": round(wall_s, 1), "hardware": device}


@contextmanager
def _threads(count: int):
    """Within this context PyTorch computes with so many CPU threads; 0 leaves its choice."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _found(config, out, resume):
    """The checkpoint to go on from, or None; refuses to overwrite or to mix runs."""
    if out is None:
        return None
    state = load_checkpoint(out)
    if state is None:
        return None
    if not resume:
        raise ValueError(f"{out} holds a training run already: go on with --resume, or choose another folder")
    then, now = json.loads(state["config"]), config.as_dict()
    changed = [k for k in now if k not in FREE_ON_RESUME and now[k] != then.get(k)]
    if changed:
        differences = ", ".join(f"{k} was {then.get(k)!r} and is {now[k]!r}" for k in changed)
        raise ValueError(f"{out} holds a run with other settings: {differences}")
    return state


class Trainer:
    """The loop over epochs and steps, and its state."""

    def __init__(
        self,
        config: TrainConfig,
        data,
        feed: Feed,
        place: OneProcess,
        out: Path | None,
        name: str = "train",
        command: str | None = None,
        provenance=_only_times,
    ):
        self.config, self.data, self.feed, self.place, self.out = config, data, feed, place, out
        self.name, self.command, self.provenance = name, command, provenance
        capture = config.capture and place.device.type == "cuda"
        if config.capture and place.world > 1:
            raise ValueError("capture=true records the step of one process; with several, leave it out")
        self.plain = make_model(config, data).to(place.device)
        self.optimizer = make_optimizer(self.plain, config, capture)
        called = place.wrap(self.plain)
        called = torch.compile(called) if config.compile else called
        self.step = TrainStep(called, self.plain, self.optimizer, config, feed.mean, feed.std, capture)
        self.total = config.epochs * feed.steps
        self.warmup = math.ceil(config.warmup_epochs * feed.steps)
        self.digest = data.digest() if place.rank == 0 else None
        self.epoch = self.step_number = 0
        self.metrics: list[dict] = []
        self.timing: list[dict] = []
        self.test: dict | None = None
        self.spent = self.epoch_spent = 0.0

    def run(self, bar) -> bool:
        """Train to the end, or until the time is up; says which."""
        self.started = self.saved = time.perf_counter()
        self.before, self.epoch_before = self.spent, self.epoch_spent
        while self.epoch < self.config.epochs:
            self.epoch_started = time.perf_counter()
            if not self._one_epoch(bar):
                return False
            self._close_epoch(bar)
            if self.epoch < self.config.epochs and self._stop_or_save(at_epoch_end=True):
                return False
        if self.test is None:
            # The test pictures are looked at here and nowhere else.
            self.test = evaluate(self.plain, self.feed.evaluation("test"), self.step, self.place)
            self.save()
        return True

    def _one_epoch(self, bar) -> bool:
        self.plain.train()
        for images, labels in self.feed.epoch(self.epoch, self.step_number):
            number = self.epoch * self.feed.steps + self.step_number
            self.step(images, labels, learning_rate(number, self.total, self.warmup, self.config.lr))
            self.step_number += 1
            bar.step(self.step.sums)
            if self.step_number < self.feed.steps and self.place.world == 1 and self._stop_or_save():
                return False
        return True

    def _close_epoch(self, bar):
        loss, right, count = self.place.sum(self.step.sums.clone()).tolist()
        self.step.sums.zero_()
        if not math.isfinite(loss):
            raise ValueError(
                f"the training loss is {loss} in epoch {self.epoch + 1}: lower lr or raise warmup_epochs"
            )
        number = self.epoch * self.feed.steps + self.step_number - 1
        row = {
            "epoch": self.epoch + 1,
            "lr": learning_rate(number, self.total, self.warmup, self.config.lr),
            "train_loss": loss / count,
            "train_accuracy": right / count,
        }
        self._clock()
        # Times are kept apart: the metrics of a resumed run are those of an uninterrupted one, to the bit.
        self.timing.append({"seconds": self.epoch_spent, "images_per_s": count / self.epoch_spent})
        if self.config.val_size:
            held_out = evaluate(self.plain, self.feed.evaluation("val"), self.step, self.place)
            row |= {"val_loss": held_out["loss"], "val_accuracy": held_out["accuracy"]}
        self.metrics.append(row)
        self.epoch, self.step_number = self.epoch + 1, 0
        self.epoch_spent = self.epoch_before = 0.0
        self.epoch_started = time.perf_counter()
        bar.epoch(row, self.timing[-1])
        if self.out is not None and self.place.rank == 0:
            self._write_record(finished=False)

    def _clock(self):
        now = time.perf_counter()
        self.spent = self.before + now - self.started
        self.epoch_spent = self.epoch_before + now - self.epoch_started

    def _stop_or_save(self, at_epoch_end: bool = False) -> bool:
        """Save when it is time; True when the time is up. Several processes decide together."""
        now = time.perf_counter()
        up = bool(self.config.minutes) and now - self.started >= 60 * self.config.minutes
        due = self.out is not None and now - self.saved >= self.config.checkpoint_seconds
        if at_epoch_end and self.place.world > 1:
            votes = torch.tensor([float(up), float(due)], device=self.place.device)
            up, due = (vote > 0 for vote in self.place.sum(votes).tolist())
        if due or up:
            self.save()
        return up

    def save(self) -> None:
        """Write a checkpoint (process 0; the others wait until it is on the disk)."""
        self.saved = time.perf_counter()
        if self.out is not None and self.place.rank == 0:
            self._clock()
            save_checkpoint(self.out, self._state())
        self.place.wait()

    def _state(self) -> dict:
        return {
            "config": json.dumps(self.config.as_dict()), "digest": self.digest,
            "model": self.plain.state_dict(), "optimizer": self.optimizer.state_dict(),
            "epoch": self.epoch, "step": self.step_number, "sums": self.step.sums.cpu(),
            "metrics": self.metrics, "timing": self.timing, "test": self.test,
            "spent": self.spent, "epoch_spent": self.epoch_spent,
        }  # fmt: skip

    def restore(self, state: dict) -> None:
        """Go back to a checkpoint's state.

        Raises
        ------
        ValueError
            If the data are not those that the run began with.
        """
        if self.digest is not None and state["digest"] != self.digest:
            raise ValueError(
                f"the run in {self.out} began with other data: sha256 {state['digest']} then, "
                f"{self.digest} now"
            )
        self.plain.load_state_dict(state["model"])
        rates = [group["lr"] for group in self.optimizer.param_groups]
        captured = [group["capturable"] for group in self.optimizer.param_groups]
        self.optimizer.load_state_dict(state["optimizer"])
        for group, rate, capturable in zip(self.optimizer.param_groups, rates, captured):
            group["lr"], group["capturable"] = (
                rate,
                capturable,
            )  # set by every step; a run may change its device
        self.step.sums.copy_(state["sums"])
        self.epoch, self.step_number = state["epoch"], state["step"]
        self.metrics, self.timing, self.test = state["metrics"], state["timing"], state["test"]
        self.spent, self.epoch_spent = state["spent"], state["epoch_spent"]

    def record(self, finished: bool) -> dict:
        """The run's record; process 0 also writes it, and the learned P beside it."""
        if self.out is None or self.place.rank != 0:
            return self._record(finished)
        if isinstance(self.plain, ViT):
            buffer = io.BytesIO()
            np.savez_compressed(buffer, positions=self.plain.positions.detach().float().cpu().numpy())
            write_atomically(self.out / POSITIONS, buffer.getvalue())
        return self._write_record(finished)

    def _write_record(self, finished):
        record = self._record(finished)
        write_atomically(self.out / RECORD, json.dumps(record, indent=1, allow_nan=False) + "\n")
        return record

    def _record(self, finished):
        origin = self.provenance(self.spent, str(self.place.device))
        return {
            "name": self.name, "command": self.command, "finished": finished, "config": self.config.as_dict(),
            "data": {"name": self.data.name, "origin": self.data.origin, "sha256": self.digest,
                     "train": len(self.feed.train_numbers), "val": len(self.feed.val_numbers)},
            "parameters": sum(p.numel() for p in self.plain.parameters()),
            "metrics": self.metrics, "test": self.test, "timing": self.timing,
            "locality": learned_locality(self.plain, self.feed.permutation),
            "provenance": origin | {"processes": self.place.world},
        }  # fmt: skip


def learned_locality(model: nn.Module, permutation=None) -> dict | None:
    """How local a ViT's P is, with centred cosine similarity: as it lies, and with the shuffle undone.

    None for models without positions, and for grids of fewer than 3 x 3 patches. With one P per
    layer, the first is measured.
    """
    if not isinstance(model, ViT) or model.config.grid < 3:
        return None
    c = model.config
    P = model.positions[0, : c.num_patches]
    found = {"as_seen": vars(encoding_locality(P))}
    if permutation is not None and permutation.tile % c.patch_size == 0:
        found["undone"] = vars(encoding_locality(P, permutation))
    return found
