"""Batches on the device: training batches of any epoch from any step on, and evaluation batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from patch_lab.images.data.augment import Draws, augment, draw
from patch_lab.images.data.folder import FolderSet, Pictures
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.data.sets import ImageSet, validation_split
from patch_lab.images.training.config import FeedSettings
from patch_lab.images.training.processes import OneProcess, own_share

_EVALUATION_BATCH = 500
_NO_EPOCH = 2**32 - 1  # what a run draws once comes from the generator of an epoch that it never reaches


class Feed(ABC):
    """What resident and streamed pictures share: the split, the order of an epoch, the shuffle.

    The order and all draws of an epoch depend on the seed and the epoch alone, and are made on the
    CPU: they are the same on every device, in every process, and after every interruption.
    """

    def __init__(self, data, config: FeedSettings, place: OneProcess):
        self.config = config
        self.place = place
        self.data = data
        self.train_numbers, self.val_numbers = validation_split(data.num_train, config.val_size, config.seed)
        self.steps = len(self.train_numbers) // config.batch_size
        if self.steps == 0:
            raise ValueError(
                f"batch_size must be at most the {len(self.train_numbers)} training pictures, "
                f"got {config.batch_size}"
            )
        self.share = own_share(config.batch_size, place)
        self.mean, self.std = (t.to(place.device) for t in data.statistics())
        self.permutation = (
            GridPermutation(data.image_size, config.tile, config.tile_seed) if config.tile else None
        )

    def generator(self, epoch: int) -> torch.Generator:
        """A generator of an epoch's own."""
        # PyTorch's CPU generator reads 32 bits of its seed, so that the pair is hashed into them.
        mixed = np.random.SeedSequence([self.config.seed, epoch]).generate_state(1)[0]
        return torch.Generator().manual_seed(int(mixed))

    def order(self, generator) -> torch.Tensor:
        """(steps, batch_size) numbers of training pictures in the order of an epoch."""
        order = self.train_numbers[torch.randperm(len(self.train_numbers), generator=generator)]
        return order[: self.steps * self.config.batch_size].view(self.steps, -1)

    @abstractmethod
    def epoch(self, number: int, start: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """(images, labels) of this process's share of an epoch, from step ``start`` on."""

    @abstractmethod
    def evaluation(self, split: str, mirrored: bool = False) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """(images, labels) of this process's share of "val" or "test"; the shuffle comes after mirroring."""

    def shuffled(self, images, mirrored: bool = False):
        """pi_s of a batch or of its mirror images, or without a shuffle these."""
        images = images.flip(-1) if mirrored else images
        return images if self.permutation is None else self.permutation(images)


class ResidentFeed(Feed):
    """Pictures that lie on the device as uint8 and are augmented there.

    On a GPU many steps are augmented at once: the operations are many and small, and launching
    them for every step would cost more than the step.
    """

    def __init__(self, data: ImageSet, config, place):
        super().__init__(data, config, place)
        self.images = data.train_images.to(place.device)
        self.labels = data.train_labels.to(place.device)
        self.together = 16 if place.device.type == "cuda" else 1

    def epoch(self, epoch: int, start: int = 0):
        """(images, labels) of this process for steps ``start``, ... of an epoch."""
        generator = self.generator(epoch)
        order = self.order(generator)
        draws = self.draws(epoch, order, generator)
        places = torch.arange(order.numel()).view(order.shape)[:, self.share]  # (steps, share)
        for first in range(start, self.steps, self.together):
            chosen = places[first : first + self.together]
            numbers = order.flatten()[chosen.flatten()].to(self.place.device)
            images = augment(self.images[numbers], draws[chosen.flatten()].to(self.place.device))
            images = self.shuffled(images).unflatten(0, chosen.shape)  # (n share, ...) -> (n, share, ...)
            yield from zip(images, self.labels[numbers].view(chosen.shape))

    def epoch_at_once(self, epoch: int, at_once: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The pictures of an epoch in its order, (n, c, H, W) uint8, and their labels (n,), on the device.

        They are those of :meth:`epoch`, made ``at_once`` pictures at a time. Draws stay on the CPU: who drew
        which operation is known there, and no more is computed.
        """
        generator = self.generator(epoch)
        order = self.order(generator)
        draws = self.draws(epoch, order, generator)
        numbers = order.flatten()
        places = torch.arange(len(numbers)).split(at_once)
        parts = [
            self.shuffled(augment(self.images[numbers[part].to(self.place.device)], draws[part]))
            for part in places
        ]
        return torch.cat(parts), self.labels[numbers.to(self.place.device)]

    def draws(self, epoch: int, order: torch.Tensor, generator: torch.Generator) -> Draws:
        """What is drawn for the pictures of an epoch.

        With "reflect-flip" a picture is mirrored in every other epoch, half of them in the first: both sides
        of each are seen in turn (alternating flip, arXiv:2404.00498).
        """
        drawn = draw(self.config.augment, order.numel(), self.data.image_size, generator)
        if self.config.augment != "reflect-flip":
            return drawn
        first = torch.rand(self.data.num_train, generator=self.generator(_NO_EPOCH)) < 0.5
        return replace(drawn, flipped=first[order.flatten()] ^ bool(epoch % 2))

    def evaluation(self, split: str, mirrored: bool = False):
        """(images, labels) of this process's share of "val" or "test"."""
        if split == "val":
            images, labels = self.images, self.labels
            numbers = self.val_numbers.to(self.place.device)
        else:
            images = self.data.test_images
            labels = self.data.test_labels
            numbers = torch.arange(len(labels))
        for batch in numbers[self.place.rank :: self.place.world].split(_EVALUATION_BATCH):
            chosen = images[batch].to(self.place.device)
            yield self.shuffled(chosen, mirrored), labels[batch].to(self.place.device)


class FolderFeed(Feed):
    """Pictures that worker processes read from the disk; the policy is applied on the device."""

    def __init__(self, data: FolderSet, config, place):
        if config.augment == "reflect-flip":
            raise ValueError(
                "augment must be another one for pictures in a folder, got 'reflect-flip': they are shown as "
                "random windows, mirrored at random"
            )
        super().__init__(data, config, place)

    def epoch(self, epoch: int, start: int = 0):
        """(images, labels) of this process for steps ``start``, ... of an epoch."""
        generator = self.generator(epoch)
        order = self.order(generator)
        crops = torch.rand(len(self.data.train), 5, generator=generator)
        # The random window is this feed's shift and mirror: of the draws only the policy is left.
        draws = draw(self.config.augment, order.numel(), self.data.image_size, generator).policy_only()
        places = torch.arange(order.numel()).view(order.shape)[:, self.share]
        batches = [order.flatten()[p].tolist() for p in places[start:]]
        crops = None if self.config.augment == "none" else crops
        pictures = Pictures(self.data.train, self.data.image_size, crops)
        for chosen, (images, labels) in zip(places[start:], self._loader(pictures, batches)):
            images = augment(
                images.to(self.place.device, non_blocking=True), draws[chosen].to(self.place.device)
            )
            yield self.shuffled(images), labels.to(self.place.device, non_blocking=True)

    def evaluation(self, split: str, mirrored: bool = False):
        """(images, labels) of this process's share of "val" or "test"."""
        files = self.data.train if split == "val" else self.data.test
        numbers = self.val_numbers if split == "val" else torch.arange(len(files))
        batches = [b.tolist() for b in numbers[self.place.rank :: self.place.world].split(_EVALUATION_BATCH)]
        for images, labels in self._loader(Pictures(files, self.data.image_size), batches):
            yield self.shuffled(images.to(self.place.device), mirrored), labels.to(self.place.device)

    def _loader(self, pictures, batches):
        pinned = self.place.device.type == "cuda"
        options: dict[str, Any] = dict(
            batch_sampler=batches, num_workers=self.config.workers, pin_memory=pinned
        )
        try:
            yield from torch.utils.data.DataLoader(pictures, **options)
        except ValueError as error:
            # A worker hands on its whole traceback as the message: what went wrong is its last line.
            raise ValueError(str(error).strip().splitlines()[-1].removeprefix("ValueError: ")) from error


def make_feed(data, config: FeedSettings, place) -> Feed:
    """The feed that fits the data set."""
    if isinstance(data, FolderSet):
        return FolderFeed(data, config, place)
    return ResidentFeed(data, config, place)
