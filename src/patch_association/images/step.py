"""One training step: forward, backward, AdamW, with running sums that stay on the device."""

from __future__ import annotations

import math
from contextlib import nullcontext

import torch
from torch import nn
from torch.nn import functional as F

from patch_association.images.augment import normalise


def learning_rate(step: int, total: int, warmup: int, peak: float) -> float:
    """The rate of step 0, ..., total - 1: linear to ``peak`` in ``warmup`` steps, then a cosine to zero."""
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, total - warmup)))


def make_optimizer(model: nn.Module, config, capture: bool) -> torch.optim.AdamW:
    """AdamW that decays matrices and kernels, and neither biases, norms nor positional encodings."""
    decay, free = [], []
    for name, parameter in model.named_parameters():
        (decay if parameter.ndim >= 2 and name != "positions" else free).append(parameter)
    groups = [{"params": decay, "weight_decay": config.weight_decay}, {"params": free, "weight_decay": 0.0}]
    device = next(model.parameters()).device
    # In a captured step the rate must be a tensor: the graph reads it where it lies.
    rate = torch.tensor(config.lr, device=device) if capture else config.lr
    # Fused: one kernel for all parameters instead of a dozen for each.
    fused = device.type in ("cpu", "cuda")
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, config.beta2), fused=fused, capturable=capture)


def precision_type(config, device: torch.device) -> torch.dtype:
    """bfloat16 where asked for, or by itself where a GPU has it; else float32."""
    if config.precision == "auto":
        return torch.bfloat16 if device.type == "cuda" and torch.cuda.is_bf16_supported() else torch.float32
    return torch.bfloat16 if config.precision == "bf16" else torch.float32


class TrainStep:
    """A training step on a batch of uint8 pictures.

    Parameters
    ----------
    model : module
        What is called: it may be wrapped (several processes) or compiled.
    plain : module
        The module behind it, which owns the parameters.
    optimizer : AdamW
    config : TrainConfig
    mean, std : (c,) tensors
        For normalisation, on the device.
    capture : bool
        Record the step as a CUDA graph at its first call and replay it from then on.

    Attributes
    ----------
    sums : (3,) float64 tensor on the device
        Summed loss, right answers and pictures since it was last set to zero. Reading it waits for
        the device, so it is read once in a while.
    """

    def __init__(self, model, plain, optimizer, config, mean, std, capture: bool = False):
        self.model, self.plain, self.optimizer, self.config = model, plain, optimizer, config
        self.mean, self.std = mean, std
        self.device = mean.device
        self.type = precision_type(config, self.device)
        self.parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self.sums = torch.zeros(3, dtype=torch.float64, device=self.device)
        self.capture = capture
        self._graph = None

    def __call__(self, images: torch.Tensor, labels: torch.Tensor, rate: float) -> None:
        """One step with learning rate ``rate`` on uint8 pictures (B, c, H, W) and labels (B,)."""
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], torch.Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate
        if not self.capture:
            self.optimizer.zero_grad(set_to_none=True)
            self._compute(images, labels)
            return
        if self._graph is None:
            self._images, self._labels = images.clone(), labels.clone()
            self._record()
        self._images.copy_(images)
        self._labels.copy_(labels)
        self._graph.replay()

    def _compute(self, images, labels):
        with self.autocast():
            logits = self.model(normalise(images, self.mean, self.std))
            loss = F.cross_entropy(logits, labels, label_smoothing=self.config.label_smoothing)
        loss.backward()
        if self.config.clip:
            nn.utils.clip_grad_norm_(self.parameters, self.config.clip)
        self.optimizer.step()
        with torch.no_grad():
            right = (logits.argmax(dim=1) == labels).sum()
            count = torch.full_like(self.sums[0], len(labels))
            self.sums += torch.stack([loss.double() * count, right.double(), count])

    def autocast(self):
        """The precision's context, for training steps and evaluation alike."""
        if self.type == torch.float32:
            return nullcontext()
        # A captured step must not read casts that an earlier step left in the cache.
        return torch.autocast(self.device.type, self.type, cache_enabled=not self.capture)

    def _record(self):
        """Warm up on a side stream, as CUDA graphs require, put everything back, and record the step."""
        tensors = [*self.plain.state_dict().values(), self.sums]
        before = [t.clone() for t in tensors]
        state = {p: {k: v.clone() for k, v in s.items()} for p, s in self.optimizer.state.items()}
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.optimizer.zero_grad(set_to_none=True)
                self._compute(self._images, self._labels)
        torch.cuda.current_stream().wait_stream(stream)
        with torch.no_grad():
            for tensor, old in zip(tensors, before):
                tensor.copy_(old)
            for parameter, moments in self.optimizer.state.items():
                for key, value in moments.items():
                    # A fresh optimizer has no moments yet: it starts from zeros.
                    value.copy_(state[parameter][key]) if parameter in state else value.zero_()
        self.optimizer.zero_grad(set_to_none=True)  # so that the graph owns the gradients
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._compute(self._images, self._labels)


@torch.no_grad()
def evaluate(model: nn.Module, batches, step: TrainStep, place) -> dict:
    """Mean cross-entropy and accuracy over evaluation batches, over all processes."""
    sums = torch.zeros(3, dtype=torch.float64, device=step.device)
    training = model.training
    model.eval()
    cached = getattr(model, "cached_attention", None)
    positional = cached is not None and model.config.attention == "positional"
    with step.autocast(), cached() if positional else nullcontext():
        for images, labels in batches:
            logits = model(normalise(images, step.mean, step.std)).float()
            loss = F.cross_entropy(logits, labels, reduction="sum")
            right = (logits.argmax(dim=1) == labels).sum()
            sums += torch.stack([loss.double(), right.double(), torch.full_like(sums[0], len(labels))])
    model.train(training)
    loss, right, count = place.sum(sums).tolist()
    return {"loss": loss / count, "accuracy": right / count, "n": int(count)}
