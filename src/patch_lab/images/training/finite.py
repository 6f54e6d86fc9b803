"""Where a training run first met a number that is not finite: kept on the device, read once in a while."""

from __future__ import annotations

from collections.abc import Sequence

import torch


class FirstFailure:
    """The first step of each of R runs at which a loss or a gradient was not finite.

    Nothing waits for the device until it is asked.

    Parameters
    ----------
    names : sequence of str
        The parameters in the order of the forward pass.
    device : torch.device
    runs : int
    owner : (m,) int64 tensor, optional
        Where gradients are looked at in m pieces: the number of the parameter that each belongs to.

    Attributes
    ----------
    step : (R,) int64 tensor
        The step, counted from 0, or -1 where all was finite so far.
    loss : (R,) float32 tensor
        The loss at that step.
    norms : (R, len(names)) or (R, m) float32 tensor
        The norm of each parameter's gradient at that step, or of each piece.
    """

    def __init__(self, names: Sequence[str], device, runs: int = 1, owner: torch.Tensor | None = None):
        self.names = tuple(names)
        self.owner = owner
        self.step = torch.full((runs,), -1, dtype=torch.int64, device=device)
        self.loss = torch.zeros(runs, device=device)
        pieces = len(self.names) if owner is None else len(owner)
        self.norms = torch.zeros(runs, pieces, device=device)

    @torch.no_grad()
    def note(self, step, loss: torch.Tensor, norms: torch.Tensor) -> None:
        """Note a step's failures where there was none before.

        Parameters
        ----------
        step : int or 0-dimensional int64 tensor
        loss : (R,) tensor
        norms : (R, len(names)) or (R, m) tensor, of the gradients or of their pieces
        """
        bad = ~(loss.isfinite() & norms.isfinite().all(dim=1)) & (self.step < 0)
        self.loss.copy_(torch.where(bad, loss, self.loss))
        self.norms.copy_(torch.where(bad[:, None], norms, self.norms))
        self.step.copy_(torch.where(bad, step, self.step))

    def messages(self, steps: int, config, low: bool) -> list[str | None]:
        """What went wrong in each run, and what may help; None where nothing did. Waits for the device.

        Parameters
        ----------
        steps : int
            Of an epoch.
        config : TrainConfig
        low : bool
            Whether the run computes in bfloat16.
        """
        failed_at = self.step.tolist()
        return [
            None if at < 0 else self._sentence(k, at, steps, config, low) for k, at in enumerate(failed_at)
        ]

    def check(self, steps: int, config, low: bool) -> None:
        """Raise the ValueError that says what went wrong; the arguments are those of :meth:`said`."""
        for sentence in self.messages(steps, config, low):
            if sentence is not None:
                raise ValueError(sentence)

    def _sentence(self, run: int, step: int, steps: int, config, low: bool) -> str:
        loss = float(self.loss[run])
        where = f"in step {step + 1} (epoch {step // steps + 1})"
        doubtful = []
        if low:
            doubtful.append("precision=float32")
        if config.compile:
            doubtful.append("compile=false")
        if loss - loss != 0:  # NaN or infinite
            ways = "lower lr or raise warmup_epochs" + ("" if config.clip else ", or clip gradients")
            if doubtful:
                ways += (
                    f"; if that does not help, {' and '.join(doubtful)} tell whether the arithmetic does it"
                )
            return f"the training loss is {loss} {where}, and all was finite before: {ways}"
        owner = range(len(self.names)) if self.owner is None else self.owner.tolist()
        numbers = {k for k, norm in zip(owner, self.norms[run].tolist()) if norm - norm != 0}
        bad = [self.names[k] for k in sorted(numbers)]
        message = (
            f"the training loss is {loss:.4g} {where}, and its gradient is not finite, on the way back first "
            f"in {bad[-1]} ({_layer(bad[-1])}), in {len(bad)} of {len(self.names)} parameters"
        )
        if doubtful:
            return f"{message}. A backward pass failed, and not the rate: try {' or '.join(doubtful)}"
        return f"{message}. In float32 it has overflowed: lower lr or raise warmup_epochs"


def _layer(name: str) -> str:
    """Which layer a parameter belongs to, counted from 1, in words."""
    part = next((part for part in name.split(".") if part.isdigit()), None)
    return "outside of the layers" if part is None else f"layer {int(part) + 1}"
