"""One training step: forward, backward, AdamW, with running sums that stay on the device."""

from __future__ import annotations

import math
from contextlib import nullcontext

import torch
from torch import nn
from torch.nn import functional as F

from patch_association.images.data.augment import normalize
from patch_association.images.models.vit import ViT


def learning_rate(step: int, total: int, warmup: int, peak: float) -> float:
    """The rate of step 0, ..., total - 1: linear to ``peak`` in ``warmup`` steps, then a cosine to zero."""
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, total - warmup)))


def make_optimizer(model: nn.Module, config) -> torch.optim.AdamW:
    """AdamW that decays matrices and kernels, and neither biases, norms nor positional encodings."""
    decay, free = [], []
    for name, parameter in model.named_parameters():
        (decay if parameter.ndim >= 2 and name != "positions" else free).append(parameter)
    groups = [{"params": decay, "weight_decay": config.weight_decay}, {"params": free, "weight_decay": 0.0}]
    # Fused: one kernel for all parameters instead of a dozen for each.
    fused = next(model.parameters()).device.type in ("cpu", "cuda")
    return torch.optim.AdamW(groups, lr=config.lr, betas=(0.9, config.beta2), fused=fused)


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
    optimizer : AdamW
    config : TrainConfig
    mean, std : (c,) tensors
        For normalization, on the device.

    Attributes
    ----------
    sums : (3,) float64 tensor on the device
        Summed loss, right answers and pictures since it was last set to zero. Reading it waits for
        the device, so it is read once in a while.
    """

    def __init__(self, model, optimizer, config, mean, std):
        self.model, self.optimizer, self.config = model, optimizer, config
        self.mean, self.std, self.device = mean, std, mean.device
        self.type = precision_type(config, self.device)
        self.parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self.sums = torch.zeros(3, dtype=torch.float64, device=self.device)

    def __call__(self, images: torch.Tensor, labels: torch.Tensor, rate: float) -> None:
        """One step with learning rate ``rate`` on uint8 pictures (B, c, H, W) and labels (B,)."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        with self.autocast():
            logits = self.model(normalize(images, self.mean, self.std))
            loss = F.cross_entropy(logits, labels, label_smoothing=self.config.label_smoothing)
        loss.backward()
        if self.config.clip:
            nn.utils.clip_grad_norm_(self.parameters, self.config.clip)
        self.optimizer.step()
        self.sums += _sums(loss.detach() * len(labels), logits.detach(), labels)

    def autocast(self):
        """The precision's context, for training steps and evaluation alike."""
        return nullcontext() if self.type == torch.float32 else torch.autocast(self.device.type, self.type)


def _sums(loss, logits, labels) -> torch.Tensor:
    """(3,) float64: summed loss, right answers, pictures."""
    right = (logits.argmax(dim=1) == labels).sum()
    return torch.stack([loss.double(), right.double(), torch.full_like(right, len(labels)).double()])


@torch.no_grad()
def evaluate(model: nn.Module, batches, step: TrainStep, place) -> dict:
    """Mean cross-entropy and accuracy over evaluation batches, over all processes."""
    sums = torch.zeros_like(step.sums)
    training = model.training
    model.eval()
    fixed = (
        model.cached_attention
        if isinstance(model, ViT) and model.config.attention == "positional"
        else nullcontext
    )
    with step.autocast(), fixed():
        for images, labels in batches:
            logits = model(normalize(images, step.mean, step.std)).float()
            sums += _sums(F.cross_entropy(logits, labels, reduction="sum"), logits, labels)
    model.train(training)
    loss, right, count = place.sum(sums).tolist()
    return {"loss": loss / count, "accuracy": right / count, "n": int(count)}
