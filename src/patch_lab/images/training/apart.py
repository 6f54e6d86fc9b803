"""A network of any kind, trained beside others: its step has nothing that waits for the host."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from patch_lab.images.training.finite import FirstFailure
from patch_lab.images.training.graphs import compiled
from patch_lab.images.training.step import make_optimizer, precision_type


class Apart:
    """One network (a CNN) that shares pictures and the recorded step with others, and nothing else.

    The parameters are those of :class:`~patch_lab.images.training.rows.Rows`, for one run.
    """

    def __init__(self, models, configs, frozen, rates, which, tokens=torch.float32):
        (self.model,) = models
        (self.config,) = configs
        (stay,) = frozen
        if stay:
            raise ValueError(f"frozen is for ViTs side by side, got {', '.join(stay)} of {self.config.model}")
        self.device = rates.device
        self.rates = rates
        self.which = which
        self.count = 1
        self.type = precision_type(self.config, self.device)
        if self.device.type == "cuda":
            self.model.to(memory_format=torch.channels_last)
        self.model.train()
        self.optimizer = make_optimizer(self.model, self.config)
        for group in self.optimizer.param_groups:
            # The rate of a recorded step is read from the device.
            group["lr"] = torch.zeros((), device=self.device)
            group["capturable"] = self.device.type == "cuda" and "betas" in group
        learned = {n: p for n, p in self.model.named_parameters() if p.requires_grad}
        self.parameters = list(learned.values())
        self.sums = torch.zeros(2, 1, dtype=torch.float64, device=self.device)
        self.failure = FirstFailure(list(learned), self.device)
        self.slopes = compiled(self._losses, self.config.compile, self._slopes)

    def changed(self) -> list[torch.Tensor]:
        """What a step changes; what the optimizer keeps is made in the first step."""
        states = self.optimizer.state.values()
        kept = [tensor for state in states for tensor in state.values() if tensor is not None]
        noted = [self.failure.step, self.failure.loss, self.failure.norms]
        return [*self.model.parameters(), *self.model.buffers(), self.sums, *noted, *kept]

    def logits(self, images: torch.Tensor, kept=None) -> torch.Tensor:
        """(1, B, classes) in float32, of normalized pictures (S, B, c, H, W)."""
        x = images.index_select(0, self.which)[0]
        if self.device.type == "cuda":
            x = x.contiguous(memory_format=torch.channels_last)
        low = self.type != torch.float32
        with torch.autocast(self.device.type, self.type, enabled=low, cache_enabled=False):
            return self.model(x)[None].float()

    def _losses(self, images, labels):
        logits = self.logits(images)
        loss = F.cross_entropy(logits[0], labels[0], label_smoothing=self.config.label_smoothing)
        return loss, (logits.detach().argmax(dim=-1) == labels).sum(dim=1)

    def _slopes(self, losses):
        def slopes(*arguments):
            loss, right = losses(*arguments)
            return loss.detach(), right, torch.autograd.grad(loss, self.parameters)

        return slopes

    def update(self, images, labels, kept, number) -> None:
        """One step; the arguments are those of :meth:`Rows.update`."""
        labels = labels.index_select(0, self.which)  # (1, B)
        loss, right, gradients = self.slopes(images, labels)
        with torch.no_grad():
            norms = torch.stack(torch._foreach_norm(gradients))  # pyright: ignore[reportPrivateImportUsage]
            self.failure.note(number, loss[None], norms.float()[None])
            self.sums += torch.stack([loss.double()[None] * labels.shape[1], right.double()])
            for p, gradient in zip(self.parameters, gradients):
                p.grad = gradient
            if self.config.clip:
                total = torch.linalg.vector_norm(norms)
                nn.utils.clip_grads_with_norm_(self.parameters, self.config.clip, total)
            # A step that is only timed may lie beyond the end.
            at = number.clamp(max=len(self.rates) - 1)[None]
            rate = self.rates.index_select(0, at)[0, 0]
            for group in self.optimizer.param_groups:
                group["lr"].copy_(rate * group.get("rate_factor", 1.0))
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def finished(self, models):
        """The model, on the CPU."""
        yield self.model.cpu().to(memory_format=torch.contiguous_format).eval()
