"""R Vision Transformers of one shape as rows of one tensor: every product is one batched product.

What is computed is what :class:`~patch_association.images.vit.ViT` computes under autocast: products in the
precision of the run; norms, softmax of positional attention, loss and, unless asked otherwise, tokens in
float32. Weights, AdamW's averages and all sums are in float32 at least.
"""

from __future__ import annotations

import torch
from torch.nn import functional as F

from patch_association.images.layers import attend
from patch_association.images.vit import patches
from patch_lab.images.training import fused
from patch_lab.images.training.finite import FirstFailure
from patch_lab.images.training.graphs import compiled
from patch_lab.images.training.step import precision_type

_BETA1 = 0.9
_EPS = 1e-8
_WHOLE = (
    64  # each parameter begins at a multiple of this: kernels want addresses that are multiples of 16 bytes
)


class Rows:
    """ViTs that differ in seed, rate and start, side by side.

    Parameters
    ----------
    models : sequence of ViT
        At their starts; of one configuration.
    configs : sequence of TrainConfig
    frozen : sequence of sequences of str
        For each run the names of parameters that stay as they are.
    rates : (steps, R) tensor
        The learning rate of every step, on the device.
    which : (R,) tensor
        The place of each run's pictures among the sets of pictures.
    tokens : torch.dtype
        What tokens are kept in between layers.
    """

    def __init__(self, models, configs, frozen, rates, which, tokens=torch.float32):
        self.config = configs[0]
        self.count = len(models)
        self.shape = models[0].config
        self.device = rates.device
        self.rates = rates
        self.which = which
        shapes = {name: p.shape for name, p in models[0].named_parameters()}
        # What is used in float32 lies before what is used in the precision of the run: the gradient of all is
        # then two rows of whole pieces, side by side.
        self.shapes = dict(sorted(shapes.items(), key=lambda item: not _in_float32(item[0])))
        for names in frozen:
            if unknown := set(names) - set(self.shapes):
                raise ValueError(
                    f"frozen must name parameters, {', '.join(self.shapes)}, got {', '.join(unknown)}"
                )
        self.used = [-(-shape.numel() // _WHOLE) * _WHOLE for shape in self.shapes.values()]
        self.first = sum(map(_in_float32, self.shapes))
        self.halves = [0, 0]
        for name, used in zip(self.shapes, self.used):
            self.halves[0 if _in_float32(name) else 1] += used
        self.type = precision_type(self.config, self.device)
        self.tokens = tokens if self.type != torch.float32 else torch.float32
        c = self.shape
        N = c.num_tokens
        self.fused = fused.fits(self.device, self.type, N, c.width // c.heads)
        self.flat = torch.stack([self._row(model) for model in models]).to(self.device).requires_grad_()
        self.mean = torch.zeros_like(self.flat)
        self.square = torch.zeros_like(self.flat)
        every = self.config.optimizer == "adam"
        decayed = self._decayed()
        decay = self._spread([float(every or name in decayed) for name in self.shapes])  # (n,)
        self.decay = self.config.weight_decay * decay.to(self.device)
        self.free = None
        if any(frozen):
            free = torch.stack(
                [self._spread([float(n not in names) for n in self.shapes]) for names in frozen]
            )
            self.free = free.to(self.device)  # (R, n)
            self.decay = self.decay * self.free
        numbers = [list(shapes).index(name) for name in self.shapes]
        owner = self._spread(numbers).view(-1, _WHOLE)[:, 0]  # (n / 64,)
        self.sums = torch.zeros(2, self.count, dtype=torch.float64, device=self.device)
        self.failure = FirstFailure(list(shapes), self.device, self.count, owner)
        steps = torch.arange(1, len(rates) + 1, dtype=torch.float64)
        corrections = torch.stack([1 - beta**steps for beta in (_BETA1, self.config.beta2)], dim=1)
        self.corrections = corrections.float().to(self.device)  # (steps, 2)
        self.slopes = compiled(self._losses, self.config.compile, _slopes)
        self.squares = compiled(_squares, self.config.compile)
        self.move = compiled(self._move, self.config.compile)

    def _decayed(self) -> set[str]:
        return {name for name, shape in self.shapes.items() if len(shape) >= 2 and name != "positions"}

    def _spread(self, numbers) -> torch.Tensor:
        """(n,): a number for each parameter, as often as it has entries."""
        return torch.repeat_interleave(torch.tensor(numbers), torch.tensor(self.used))

    def _row(self, model) -> torch.Tensor:
        parameters = dict(model.named_parameters())
        padded = (
            F.pad(parameters[name].detach().flatten(), (0, used - parameters[name].numel()))
            for name, used in zip(self.shapes, self.used)
        )
        return torch.cat(list(padded))

    def _named(self, flat) -> dict[str, torch.Tensor]:
        """Parameters by name, (R, *shape): norms, positions and the token in float32, others low."""
        single, low = flat.split(self.halves, dim=1)
        first = self.first
        parts = (*single.split(self.used[:first], dim=1), *low.to(self.type).split(self.used[first:], dim=1))

        def unpadded(padded, n):
            return padded if padded.shape[1] == n else padded[:, :n]

        return {
            name: unpadded(part, shape.numel()).unflatten(1, shape)
            for (name, shape), part in zip(self.shapes.items(), parts)
        }

    def changed(self) -> list[torch.Tensor]:
        """The tensors that a step changes."""
        kept = self.failure
        return [self.flat, self.mean, self.square, self.sums, kept.step, kept.loss, kept.norms]

    def logits(self, images: torch.Tensor, kept: torch.Tensor | None = None) -> torch.Tensor:
        """(R, B, classes) in float32, of normalized pictures (S, B, c, H, W).

        Parameters
        ----------
        images : (S, B, c, H, W) tensor
        kept : (S, 2 depth, B) tensor, optional
            By what each branch is multiplied, picture by picture (stochastic depth).
        """
        return self._logits(self.flat, images, kept)

    def _logits(self, flat, images, kept):
        c = self.shape
        R = self.count
        B = images.shape[1]
        w = self._named(flat)
        x = patches(images.flatten(0, 1), c.patch_size).to(self.type)  # (S B, N, c p p)
        x = x.unflatten(0, (-1, B))[self.which].flatten(1, 2)  # -> (R, B N, c p p)
        x = _linear(x, w, "embed").to(self.tokens)
        if c.pooling == "cls":
            token = w["class_token"][:, None, None].expand(R, B, 1, c.width).to(x.dtype)
            x = torch.cat([x.unflatten(1, (B, -1)), token], dim=2).flatten(1, 2)  # (R, B (N + 1), width)
        if c.positions == "input" or (c.positions == "paper" and c.attention == "vanilla"):
            x = _plus(x, w["positions"][:, 0], B)
        m = None if kept is None else kept[self.which]  # (R, 2 depth, B)
        for layer in range(c.depth):
            name = f"blocks.{layer}."
            P = w["positions"][:, 0 if c.shared_positions else layer]  # (R, N, width)
            z = _norm(x, w, name + "attention_norm")
            if c.attention == "positional":
                mixed = self._positional(z.to(self.type), P.to(self.type), w, name + "attention.", B)
            else:
                z = _plus(z, P, B) if c.positions == "layers" else z
                mixed = self._vanilla(z.to(self.type), w, name + "attention.", B)
            x = x + _kept(mixed, m, 2 * layer)
            z = _norm(x, w, name + "mlp_norm").to(self.type)
            z = _linear(F.gelu(_linear(z, w, name + "mlp.0")), w, name + "mlp.2")
            x = x + _kept(F.gelu(z) if c.two_gelus else z, m, 2 * layer + 1)
        x = x.unflatten(1, (B, -1))  # (R, B, N, width)
        pooled = x[:, :, -1] if c.pooling == "cls" else x.mean(dim=2)
        return _linear(_norm(pooled, w, "norm").to(self.type), w, "head").float()

    def _scale(self) -> float:
        c = self.shape
        return (c.width if c.score_scale == "width" else c.width // c.heads) ** -0.5

    def _vanilla(self, z, w, name, B):
        """Definition 3.1: (R, B N, width) -> the same; the runs are folded into the batch."""
        c = self.shape
        weight = torch.cat([w[name + "query_key.weight"], w[name + "value.weight"]], dim=1)
        if self.fused:
            qkv = torch.bmm(z, weight.mT).view(self.count * B, -1, 3 * c.width)  # (R B, N, 3 width)
            bias = w[name + "query_key.bias"][:, : c.width].contiguous()
            mixed = fused.attention(qkv, bias, c.heads, self._scale())
            return self._mixed_out(mixed.reshape(z.shape), w, name)
        bias = torch.cat([w[name + "query_key.bias"], w[name + "value.bias"]], dim=1)
        qkv = _product(z, weight, bias).view(self.count * B, -1, 3, c.heads, c.width // c.heads)
        q, k, v = (part.transpose(1, 2) for part in qkv.unbind(2))  # (R B, H, N, d_h)
        mixed = attend(q, k, v, self._scale())
        return _linear(mixed.transpose(1, 2).reshape(z.shape), w, name + "output")

    def _mixed_out(self, mixed, w, name):
        """The output layer, of values that lack their bias: rows of S sum to 1, so that it may come later.

        W (m + b) + c is W m + (W b + c). The bias of keys moves all scores of a row alike: it is not seen.
        """
        weight = w[name + "output.weight"]
        bias = torch.baddbmm(w[name + "output.bias"][:, :, None], weight, w[name + "value.bias"][:, :, None])
        return _product(mixed, weight, bias[:, :, 0])

    def _positional(self, z, P, w, name, B):
        """Definition 3.2: as in PositionalAttention, channels first: nothing is permuted in memory."""
        c = self.shape
        R = self.count
        N = P.shape[1]
        qk = _linear(P, w, name + "query_key").view(R, N, 2, c.heads, -1)
        q, k = (part.transpose(1, 2) for part in qk.unbind(2))  # (R, H, N, d_h)
        S = torch.softmax((q @ k.mT).float() * self._scale(), dim=-1).to(self.type)  # (R, H, N, N)
        if self.fused:
            v = torch.bmm(z, w[name + "value.weight"].mT).view(R, B, N, c.width)
            return self._mixed_out(fused.mixed(S, v, False).flatten(1, 2), w, name)
        v = torch.baddbmm(w[name + "value.bias"][:, :, None], w[name + "value.weight"], z.mT)
        v = v.view(R * c.heads, -1, N)  # (R, H d_h, B N) -> (R H, d_h B, N)
        mixed = torch.bmm(v, S.flatten(0, 1).mT).view(R, c.width, B * N)
        return _linear(mixed.mT, w, name + "output")

    def _losses(self, flat, images, labels, kept):
        """The mean loss of each run (R,), and right answers (R,)."""
        logits = self._logits(flat, images, kept)
        smoothing = self.config.label_smoothing
        loss = F.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), reduction="none", label_smoothing=smoothing
        )
        right = (logits.detach().argmax(dim=-1) == labels).sum(dim=1)
        return loss.view_as(labels).mean(dim=1), right

    def update(self, images, labels, kept, number) -> None:
        """One step of all runs.

        Parameters
        ----------
        images, labels : (S, B, c, H, W) normalized, and (S, B)
        kept : as in :meth:`logits`
        number : () int64 tensor
            Steps since the start.
        """
        losses, right, gradient = self.slopes(self.flat, images, labels[self.which], kept)
        with torch.no_grad():
            squares = self.squares(gradient)
            self.failure.note(number, losses, squares)
            self.sums += torch.stack([losses.double() * labels.shape[1], right.double()])
            # A step that is only timed may lie beyond the end.
            at = number.clamp(max=len(self.rates) - 1)[None]
            rate = self.rates.index_select(0, at)[0]  # (R,)
            correction = self.corrections.index_select(0, at)[0]  # (2,)
            factor = torch.ones_like(rate)[:, None]  # (R, 1)
            if self.config.clip:
                factor = (self.config.clip / (squares.sum(dim=1, keepdim=True).sqrt() + 1e-6)).clamp(max=1)
            kept = self.flat.detach(), self.mean, self.square
            self.move(*kept, gradient, factor, rate[:, None], correction[:1], correction[1:])

    def _move(self, flat, mean, square, gradient, factor, rate, of_mean, of_square):
        """AdamW, or Adam with the decay in the gradient; by entries, so that a compiler makes one pass."""
        adam = self.config.optimizer == "adam"
        gradient = gradient * factor
        if adam:
            gradient = gradient + self.decay * flat
        if self.free is not None:
            gradient = gradient * self.free
        first = mean + (1 - _BETA1) * (gradient - mean)
        second = square + (1 - self.config.beta2) * (gradient.square() - square)
        by = (first / of_mean) / ((second / of_square).sqrt() + _EPS)
        held = flat if adam else flat * (1 - rate * self.decay)
        flat.copy_(held - rate * by)
        mean.copy_(first)
        square.copy_(second)

    def finished(self, models):
        """The models with their rows put back, on the CPU."""
        for model, row in zip(models, self.flat.detach().cpu()):
            parameters = dict(model.cpu().named_parameters())
            with torch.no_grad():
                for name, part in zip(self.shapes, row.split(self.used)):
                    parameters[name].copy_(part[: parameters[name].numel()].view_as(parameters[name]))
            yield model.eval()


def _squares(gradient):
    """(R, n) -> (R, n / 64): sums of squares of every 64 numbers."""
    return gradient.unflatten(1, (-1, _WHOLE)).square().sum(dim=-1)


def _slopes(losses):
    """The losses of all runs, their right answers, and the gradient by the flat weights."""

    def slopes(flat, *arguments):
        by_run, right = losses(flat, *arguments)
        return by_run.detach(), right, torch.autograd.grad(by_run.sum(), flat)[0]

    return slopes


def _linear(x, weights, name):
    """(R, M, in) -> (R, M, out)."""
    return _product(x, weights[name + ".weight"], weights[name + ".bias"])


def _product(x, weight, bias):
    """x W^T + b for each run: (R, M, in), (R, out, in), (R, out) -> (R, M, out).

    The bias is a sum of its own, which a compiler joins with what comes next; as an argument of the product
    it would be written out for each row before.
    """
    return torch.bmm(x, weight.mT) + bias[:, None]


def _in_float32(name: str) -> bool:
    """Whether a parameter is used in float32: norms, positions and the class token."""
    return "norm" in name or name in ("positions", "class_token")


def _norm(x, weights, name):
    """Layer norm of (R, M, width) with each run's own scale and shift, in float32."""
    z = F.layer_norm(x.float(), x.shape[-1:], eps=1e-6)
    return z * weights[name + ".weight"][:, None] + weights[name + ".bias"][:, None]


def _plus(x, P, B):
    """Tokens (R, B N, width) plus positions (R, N, width)."""
    return (x.unflatten(1, (B, -1)) + P[:, None].to(x.dtype)).flatten(1, 2)


def _kept(branch, m, number):
    """A branch (R, B N, width) with every picture's factor, (R, 2 depth, B)."""
    if m is None:
        return branch
    by = m[:, number, :, None, None].to(branch.dtype)
    return (branch.unflatten(1, (m.shape[-1], -1)) * by).flatten(1, 2)
