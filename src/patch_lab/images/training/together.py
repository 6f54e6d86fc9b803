"""Many runs of one network side by side: each is a row of one tensor, and a step of all is one step.

A small ViT keeps a GPU busy for a small part of a step; twenty-five of them cost little more than one. Each
run sees the batches, the start and the rates that :func:`~patch_lab.images.training.run.train` gives it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from patch_lab.images.data.augment import normalize
from patch_lab.images.training.config import TrainConfig
from patch_lab.images.training.feed import ResidentFeed
from patch_lab.images.training.processes import processes
from patch_lab.images.training.step import learning_rate
from patch_lab.images.training.trainer import started

_OWN = ("seed", "lr", "start", "values", "margin")  # what may differ from run to run
_EVALUATED, _WARM = 250, 3  # pictures of each run at once; steps before a graph is recorded
_BETA1, _EPS = 0.9, 1e-8


@dataclass
class Row:
    """What became of one of the runs.

    Attributes
    ----------
    model : module
        As it is after the last step, on the CPU.
    metrics : list of dict
        By epoch ``train_loss`` and ``train_accuracy``, and ``val_accuracy`` where pictures are held out.
    test_accuracy : float
    """

    model: nn.Module
    metrics: list[dict]
    test_accuracy: float


def train_together(
    configs: Sequence[TrainConfig],
    data,
    models: Sequence[nn.Module] | None = None,
    frozen: Sequence[Sequence[str]] | None = None,
) -> list[Row]:
    """Train ViTs that differ in seed, rate and start as one; on a GPU a step is recorded once and replayed.

    Parameters
    ----------
    configs : sequence of TrainConfig
        Of ViTs with AdamW in float32; they differ in ``seed``, ``lr``, ``start``, ``values`` and ``margin``
        alone. Runs of one seed see the same batches.
    data : ImageSet
    models : sequence of ViT, optional
        Where the runs start, in place of what ``configs`` say.
    frozen : sequence of sequences of str, optional
        For each run the names of parameters that stay as they are.

    Returns
    -------
    list of Row
        In the order of ``configs``.

    Raises
    ------
    ValueError
        On settings that do not go side by side, and when a loss is no longer finite.

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
    first, place = _alike(configs), processes(configs[0].device)
    seeds = sorted({config.seed for config in configs})
    feeds = {s: ResidentFeed(data, next(c for c in configs if c.seed == s), place) for s in seeds}
    if models is None:
        models = [started(config, feeds[config.seed]) for config in configs]
    rows = _Rows(models, frozen or [()] * len(configs), configs, place.device)
    which = torch.tensor([seeds.index(config.seed) for config in configs], device=place.device)
    step = _Step(rows, which, first, feeds[seeds[0]])
    metrics: list[list[dict]] = [[] for _ in configs]
    for epoch in range(first.epochs):
        for batches in zip(*(feeds[s].epoch(epoch, 0) for s in seeds)):
            step(batches)
        loss, right, count = step.read()
        if not all(map(math.isfinite, loss)):
            bad = [configs[k] for k, each in enumerate(loss) if not math.isfinite(each)]
            raise ValueError(
                f"the training loss is not finite in epoch {epoch + 1} with lr {bad[0].lr}: lower it"
            )
        for k, row in enumerate(metrics):
            row.append({"train_loss": loss[k] / count, "train_accuracy": right[k] / count})
        if first.val_size:
            for row, accuracy in zip(metrics, step.accuracy([feeds[s].evaluation("val") for s in seeds])):
                row[-1]["val_accuracy"] = accuracy
    test = step.accuracy([feeds[s].evaluation("test") for s in seeds])
    return [Row(*each) for each in zip(rows.models(models), metrics, test)]


def _alike(configs) -> TrainConfig:
    """The first of settings that go side by side."""
    if not configs:
        raise ValueError("configs must hold one run at least")
    first = configs[0]
    own = {name: getattr(first, name) for name in _OWN}
    for config in configs:
        if replace(config, **own) != first:
            raise ValueError(f"runs side by side may differ in {', '.join(_OWN)} alone")
    wanted = dict(model="vit", optimizer="adamw", precision="float32", lookahead=False, mirrored_test=False)
    wanted |= dict(ema=0.0, mixup=0.0, drop_path=None)
    for name, value in wanted.items():
        if getattr(first, name) != value:
            raise ValueError(f"{name} must be {value!r} side by side, got {getattr(first, name)!r}")
    if first.attention not in ("vanilla", "positional"):
        raise ValueError(f"attention must learn its scores side by side, got {first.attention!r}")
    return first


class _Rows:
    """The parameters of R models as the rows of one tensor (R, n), with AdamW's averages of gradients."""

    def __init__(self, models, frozen, configs, device):
        self.template = models[0].to(device)
        shapes = {name: p.shape for name, p in self.template.named_parameters()}
        for names in frozen:
            if unknown := set(names) - set(shapes):
                raise ValueError(
                    f"frozen must name parameters, {', '.join(shapes)}, got {', '.join(unknown)}"
                )
        self.shapes, self.sizes = shapes, [shape.numel() for shape in shapes.values()]
        row = lambda model: torch.cat([p.detach().flatten() for p in model.parameters()])
        self.flat = torch.stack([row(model).to(device) for model in models]).requires_grad_()
        self.mean, self.square = torch.zeros_like(self.flat), torch.zeros_like(self.flat)
        each = lambda numbers: torch.repeat_interleave(torch.tensor(numbers), torch.tensor(self.sizes))
        self.free = torch.stack([each([float(n not in names) for n in shapes]) for names in frozen]).to(
            device
        )
        decays = each([float(len(shape) >= 2 and n != "positions") for n, shape in shapes.items()]).to(device)
        self.decay = configs[0].weight_decay * decays * self.free
        self.peak = torch.tensor([[config.lr] for config in configs], device=device)  # (R, 1)

    def logits(self, images):
        """(R, B, classes) for the pictures (R, B, c, H, W) of each run."""
        parts = self.flat.split(self.sizes, dim=1)
        named = {name: part.unflatten(1, shape) for (name, shape), part in zip(self.shapes.items(), parts)}
        with sdpa_kernel(SDPBackend.MATH):
            return torch.vmap(lambda p, x: functional_call(self.template, p, (x,)))(named, images)

    def models(self, models):
        """The models with their rows put back, on the CPU."""
        for model, row in zip(models, self.flat.detach().cpu()):
            model.cpu()
            nn.utils.vector_to_parameters(row, model.parameters())
            yield model.eval()


class _Step:
    """One step of all runs: forward, backward, clipping by each run's norm, AdamW with each run's rate."""

    def __init__(self, rows, which, config, feed):
        self.rows, self.which, self.config, self.feed = rows, which, config, feed
        device, shape = which.device, (int(which.max()) + 1, config.batch_size)
        picture = (feed.data.channels, feed.data.image_size, feed.data.image_size)
        # Where a recorded step finds what changes from step to step.
        self.images = torch.zeros(*shape, *picture, dtype=torch.uint8, device=device)
        self.labels = torch.zeros(shape, dtype=torch.int64, device=device)
        self.now = torch.zeros(3, device=device)  # the rate as a share of the peak, AdamW's two corrections
        self.sums = torch.zeros(2, len(which), dtype=torch.float64, device=device)
        self.total = config.epochs * feed.steps
        self.warmup = math.ceil(config.warmup_epochs * feed.steps)
        self.done = self.seen = 0
        self.replay = self._update if device.type != "cuda" else None

    def __call__(self, batches) -> None:
        """A step on a batch of each seed: pairs of (B, c, H, W) uint8 and (B,)."""
        for place, (images, labels) in enumerate(batches):
            self.images[place].copy_(images)
            self.labels[place].copy_(labels)
        share = learning_rate(self.done, self.total, self.warmup, 1.0, self.config.schedule)
        self.done, self.seen = self.done + 1, self.seen + self.config.batch_size
        corrections = [1 - beta**self.done for beta in (_BETA1, self.config.beta2)]
        self.now.copy_(torch.tensor([share, *corrections]))
        if self.replay is None:
            self.replay = self._recorded()
        self.replay()

    def _update(self) -> None:
        rows, clip = self.rows, self.config.clip
        x = normalize(self.images, self.feed.mean, self.feed.std)[
            self.which
        ]  # (S, B, c, H, W) -> (R, B, ...)
        y = self.labels[self.which]
        logits = rows.logits(x)  # (R, B, classes)
        smoothing = self.config.label_smoothing
        loss = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none", label_smoothing=smoothing)
        each = loss.view_as(y).mean(dim=1)
        gradient = torch.autograd.grad(each.sum(), rows.flat)[0] * rows.free
        with torch.no_grad():
            if clip:
                gradient *= (clip / (gradient.norm(dim=1, keepdim=True) + 1e-6)).clamp(max=1)
            rate = rows.peak * self.now[0]
            rows.mean.lerp_(gradient, 1 - _BETA1)
            rows.square.lerp_(gradient.square(), 1 - self.config.beta2)
            by = (rows.mean / self.now[1]) / ((rows.square / self.now[2]).sqrt() + _EPS)
            rows.flat.mul_(1 - rate * rows.decay).sub_(rate * by * rows.free)
            self.sums += torch.stack(
                [each.double() * y.shape[1], (logits.argmax(-1) == y).double().sum(dim=1)]
            )

    def _recorded(self) -> Callable[[], None]:
        """The step as a CUDA graph. It is run before it is recorded, and that leaves no trace."""
        changed = (self.rows.flat, self.rows.mean, self.rows.square, self.sums)
        kept = [each.detach().clone() for each in changed]
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM):
                self._update()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._update()
        with torch.no_grad():
            for each, before in zip(changed, kept):
                each.copy_(before)
        return graph.replay

    def read(self) -> tuple[list[float], list[float], int]:
        """Summed loss and right answers of each run, and how many pictures, since they were last read."""
        (loss, right), count = self.sums.tolist(), self.seen
        self.sums.zero_()
        self.seen = 0
        return loss, right, count

    @torch.no_grad()
    def accuracy(self, evaluations) -> list[float]:
        """Of each run, on the batches of its seed."""
        right, count = torch.zeros(len(self.which), device=self.which.device), 0
        for batches in zip(*evaluations):
            images, labels = (torch.stack(each) for each in zip(*batches))  # (S, b, ...)
            for x, y in zip(images.split(_EVALUATED, dim=1), labels.split(_EVALUATED, dim=1)):
                x = normalize(x, self.feed.mean, self.feed.std)[self.which]
                right += (self.rows.logits(x).argmax(-1) == y[self.which]).sum(dim=1)
                count += y.shape[1]
        return (right / count).tolist()
