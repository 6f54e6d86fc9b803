"""The loop of a training run over epochs and steps, its state, and its record."""

from __future__ import annotations

import io
import json
import time
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import nn

from patch_association.checks import readable
from patch_association.images.locality import encoding_locality
from patch_association.images.vit import ViT, ViTConfig
from patch_lab.images import convolution
from patch_lab.images.data.augment import normalize
from patch_lab.images.starts import start_like
from patch_lab.images.training.checkpoint import save_checkpoint
from patch_lab.images.training.config import ModelSettings, TrainConfig
from patch_lab.images.training.feed import Feed, make_feed
from patch_lab.images.training.step import (
    Lookahead,
    RunningAverage,
    TrainStep,
    evaluate,
    make_optimizer,
    mixing_share,
)
from patch_lab.kit.files import write_atomically

RECORD = "record.json"
POSITIONS = "positions.npz"
_KINDS = {
    **dict.fromkeys(("config", "digest"), str | None),
    **dict.fromkeys(("shape", "model", "optimizer"), dict),
    **dict.fromkeys(("test", "slow"), dict | None),
    **dict.fromkeys(("epoch", "step"), int),
    **dict.fromkeys(("metrics", "timing"), list),
    **dict.fromkeys(("spent", "epoch_spent"), float | int),
    "sums": torch.Tensor,
}


def check_state(state: dict) -> None:
    """Refuse a state that no run can go on from: a part is missing, or of another kind."""
    if wrong := [key for key, kind in _KINDS.items() if key not in state or not isinstance(state[key], kind)]:
        raise ValueError(
            f"expected {', '.join(_KINDS)}, and {', '.join(wrong)} are missing or of another kind"
        )


def make_model(config: ModelSettings, classes: int, image_size: int, channels: int) -> nn.Module:
    """The model of a configuration for such pictures, with the start that its seed gives."""
    if config.model == "vit":
        shape = dict(image_size=image_size, channels=channels, num_classes=classes)
        return ViT(ViTConfig.named(config.vit, **shape, **config.vit_changes()), seed=config.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        return getattr(convolution, config.model)(classes, channels)


def first_pictures(feed: Feed) -> torch.Tensor:
    """A process's share of the first batches of a run, normalized: more than 1,000 pictures, or all."""
    batches = islice(feed.epoch(0, 0), 1 + 1000 // feed.config.batch_size)
    return torch.cat([normalize(images, feed.mean, feed.std) for images, _ in batches])


def started(config: ModelSettings, feed: Feed) -> nn.Module:
    """The model of a run at its start, on its device; some starts are measured on the first pictures."""
    data = feed.data
    place = feed.place
    model = make_model(config, len(data.classes), data.image_size, data.channels).to(place.device)
    if isinstance(model, convolution.QuickNet):
        model.whiten(first_pictures(feed), place.sum)
    if (config.start, config.values) != ("usual", "usual"):
        # The pictures are a process's own; what process 0 makes of them is sent to all by place.wrap.
        start_like(model, config.start, config.values, config.margin, config.seed, first_pictures(feed))
    return model


def put_weights(model: nn.Module, weights: dict) -> None:
    """The weights of a checkpoint into a model; a ValueError if they are those of another network."""
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        what = " ".join(str(error).split())[:300]
        raise ValueError(
            f"the checkpoint holds another network, perhaps of another version: {what}"
        ) from error


class Trainer:
    """The loop over epochs and steps, and its state.

    Parameters
    ----------
    config : TrainConfig
    data : ImageSet or FolderSet
    place : OneProcess
    out : Path, optional
    about : dict
        ``name``, ``command`` and ``provenance`` (a function of seconds and device), for the record;
        ``watch``, a function of the model whose findings join the metrics of an epoch, or None.
    asked : list
        Not empty once somebody has asked for a stop.
    """

    def __init__(self, config: TrainConfig, data, place, out: Path | None, about: dict, asked=()):
        self.config = config
        self.data = data
        self.place = place
        self.out = out
        self.about = about
        self.asked = asked
        self.feed = make_feed(data, config, place)
        self.shape = dict(classes=len(data.classes), image_size=data.image_size, channels=data.channels)
        self.model = started(config, self.feed)
        self.optimizer = make_optimizer(self.model, config)
        called = place.wrap(self.model)
        if config.compile:
            # "reduce-overhead" records CUDA graphs: a small step is launched as one.
            called = torch.compile(called, mode="reduce-overhead" if place.device.type == "cuda" else None)
        self.step = TrainStep(called, self.optimizer, config, self.feed.mean, self.feed.std)
        self.total = config.epochs * self.feed.steps
        self.average = Lookahead(self.model, self.total) if config.lookahead else None
        if config.ema:
            self.average = RunningAverage(self.model, self.total, config.ema)
        self.digest = data.digest() if place.rank == 0 else None
        self.epoch = self.step_number = 0
        self.metrics: list[dict] = []
        self.timing: list[dict] = []
        self.test: dict | None = None
        self.spent = self.epoch_spent = 0.0

    @property
    def done(self) -> int:
        """Steps since the start of the run."""
        return self.epoch * self.feed.steps + self.step_number

    def run(self, bar) -> bool:
        """Train to the end, or until the time is up or somebody asks for a stop; says whether to the end."""
        self.started = self.saved = time.perf_counter()
        self.before = self.spent
        self.epoch_before = self.epoch_spent
        while self.epoch < self.config.epochs:
            self.epoch_started = time.perf_counter()
            if not self._one_epoch(bar):
                return False
            self._close_epoch(bar)
            if self.epoch < self.config.epochs and self._stop_or_save(at_epoch_end=True):
                return False
        if self.test is None:
            # The test pictures are looked at here and nowhere else.
            self.test = evaluate(self.model, self.feed.evaluation("test"), self.step, self.place)
            if self.config.mirrored_test:
                pairs = zip(self.feed.evaluation("test"), self.feed.evaluation("test", mirrored=True))
                views = (((images, mirror), labels) for (images, labels), (mirror, _) in pairs)
                averaged = evaluate(self.model, views, self.step, self.place)
                self.test |= {f"mirrored_{name}": averaged[name] for name in ("loss", "accuracy")}
            self.save()
        return True

    def _one_epoch(self, bar) -> bool:
        self.model.train()
        for images, labels in self.feed.epoch(self.epoch, self.step_number):
            at = (self.config.seed, self.epoch, self.step_number)
            if self.config.drop_path:  # what is left out of a step depends on the step alone, too
                torch.manual_seed(int(np.random.SeedSequence([*at, self.place.rank]).generate_state(1)[0]))
            share = mixing_share(self.config.mixup, *at)
            rate = self.config.rate(self.done, self.feed.steps)
            self.step(images, labels, rate, share, self.done)
            self.step_number += 1
            if self.average is not None:
                self.average.after(self.model, self.done)
            bar.step(self.step.sums)
            if self.step_number < self.feed.steps and self.place.world == 1 and self._stop_or_save():
                return False
        return True

    def _close_epoch(self, bar):
        loss, right, count = self.place.sum(self.step.sums.clone()).tolist()
        self.step.sums.zero_()
        self._check_finite()
        row = {"epoch": self.epoch + 1, "lr": self.config.rate(self.done - 1, self.feed.steps)}
        row |= {"train_loss": loss / count, "train_accuracy": right / count}
        self._clock()
        # Times are kept apart: the metrics of a resumed run are those of an uninterrupted one, to the bit.
        self.timing.append({"seconds": self.epoch_spent, "images_per_s": count / self.epoch_spent})
        if self.config.val_size:
            average = self.average if isinstance(self.average, RunningAverage) else None
            with nullcontext() if average is None else average.instead(self.model):
                held_out = evaluate(self.model, self.feed.evaluation("val"), self.step, self.place)
            row |= {"val_loss": held_out["loss"], "val_accuracy": held_out["accuracy"]}
        if watch := self.about["watch"]:
            row |= watch(self.model)
        self.metrics.append(row)
        self.epoch = self.epoch + 1
        self.step_number = 0
        self.epoch_spent = self.epoch_before = 0.0
        self.epoch_started = time.perf_counter()
        bar.epoch(row, self.timing[-1])
        if self.epoch < self.config.epochs:
            self.record(finished=False)

    def _check_finite(self):
        # Compiled convolutions in bfloat16 have given NaN on a CPU (PyTorch 2.13), where others train.
        self.step.failure.check(self.feed.steps, self.config, self.step.type == torch.bfloat16)

    def _clock(self):
        now = time.perf_counter()
        self.spent = self.before + now - self.started
        self.epoch_spent = self.epoch_before + now - self.epoch_started

    def _stop_or_save(self, at_epoch_end: bool = False) -> bool:
        """Save when it is time; True when the run is to stop. Several processes decide together."""
        now = time.perf_counter()
        up = bool(self.config.minutes) and now - self.started >= 60 * self.config.minutes
        stop = up or bool(self.asked)
        due = self.out is not None and now - self.saved >= self.config.checkpoint_seconds
        if at_epoch_end and self.place.world > 1:
            votes = torch.tensor([float(stop), float(due)], device=self.place.device)
            stop, due = (vote > 0 for vote in self.place.sum(votes).tolist())
        if due or stop:
            self.save()
        return stop

    def save(self) -> None:
        """Write a checkpoint, if all was finite so far (process 0; others wait until it is on the disk)."""
        self._check_finite()
        self.saved = time.perf_counter()
        if self.out is not None and self.place.rank == 0:
            self._clock()
            save_checkpoint(self.out, self._state())
        self.place.wait()

    def _state(self) -> dict:
        return {
            "config": json.dumps(self.config.as_dict()), "digest": self.digest, "shape": self.shape,
            "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
            "epoch": self.epoch, "step": self.step_number, "sums": self.step.sums.cpu(),
            "metrics": self.metrics, "timing": self.timing, "test": self.test,
            "spent": self.spent, "epoch_spent": self.epoch_spent,
            "slow": None if self.average is None else self.average.slow,
            "about": {key: self.about[key] for key in ("name", "command")},
        }  # fmt: skip

    def restore(self, state: dict) -> None:
        """Go back to a checkpoint's state; a ValueError if the data are not those that the run began with."""
        if self.digest is not None and state["digest"] != self.digest:
            raise ValueError(
                f"the run in {self.out} began with other data: sha256 {state['digest']} then, "
                f"{self.digest} now"
            )
        with readable(f"the checkpoint in {self.out} is of no such training run"):
            self._put(state)

    def _put(self, state: dict) -> None:
        put_weights(self.model, state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step.sums.copy_(state["sums"])
        if self.average is not None:
            for name, slow in self.average.slow.items():
                slow.copy_(state["slow"][name])
        self.epoch = state["epoch"]
        self.step_number = state["step"]
        self.metrics = state["metrics"]
        self.timing = state["timing"]
        self.test = state["test"]
        self.spent = state["spent"]
        self.epoch_spent = state["epoch_spent"]

    def record(self, finished: bool) -> dict:
        """The run's record; process 0 also writes it, and the learned P of a finished run beside it."""
        name, command, provenance = (self.about[k] for k in ("name", "command", "provenance"))
        origin = provenance(self.spent, str(self.place.device))
        feed = self.feed
        record = {
            "name": name, "command": command, "finished": finished, "config": self.config.as_dict(),
            "data": {"name": self.data.name, "origin": self.data.origin, "sha256": self.digest,
                     "train": len(feed.train_numbers), "val": len(feed.val_numbers),
                     "image_size": self.data.image_size, "channels": self.data.channels,
                     "mean": feed.mean.tolist(), "std": feed.std.tolist(),
                     "classes": list(self.data.classes)},
            "parameters": sum(p.numel() for p in self.model.parameters()),
            "metrics": self.metrics, "test": self.test, "timing": self.timing,
            "locality": learned_locality(self.model, feed.permutation),
            "provenance": origin | {"processes": self.place.world},
        }  # fmt: skip
        if self.out is not None and self.place.rank == 0:
            if finished and isinstance(self.model, ViT):
                buffer = io.BytesIO()
                np.savez_compressed(buffer, positions=self.model.positions.detach().float().cpu().numpy())
                write_atomically(self.out / POSITIONS, buffer.getvalue())
            write_atomically(self.out / RECORD, json.dumps(record, indent=1, allow_nan=False) + "\n")
        return record


def learned_locality(model: nn.Module, permutation=None) -> dict | None:
    """How local a ViT's P is, with centered cosine similarity: as it lies, and with the shuffle undone.

    None for models without positions, and for grids of fewer than 3 x 3 patches. With one P per
    layer, the first is measured.
    """
    if not isinstance(model, ViT) or model.config.grid < 3:
        return None
    c = model.config
    P = model.positions[0, : c.num_patches]
    measures = {"as_seen": vars(encoding_locality(P))}
    if permutation is not None and permutation.tile % c.patch_size == 0:
        measures["undone"] = vars(encoding_locality(P, permutation))
    return measures
