"""Training as this library does it, and as one would write it around a DataLoader, on the same model."""

from __future__ import annotations

import torch
from timing import close
from torch import nn

from patch_lab.images.data.sets import ImageSet
from patch_lab.images.training.config import TrainConfig
from patch_lab.images.training.feed import make_feed
from patch_lab.images.training.processes import OneProcess
from patch_lab.images.training.step import TrainStep, make_optimizer
from patch_lab.images.training.trainer import make_model


class OneByOne(torch.utils.data.Dataset):
    """Pictures augmented as a data loader does it: each by itself, when it is asked for."""

    def __init__(self, data: ImageSet):
        self.data, (mean, std) = data, data.statistics()
        self.mean, self.std = mean.view(-1, 1, 1), std.view(-1, 1, 1)

    def __len__(self):
        return len(self.data.train_labels)

    def __getitem__(self, i):
        picture = nn.functional.pad(self.data.train_images[i], (4, 4, 4, 4))
        top, left = torch.randint(9, (2,)).tolist()
        picture = picture[:, top : top + 32, left : left + 32]
        picture = picture.flip(-1) if torch.rand(()) < 0.5 else picture
        return (picture / 255 - self.mean) / self.std, self.data.train_labels[i]


class Ours:
    """The library's loop; ``batches`` is an epoch of uint8 pictures."""

    def __init__(self, data: ImageSet, config: TrainConfig):
        self.model = make_model(config, 10, 32, 3)
        self.feed = make_feed(data, config, OneProcess(torch.device("cpu")))
        optimizer = make_optimizer(self.model, config)
        self.step = TrainStep(self.model, optimizer, config, self.feed.mean, self.feed.std)
        self.rate = config.lr

    def batches(self):
        """An epoch."""
        return self.feed.epoch(0, 0)

    def __call__(self, batches) -> list[torch.Tensor | None]:
        """Train on what ``batches()`` yields; the last gradient."""
        for images, labels in batches():
            self.step(images, labels, self.rate)
        return [p.grad for p in self.model.parameters()]


class Plain:
    """The loop around a DataLoader; ``batches`` is an epoch of normalized pictures."""

    def __init__(self, data: ImageSet, config: TrainConfig):
        self.model = make_model(config, 10, 32, 3)
        self.optimizer, self.config = make_optimizer(self.model, config), config
        self.loader = torch.utils.data.DataLoader(OneByOne(data), batch_size=config.batch_size, shuffle=True)

    def batches(self):
        """An epoch."""
        return self.loader

    def __call__(self, batches) -> list[torch.Tensor | None]:
        """Train on what ``batches()`` yields; the last gradient."""
        for images, labels in batches():
            self.optimizer.zero_grad()
            logits = self.model(images)
            smoothing = self.config.label_smoothing
            nn.functional.cross_entropy(logits, labels, label_smoothing=smoothing).backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
            self.optimizer.step()
        return [p.grad for p in self.model.parameters()]


def loops(vit: str, number: int) -> tuple[Ours, Plain]:
    """Both loops for one ViT, on ``number`` pictures of noise."""
    data = _noise(number)
    config = TrainConfig(
        dataset="cifar10", vit=vit, patch_size=4, batch_size=100, augment="shift-flip", val_size=0,
        epochs=1, warmup_epochs=0, device="cpu",
    )  # fmt: skip
    return Ours(data, config), Plain(data, config)


def same(vit: str):
    """A check: from one start, on a batch without crops and mirrors, both loops have the same gradient."""

    def check(*_):
        ours, theirs = loops(vit, 100)
        data = _noise(100)
        mean, std = (x.view(-1, 1, 1) for x in data.statistics())
        images, labels = data.train_images[:10], data.train_labels[:10]
        normal = (images / 255 - mean) / std
        close(1e-3)(ours(lambda: [(images, labels)]), theirs(lambda: [(normal, labels)]))

    return check


def _noise(number: int) -> ImageSet:
    generator = torch.Generator().manual_seed(0)
    pictures = torch.randint(256, (number, 3, 32, 32), dtype=torch.uint8, generator=generator)
    labels = torch.arange(number) % 10
    return ImageSet("noise", "drawn", tuple("abcdefghij"), pictures, labels, pictures[:10], labels[:10])
