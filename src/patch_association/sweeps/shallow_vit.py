"""The sweeps of the second theory (part ``shallow_vit``): what samples, noise, starts and attention change.

A trial draws its own start, training inputs, batches and test inputs; the same number means the same draws
in every cell. Networks of 1,000 neurons run in float32, populations in float64.
"""

from __future__ import annotations

import torch

from patch_association._streams import TEST
from patch_association.records import rounded
from patch_association.shallow_vit import (
    PatternData,
    initial_weights,
    train,
    with_neighbors,
)
from patch_association.sweeps import Sweep

TRIALS, TEST_INPUTS, BATCH = 20, 1000, 20
NEURONS = 1000
#: Figure 1(a): half of all tokens discriminative, so that the margin is s = 2 alpha_* - 0.5.
HALF = (0.26, 0.27, 0.28, 0.3, 0.32, 0.34, 0.37, 0.4, 0.44, 0.5)
#: Few confusion tokens, always as many: here the margin is about alpha_*.
FEW, FEW_CONFUSION = (0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.44, 0.56), 0.02


def trained(data, trial, N, *, rate, steps, variant="trained", neurons=NEURONS, width=1, **start):
    """One run of Algorithm 1 on N drawn inputs, half of each label, in float32, and its test inputs."""
    weights = initial_weights(data, [trial], num_neurons=neurons, dtype=torch.float32, **start)
    inputs = data.balanced(N, seed=trial, dtype=torch.float32)
    test = data.sample(TEST_INPUTS, seed=TEST + trial, dtype=torch.float32)
    if width > 1:
        weights, inputs, test = _widened(weights, width), *(with_neighbors(t, width) for t in (inputs, test))
    run = train(inputs, weights, steps=steps, rate=rate, batch=BATCH, variant=variant, seed=trial, test=test)
    return run, test


def _widened(weights, width):
    """A kernel of ``width`` tokens: the start's W_V for each of them, of the same total norm."""
    wide = weights.value.repeat(1, 1, width) / width**0.5
    zeros = torch.zeros_like(wide[:, : weights.key.shape[-2]])
    return type(weights)(weights.head, weights.output, wide, zeros, zeros)


def samples_cell(head: str, relevant: float, N: int, rate: float, steps: int) -> dict:
    """Figure 1(a): the test loss of every trial, when it fitted, and its attention mass."""
    data = PatternData(100, relevant, round(0.5 - relevant, 2))
    runs = [trained(data, trial, N, rate=rate, steps=steps, head=head)[0] for trial in range(TRIALS)]
    return _ends(runs)


def _ends(runs) -> dict:
    return {
        "risk": rounded([run.risk[-1, 0] for run in runs], 4),
        "train_loss": rounded([run.loss[-1, 0] for run in runs], 4),
        "fitted_at": [int(run.fitted_at[0]) for run in runs],
        "mass": rounded([run.mass[-1, 0] for run in runs], 4),
    }


SAMPLES = Sweep(
    name="shallow-samples",
    summary="Figure 1(a) at full size: success over alpha_* and N, one a for all positions, small steps.",
    minutes=60,
    cells=tuple(
        dict(head="shared", relevant=a, N=N, rate=0.1, steps=6000)
        for a in HALF
        for N in (2, 4, 6, 8, 12, 16, 24, 32, 48, 64)
    ),
    run=samples_cell,
    config=dict(num_tokens=100, discriminative=0.5, num_neurons=NEURONS, batch=BATCH, trials=TRIALS),
)

SWEEPS = (SAMPLES,)
