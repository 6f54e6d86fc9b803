"""One training step: forward, backward, AdamW or SGD, with running sums that stay on the device."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from patch_association.images.vit import ViT
from patch_lab.images.data.augment import normalize
from patch_lab.images.training.config import MachineSettings, OptimizerSettings, TrainConfig
from patch_lab.images.training.finite import FirstFailure

#: Of SGD.
_MOMENTUM = 0.85
_NORM_RATE = 64.0
_EVERY = 5  # steps between two looks ahead
_HELD = 0.95  # what is held at the end of training for each of them


def make_optimizer(model: nn.Module, config: OptimizerSettings) -> torch.optim.Optimizer:
    """AdamW that decays matrices and kernels, not biases, norms and positional encodings; or Adam; or SGD.

    Adam adds the decay times the weights to the gradient, of every parameter ("L2").

    SGD has Nesterov's momentum 0.85 and decays every parameter. Biases of batch norms learn at 64 times the
    rate, with a decay as much smaller, as in airbench (arXiv:2404.00498). A group's rate is the run's times
    its ``rate_factor``.
    """
    # Fused: one kernel for all parameters instead of a dozen for each.
    fused = next(model.parameters()).device.type in ("cpu", "cuda")
    learned = {name: p for name, p in model.named_parameters() if p.requires_grad}
    if config.optimizer == "sgd":
        norms = {name for name, part in model.named_modules() if isinstance(part, nn.BatchNorm2d)}
        fast = {name for name in learned if name.endswith(".bias") and name.removesuffix(".bias") in norms}
        slow = [p for name, p in learned.items() if name not in fast]
        groups = [{"params": slow, "rate_factor": 1.0, "weight_decay": config.weight_decay}]
        if fast:
            decay = config.weight_decay / _NORM_RATE
            chosen = [learned[name] for name in learned if name in fast]
            groups.append({"params": chosen, "rate_factor": _NORM_RATE, "weight_decay": decay})
        return torch.optim.SGD(groups, lr=config.lr, momentum=_MOMENTUM, nesterov=True, fused=fused)
    if config.optimizer == "adam":
        return torch.optim.Adam(
            learned.values(),
            lr=config.lr,
            betas=(0.9, config.beta2),
            weight_decay=config.weight_decay,
            fused=fused,
        )
    decay = []
    free = []
    for name, parameter in learned.items():
        (decay if parameter.ndim >= 2 and name != "positions" else free).append(parameter)
    groups = [{"params": decay, "weight_decay": config.weight_decay}, {"params": free, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=config.lr, betas=(0.9, config.beta2), fused=fused)


class Lookahead:
    """Slow weights, to which a model returns every five steps; at first they follow it at once.

    They move by the share 1 - 0.95^5 (t/T)^3 of the way to the model's weights and statistics, t of T steps
    into the run. The finished model has the slow weights: steps since the last look before T, one to five of
    them, leave no trace. (Lookahead of Zhang et al., arXiv:1907.08610, with the shares of airbench,
    arXiv:2404.00498, which also looks at T where five divides it.)

    Parameters
    ----------
    model : module
    total : int
        Steps of the run, T.
    """

    def __init__(self, model: nn.Module, total: int):
        self.total = total
        self.slow = {name: tensor.clone() for name, tensor in _floating(model)}

    @torch.no_grad()
    def after(self, model: nn.Module, done: int) -> None:
        """Look ahead after step ``done`` (counted from 1), if it is time."""
        if done % _EVERY and done < self.total:
            return
        held = _HELD**_EVERY * (done / self.total) ** 3 if done < self.total else 1.0
        for name, tensor in _floating(model):
            tensor.copy_(self.slow[name].lerp_(tensor, 1 - held))


class RunningAverage(Lookahead):
    """An exponential average of weights and statistics, with a decay that grows to ``decay`` as steps go by.

    It is what is evaluated, and what the finished model has; training does not see it.
    """

    def __init__(self, model: nn.Module, total: int, decay: float):
        super().__init__(model, total)
        self.decay = decay

    @torch.no_grad()
    def after(self, model: nn.Module, done: int) -> None:
        """Take step ``done`` (counted from 1) into the average; after the last, the model becomes it."""
        share = 1 - min(self.decay, (1 + done) / (10 + done))
        for name, tensor in _floating(model):
            self.slow[name].lerp_(tensor, share)
            if done == self.total:
                tensor.copy_(self.slow[name])

    @contextmanager
    def instead(self, model: nn.Module):
        """Within this context the model has the average's weights."""
        own = {name: tensor.clone() for name, tensor in _floating(model)}
        with torch.no_grad():
            for name, tensor in _floating(model):
                tensor.copy_(self.slow[name])
            try:
                yield
            finally:
                for name, tensor in _floating(model):
                    tensor.copy_(own[name])


def mixing_share(alpha: float, seed: int, epoch: int, step: int) -> float:
    """The share of the larger picture in a mixture, from Beta(alpha, alpha); 1 where ``alpha`` is 0.

    It depends on seed and step alone, so that a run that is resumed mixes as it would have.
    """
    if not alpha:
        return 1.0
    share = np.random.default_rng([seed, epoch, step]).beta(alpha, alpha)
    return float(max(share, 1 - share))


def _floating(model: nn.Module):
    return [(name, tensor) for name, tensor in model.state_dict().items() if tensor.is_floating_point()]


def precision_type(config: MachineSettings, device: torch.device) -> torch.dtype:
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
    optimizer : AdamW or SGD
        Of :func:`make_optimizer`.
    config : TrainConfig
    mean, std : (c,) tensors
        For normalization, on the device.

    Attributes
    ----------
    sums : (3,) float64 tensor on the device
        Summed loss, right answers and pictures since it was last set to zero. Reading it waits for
        the device, so it is read once in a while.
    failure : FirstFailure
        Of steps since this object was made.
    """

    def __init__(self, model, optimizer, config: TrainConfig, mean, std):
        self.model = model
        self.optimizer = optimizer
        self.config = config
        self.mean = mean
        self.std = std
        self.device = mean.device
        self.type = precision_type(config, self.device)
        self.parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self.sums = torch.zeros(3, dtype=torch.float64, device=self.device)
        self.failure = FirstFailure([], self.device)

    def __call__(
        self, images: torch.Tensor, labels: torch.Tensor, rate: float, share: float = 1.0, number: int = 0
    ) -> None:
        """Step ``number`` with learning rate ``rate`` on uint8 pictures (B, c, H, W) and labels (B,).

        With a ``share`` below 1 each picture is mixed with that at the other end of the batch
        (mixup, arXiv:1710.09412); what counts as right is the larger one's label.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group.get("rate_factor", 1.0)
        self.optimizer.zero_grad(set_to_none=True)
        with self.autocast():
            x = normalize(images, self.mean, self.std)
            smoothing = self.config.label_smoothing
            logits = self.model(x if share == 1.0 else share * x + (1 - share) * x.flip(0))
            loss = F.cross_entropy(logits, labels, label_smoothing=smoothing)
            if share != 1.0:
                other = F.cross_entropy(logits, labels.flip(0), label_smoothing=smoothing)
                loss = share * loss + (1 - share) * other
        loss.backward()
        gradients = [p.grad for p in self.parameters if p.grad is not None]
        norms = torch.stack(torch._foreach_norm(gradients))  # pyright: ignore[reportPrivateImportUsage]
        if not self.failure.names:
            self._name(gradients)
        self.failure.note(number, loss.detach().float()[None], norms[self.forward].float()[None])
        if self.config.clip:
            nn.utils.clip_grads_with_norm_(self.parameters, self.config.clip, torch.linalg.vector_norm(norms))
        self.optimizer.step()
        self.sums += _sums(loss.detach() * len(labels), logits.detach(), labels)

    def _name(self, gradients) -> None:
        """Which gradient is whose, in the order of the forward pass."""
        place = {id(gradient): k for k, gradient in enumerate(gradients)}
        named = [(name, p) for name, p in self.model.named_parameters() if id(p.grad) in place]
        self.forward = torch.tensor([place[id(p.grad)] for _, p in named], device=self.device)
        names = [name.removeprefix("module.").removeprefix("_orig_mod.") for name, _ in named]
        self.failure = FirstFailure(names, self.device)

    def autocast(self):
        """The precision's context, for training steps and evaluation alike."""
        return nullcontext() if self.type == torch.float32 else torch.autocast(self.device.type, self.type)


def _sums(loss, logits, labels) -> torch.Tensor:
    """(3,) float64: summed loss, right answers, pictures."""
    right = (logits.argmax(dim=1) == labels).sum()
    return torch.stack([loss.double(), right.double(), torch.full_like(right, len(labels)).double()])


@torch.no_grad()
def evaluate(model: nn.Module, batches, step: TrainStep, place) -> dict:
    """Mean cross-entropy and accuracy over evaluation batches, over all processes.

    A batch has its pictures once, or several views of them, over which logits are averaged: (B, c, H, W) or a
    tuple of such.
    """
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
            views = images if isinstance(images, tuple) else (images,)
            outputs = [model(normalize(view, step.mean, step.std)).float() for view in views]
            logits = torch.stack(outputs).mean(dim=0)  # (views, B, classes) -> (B, classes)
            sums += _sums(F.cross_entropy(logits, labels, reduction="sum"), logits, labels)
    model.train(training)
    loss, right, count = place.sum(sums).tolist()
    return {"loss": loss / count, "accuracy": right / count, "n": int(count)}
