"""Many runs side by side on one device: a step of all is one step, recorded once and launched as one.

A small ViT keeps a GPU busy for a small part of a step; ten of them cost little more than a few. Runs of one
network are rows of one tensor (:class:`~patch_lab.images.training.rows.Rows`), others have a stream each. A
run sees the batches, the start and the rates that :func:`~patch_lab.images.training.run.train` gives it.
Pictures are augmented and shuffled an epoch ahead, beside the steps. A step reads its batch by a counter on
the device, and what is measured is fetched while the next epoch is under way.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from patch_association.checks import positive_int
from patch_lab.images.data.augment import normalize
from patch_lab.images.training.apart import Apart
from patch_lab.images.training.config import FeedSettings, TrainConfig
from patch_lab.images.training.feed import ResidentFeed
from patch_lab.images.training.graphs import Branches, put_back, recorded, snapshot, stream
from patch_lab.images.training.processes import processes
from patch_lab.images.training.rows import Rows
from patch_lab.images.training.trainer import started

# of rows of one tensor
_OWN = (
    "seed",
    "lr",
    "start",
    "values",
    "margin",
    "position_std",
    "tile",
    "tile_seed",
)
_SHARED = (
    "epochs",
    "batch_size",
    "val_size",
    "train_size",
    "test_size",
    "dataset",
    "root",
    "device",
    "threads",
)
#: Pictures at once: of each run, and of an epoch.
_EVALUATED = 250
_AUGMENTED = 4096


@dataclass
class Row:
    """What became of one of the runs.

    Attributes
    ----------
    model : module
        As it is after the last step, on the CPU.
    metrics : list of dict
        By epoch ``train_loss`` and ``train_accuracy``, and ``val_accuracy`` after epochs at whose end
        held-out pictures are looked at.
    right : (test pictures,) array of bool
        Which test pictures the finished model names correctly.
    failed : str or None
        What was no longer finite, where, and what may help. Such a run has no meaning from there on.
    """

    model: nn.Module
    metrics: list[dict]
    right: np.ndarray
    failed: str | None = None

    @property
    def test_accuracy(self) -> float:
        """The share of test pictures that the finished model names correctly."""
        return float(self.right.mean())


def train_together(
    configs: Sequence[TrainConfig],
    data,
    models: Sequence[nn.Module] | None = None,
    frozen: Sequence[Sequence[str]] | None = None,
) -> list[Row]:
    """Train several networks as one; on a GPU a step of all is recorded once and replayed.

    Parameters
    ----------
    configs : sequence of TrainConfig
        They agree in data, epochs and batch size. ViTs of one shape and recipe, which differ in ``seed``,
        ``lr``, ``start``, ``values``, ``margin``, ``position_std`` and the shuffle alone, are rows of one
        tensor. Runs of one seed and one shuffle see the same batches.
    data : ImageSet
    models : sequence of modules, optional
        Where the runs start, in place of what ``configs`` say.
    frozen : sequence of sequences of str, optional
        For each run, a ViT, the names of parameters that stay as they are.

    Returns
    -------
    list of Row
        In the order of ``configs``.

    Raises
    ------
    ValueError
        On settings that do not go side by side, and when a loss or a gradient is no longer finite.

    Examples
    --------
    >>> from patch_lab.images.data import load
    >>> config = TrainConfig(dataset="digits", vit="reader", patch_size=2, epochs=1, warmup_epochs=0,
    ...                      val_size=20, batch_size=20, device="cpu", precision="float32")
    >>> data = load("digits", train_size=80, test_size=20)
    >>> runs = train_together([replace(config, seed=k) for k in (0, 1)], data)
    >>> [len(run.metrics) for run in runs]
    [1, 1]
    """
    with Together(configs, data, models, frozen) as runs:
        return runs.run()


class Together:
    """Several runs that are ready to go: how long they take is known before they begin.

    Parameters
    ----------
    configs, data, models, frozen : as in :func:`train_together`
    tokens : torch.dtype
        What tokens are kept in between the layers of a ViT that computes in bfloat16.
    val_every : int
        Epochs from one look at held-out pictures to the next; the last epoch always ends with one.
    """

    def __init__(self, configs, data, models=None, frozen=None, tokens=torch.float32, val_every=1):
        self.first = _alike(configs)
        self.val_every = positive_int("val_every", val_every)
        self.place = processes(configs[0].device)
        self.configs = list(configs)
        self.device = self.place.device
        keys = [_pictures(config) for config in configs]
        self.keys = sorted(set(keys), key=keys.index)
        self.feeds = [ResidentFeed(data, configs[keys.index(key)], self.place) for key in self.keys]
        which = [self.keys.index(key) for key in keys]
        self.models = models or [started(c, self.feeds[w]) for c, w in zip(configs, which)]
        feed = self.feeds[0]
        self.steps = self.feeds[0].steps
        self.groups = _groups(self.configs)
        total = configs[0].epochs * self.steps
        # (steps, runs)
        rates = torch.tensor([[c.rate(k, self.steps) for c in configs] for k in range(total)])
        frozen = frozen or [()] * len(configs)
        self.engines: list[Any] = []
        for group in self.groups:
            kind = Rows if configs[group[0]].model == "vit" else Apart
            parts = [[things[k] for k in group] for things in (self.models, self.configs, frozen)]
            place = torch.tensor([which[k] for k in group], device=self.device)
            rate = rates[:, group].to(self.device)
            self.engines.append(kind(parts[0], parts[1], parts[2], rate, place, tokens))
        shape = (data.channels, data.image_size, data.image_size)
        S = len(self.feeds)
        B = self.first.batch_size
        # What a recorded step reads: the pictures of an epoch, and how many steps there were.
        self.images = torch.zeros(S, self.steps, B, *shape, dtype=torch.uint8, device=self.device)
        self.labels = torch.zeros(S, self.steps, B, dtype=torch.int64, device=self.device)
        self.masks = [self._no_masks(engine) for engine in self.engines]
        self.number = torch.zeros((), dtype=torch.int64, device=self.device)
        self.mean, self.std = feed.mean, feed.std
        self.branches = Branches(len(self.engines), self.device)
        self.ahead = ThreadPoolExecutor(1) if self.device.type == "cuda" else None
        self.stream = stream("pictures") if self.ahead else None
        if self.ahead:  # what lies on the device is read from another stream
            torch.cuda.synchronize()
        self.val = _Evaluation(self, "val") if self.first.val_size else None
        self.step: Callable[[], None] | None = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.ahead:
            self.ahead.shutdown(cancel_futures=True)
            torch.cuda.synchronize()
        # A recording keeps its memory for as long as it is there, and it and this refer to each other.
        self.step = self.val = None
        gc.collect()

    def _no_masks(self, engine):
        """(S, steps, 2 depth, B) ones where branches are left out at random, to be drawn; else None."""
        if not engine.config.drop_path:
            return None
        shape = (len(self.feeds), self.steps, 2 * engine.shape.depth, self.first.batch_size)
        return torch.ones(shape, device=self.device)

    def changed(self) -> list[torch.Tensor]:
        """The tensors that a step changes, of all engines."""
        parts = [engine.changed() for engine in self.engines]
        return [self.number, *(tensor for part in parts for tensor in part)]

    def _step(self) -> None:
        at = (self.number % self.steps)[None]
        x = normalize(self.images.index_select(1, at)[:, 0], self.mean, self.std)  # (S, B, c, H, W)
        y = self.labels.index_select(1, at)[:, 0]
        for k, engine in enumerate(self.engines):
            masks = self.masks[k]
            kept = None if masks is None else masks.index_select(1, at)[:, 0]  # (S, 2 depth, B)
            with self.branches.branch(k):
                engine.update(x, y, kept, self.number)
        self.branches.join()
        self.number += 1

    def start(self) -> Callable[[], None]:
        """Put the first epoch in place, and record a step, which is returned; a second call does no more."""
        if self.step is None:
            self._put(self._prepared(0))
            self.step = recorded(self._step, self.changed, self.device)
        return self.step

    def seconds(self) -> float:
        """How long the whole run takes from now on, by an epoch that is run here; it leaves no trace."""
        step = self.start()
        kept = snapshot(self.changed())
        of_an_epoch = self._last_of(2, lambda: self._epoch(0, step, look=False))
        of_a_look = 0.0 if self.val is None else self._last_of(3, self.val.count)
        put_back(self.changed(), kept)
        self._put(self._prepared(0))
        looks = sum(self._looks_after(epoch) for epoch in range(self.first.epochs))
        return self.first.epochs * of_an_epoch + looks * of_a_look

    def _last_of(self, calls: int, function: Callable[[], Any]) -> float:
        """Seconds of the last of some calls: in those before it, memory is found and passes are recorded."""
        took = 0.0
        for _ in range(calls):
            began = self._clock()
            function()
            took = self._clock() - began
        return took

    def _looks_after(self, epoch: int) -> bool:
        """Are held-out pictures looked at after this epoch, counted from 0?"""
        return (epoch + 1) % self.val_every == 0 or epoch + 1 == self.first.epochs

    def _clock(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    def run(self, keep_failed: bool = False) -> list[Row]:
        """Train to the end.

        Parameters
        ----------
        keep_failed : bool
            Go on with the others when one run is no longer finite; its ``failed`` says what happened.

        Raises
        ------
        ValueError
            When a run is no longer finite, unless it is kept; in any case when all are.
        """
        step = self.start()
        metrics: list[list[dict]] = [[] for _ in self.configs]
        reports: list[_Report] = []
        for epoch in range(self.first.epochs):
            look = self.val is not None and self._looks_after(epoch)
            reports.append(self._epoch(epoch, step, look))
            if len(reports) > 1 or self.ahead is None:
                self._take(reports.pop(0), metrics, keep_failed)
        for report in reports:
            self._take(report, metrics, keep_failed)
        test = _Evaluation(self, "test")
        test.count()
        right = test.right.cpu().numpy()
        failed = self._failed()
        models: dict[int, nn.Module] = {}
        for group, engine in zip(self.groups, self.engines):
            models |= dict(zip(group, engine.finished([self.models[k] for k in group])))
        return [Row(models[k], metrics[k], right[k], failed[k]) for k in range(len(self.configs))]

    def _epoch(self, epoch: int, step: Callable[[], None], look: bool) -> _Report:
        """The steps of an epoch; its measurements come while the next one is under way."""
        coming = self._soon(epoch + 1)
        for _ in range(self.steps):
            step()
        report = _Report(self, self.val.count() if self.val and look else None)
        if coming is not None:
            self._put(coming())
        return report

    def _failed(self) -> list[str | None]:
        failures: dict[int, str | None] = {}
        for group, engine in zip(self.groups, self.engines):
            low = engine.type == torch.bfloat16
            failures |= dict(zip(group, engine.failure.messages(self.steps, engine.config, low)))
        return [failures[k] for k in range(len(self.configs))]

    def _take(self, report, metrics, keep_failed) -> None:
        """The metrics of an epoch, which may be that before the one under way."""
        rows = report.read()
        if not all(math.isfinite(row["train_loss"]) for row in rows) or report.broken:
            failed = self._failed()
            if not keep_failed or all(failed):
                number, message = next((k, message) for k, message in enumerate(failed) if message)
                raise ValueError(
                    f"run {number + 1} of {len(failed)}, with lr {self.configs[number].lr:g}: {message}"
                )
        for row, numbers in zip(metrics, rows):
            row.append(numbers)

    def _soon(self, epoch: int):
        """What gives the pictures of an epoch, which a GPU begins to make now; None after the last."""
        if epoch == self.first.epochs:
            return None
        if self.ahead is None:
            return lambda: self._prepared(epoch)
        return self.ahead.submit(self._prepared, epoch).result

    def _prepared(self, epoch: int):
        """Pictures (S, steps, B, c, H, W), labels and masks of an epoch, and the event that they are made."""
        if self.stream is None:
            return (*self._made(epoch), None)
        with torch.cuda.stream(self.stream):
            made = self._made(epoch)
            event = torch.cuda.Event()
            event.record()
        return (*made, event)

    def _made(self, epoch: int):
        pairs = [feed.epoch_at_once(epoch, _AUGMENTED) for feed in self.feeds]
        masks = [
            None if mask is None else self._masks(engine, epoch)
            for mask, engine in zip(self.masks, self.engines)
        ]
        return [images for images, _ in pairs], [labels for _, labels in pairs], masks

    def _masks(self, engine, epoch: int) -> torch.Tensor:
        """What `train` draws: for each step, by seed, epoch and step, the branches that a picture keeps."""
        depth = engine.shape.depth
        drop = engine.config.drop_path
        drops = torch.tensor([drop * k / depth for k in range(1, depth + 1)]).repeat_interleave(2)[:, None]
        masks = []
        for feed in self.feeds:
            for step in range(self.steps):
                at = np.random.SeedSequence([feed.config.seed, epoch, step, self.place.rank])
                generator = torch.Generator().manual_seed(int(at.generate_state(1)[0]))
                drawn = torch.rand(2 * depth, self.first.batch_size, generator=generator)
                masks.append((drawn >= drops).float() / (1 - drops))
        return torch.stack(masks).unflatten(0, (len(self.feeds), -1)).to(self.device)

    def _put(self, made) -> None:
        """The pictures of an epoch to where a step finds them, behind the steps of the one before."""
        images, labels, masks, event = made
        if event is not None:
            torch.cuda.current_stream().wait_event(event)
        for place, (x, y) in enumerate(zip(images, labels)):
            self.images[place].copy_(x.view_as(self.images[place]))
            self.labels[place].copy_(y.view_as(self.labels[place]))
        for mine, drawn in zip(self.masks, masks):
            if mine is not None:
                mine.copy_(drawn)
        if event is not None:
            for tensor in (*images, *labels, *(mask for mask in masks if mask is not None)):
                tensor.record_stream(torch.cuda.current_stream())


class _Evaluation:
    """The held-out or the test pictures of every run; a pass over them is recorded when it comes again."""

    def __init__(self, runs: Together, split: str):
        self.runs = runs
        pictures = [list(feed.evaluation(split)) for feed in runs.feeds]
        images, labels = (
            torch.stack([torch.cat(part) for part in parts]) for parts in zip(*(zip(*p) for p in pictures))
        )
        self.count_all = labels.shape[1]
        short = -self.count_all % _EVALUATED if self.count_all > _EVALUATED else 0
        at_once = min(_EVALUATED, self.count_all)
        # nobody is right about a picture of class -1
        shown = nn.functional.pad(images, (0, 0) * 3 + (0, short))
        self.images = shown.unflatten(1, (-1, at_once))  # (S, passes, b, c, H, W)
        self.labels = nn.functional.pad(labels, (0, short), value=-1).unflatten(1, (-1, at_once))
        self.passes = self.images.shape[1]
        device = runs.device
        self.number = torch.zeros((), dtype=torch.int64, device=device)
        total = len(runs.configs)
        self.bits = torch.zeros(total, self.passes, at_once, dtype=torch.bool, device=device)
        self.order = torch.tensor([k for group in runs.groups for k in group], device=device)
        self.step = None
        self.times = 0

    @torch.no_grad()
    def _pass(self) -> None:
        x = normalize(self.images.index_select(1, self.number[None])[:, 0], self.runs.mean, self.runs.std)
        y = self.labels.index_select(1, self.number[None])[:, 0]
        right = []
        for engine in self.runs.engines:
            if hasattr(engine, "model"):  # batch norms have statistics
                engine.model.eval()
            right.append(engine.logits(x).argmax(dim=-1) == y[engine.which])  # (runs, b)
            if hasattr(engine, "model"):
                engine.model.train()
        sorted_back = torch.zeros_like(self.bits[:, 0]).index_copy_(0, self.order, torch.cat(right))
        self.bits.index_copy_(1, self.number[None], sorted_back[:, None])
        self.number += 1

    def count(self) -> torch.Tensor:
        """(runs,) how many are right, on the device. What is counted often is recorded."""
        self.number.zero_()
        if self.times == 1:
            self.step = recorded(self._pass, lambda: [self.number, self.bits], self.runs.device)
        self.times += 1
        for _ in range(self.passes):
            (self.step or self._pass)()
        return self.right.sum(dim=1)

    @property
    def right(self) -> torch.Tensor:
        """(runs, pictures) bool: the answers of the last count."""
        return self.bits.flatten(1)[:, : self.count_all]


class _Report:
    """What an epoch has measured, on its way from the device; reading it waits for that epoch alone."""

    def __init__(self, runs: Together, val_right):
        self.count = runs.steps * runs.first.batch_size
        self.held_out = 0 if runs.val is None else runs.val.count_all
        order = torch.argsort(torch.tensor([k for group in runs.groups for k in group]))
        sums = torch.cat([engine.sums for engine in runs.engines], dim=1)  # (2, runs), group by group
        bad = torch.cat([engine.failure.step for engine in runs.engines])
        rows = [*sums, bad.double()]
        held = None if val_right is None else val_right.double()  # in the order of the runs
        self.order = order
        self.host = self._sent(torch.stack(rows))
        self.held = None if held is None else self._sent(held)
        self.event = None
        if runs.device.type == "cuda":
            self.event = torch.cuda.Event()
            self.event.record()
        for engine in runs.engines:
            engine.sums.zero_()
        self.broken = False

    @staticmethod
    def _sent(tensor):
        if tensor.device.type != "cuda":
            return tensor.clone()
        return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(tensor, non_blocking=True)

    def read(self) -> list[dict]:
        """The metrics of each run."""
        if self.event is not None:
            self.event.synchronize()
        loss, right, bad = self.host[:, self.order].tolist()
        self.broken = any(step >= 0 for step in bad)
        rows = [{"train_loss": a / self.count, "train_accuracy": b / self.count} for a, b in zip(loss, right)]
        if self.held is not None:
            for row, count in zip(rows, self.held.tolist()):
                row["val_accuracy"] = count / self.held_out
        return rows


def _pictures(config: FeedSettings) -> tuple:
    """What the pictures that a run sees depend on."""
    return config.seed, config.tile, config.tile_seed, config.augment


def _groups(configs) -> list[list[int]]:
    """The numbers of runs that are rows of one tensor; any other network is a group of its own."""
    groups: list[list[int]] = []
    for number, config in enumerate(configs):
        for group in groups:
            first = configs[group[0]]
            if config.model == "vit" and replace(config, **{n: getattr(first, n) for n in _OWN}) == first:
                group.append(number)
                break
        else:
            groups.append([number])
    return groups


def _alike(configs) -> TrainConfig:
    """The first of settings that go side by side."""
    if not configs:
        raise ValueError("configs must hold one run at least")
    first = configs[0]
    for config in configs:
        for name in _SHARED:
            if getattr(config, name) != getattr(first, name):
                raise ValueError(
                    f"runs side by side must agree in {', '.join(_SHARED)}, got {name} "
                    f"{getattr(first, name)!r} and {getattr(config, name)!r}"
                )
        wanted: dict[str, Any] = dict(lookahead=False, mirrored_test=False, ema=0.0, mixup=0.0)
        if config.model == "vit":
            if config.optimizer == "sgd":
                raise ValueError("optimizer must be adamw or adam for ViTs side by side, got 'sgd'")
            if config.attention not in ("vanilla", "positional"):
                raise ValueError(f"attention must learn its scores side by side, got {config.attention!r}")
        for name, value in wanted.items():
            if getattr(config, name) != value:
                raise ValueError(f"{name} must be {value!r} side by side, got {getattr(config, name)!r}")
    return first
