"""The sweeps of the second theory (part ``shallow_vit``): what samples, noise, starts and attention change.

A trial draws its own start, training inputs, batches and test inputs; the same number means the same draws
in every cell. Sampled runs are in float32; populations are exact and in float64.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from patch_association.shallow import (
    PatternData,
    Sgd,
    initial_weights,
    output,
    population,
    stack,
    train,
)
from patch_association.shallow.training import VARIANTS
from patch_lab.kit.records import rounded, sample_source
from patch_lab.kit.seeds import TEST
from patch_lab.kit.sweeps.sweep import Sweep, grid
from patch_lab.shallow_vit.assumption import check_assumption, cut
from patch_lab.shallow_vit.robustness import noise_gain, with_neighbors

TRIALS = 20
TEST_INPUTS = 400
BATCH = 20
NEURONS = 1000
#: Of the success diagrams, which are many runs: test inputs, and inputs a step.
FEWER_TESTS = 200
SMALLER_BATCH = 10
#: Of everything but the paper's own size: neurons. The dynamics hardly depend on their number.
FEWER_NEURONS = 200
#: Figure 1(a): half of all tokens discriminative, so that the margin is s = 2 alpha_* - 0.5.
HALF = (0.26, 0.27, 0.28, 0.3, 0.32, 0.34, 0.37, 0.4, 0.44, 0.5)
#: Two in a hundred tokens are confusion tokens, always: here the margin is about alpha_*.
FEW = (0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.44, 0.56)
FEW_CONFUSION = 0.02

#: Few enough tokens for an exact population over all counts.
EVERY_COUNT = PatternData(20, 0.4, 0.15, num_patterns=3, dim=3, noise=0.0, counts="multinomial")


def designed(design: str, relevant: float, num_tokens: int = 100, **options) -> PatternData:
    """The law of a design: "half" (alpha_# = 0.5 - alpha_*) or "few" (alpha_# = 0.02)."""
    confusion = FEW_CONFUSION if design == "few" else round(0.5 - relevant, 2)
    return PatternData(num_tokens, relevant, confusion, **options)


def train_once(
    data,
    trial: int,
    N: int,
    *,
    variant="trained",
    neurons=NEURONS,
    tests=TEST_INPUTS,
    batch=BATCH,
    prepare=None,
    **how,
):
    """One run of Algorithm 1 on N drawn inputs, half of each label, measured on drawn test inputs."""
    start = {key: how.pop(key) for key in ("head", "value_error", "score_error", "longest") if key in how}
    weights = _start(data, [trial], num_neurons=neurons, **start).to(torch.float32)
    sets = [
        data.balanced(N, seed=trial, dtype=torch.float32),
        data.sample(tests, seed=TEST + trial, dtype=torch.float32),
    ]
    if prepare is not None:
        sets = [prepare(tokens, trial) for tokens in sets]
    if variant == "convolution":
        weights = _with_kernel(weights, 3)
        variant = "identity"
        sets = [with_neighbors(tokens, 3) for tokens in sets]
    return train(sets[0], weights, variant=variant, test=sets[1], how=Sgd(batch, trial), **how)


def _start(data, seeds, longest: float | None = None, **start):
    weights = initial_weights(data, seeds, **start)
    return weights if longest is None else cut(weights, longest)


def _with_kernel(weights, width):
    """A kernel of ``width`` tokens with the start's W_V for each, over sqrt(width): the norm stays."""
    wide = weights.value.repeat(1, 1, width) / width**0.5
    unused = torch.zeros_like(wide[:, : weights.key.shape[-2]])
    return type(weights)(weights.head, weights.output, wide, unused, unused)


def ends(runs) -> dict:
    """What is kept of each trial."""
    kept = {name: [getattr(run, name)[-1, 0] for run in runs] for name in ("risk", "loss", "mass")}
    return {**rounded(kept, 4), "fitted_at": [int(run.fitted_at[0]) for run in runs]}


def samples_cell(
    head: str, relevant: float, N: int, rate: float, steps: int, neurons: int, trials: int = TRIALS
) -> dict:
    """Figure 1(a): test loss, training loss and attention mass of every trial, and when it fitted."""
    data = designed("half", relevant)
    how: dict[str, Any] = dict(rate=rate, steps=steps, head=head, neurons=neurons)
    how |= dict(tests=FEWER_TESTS, batch=SMALLER_BATCH)
    return ends([train_once(data, k, N, **how) for k in range(trials)])


def start_cell(longest: float | None, value_error: float, score_error: float, N: int) -> dict:
    """Figure 1(b): the same over the errors of the start, the exact population beside it.

    ``longest`` is 1, which keeps the norms of Assumption 1, or None. ``sigma``, ``delta`` and ``norm`` are
    what Assumption 1 measures of each start, ``noise`` the first-order standard deviation of F over F at the
    fit of the population, in units of c_0.
    """
    data = PatternData(50, 0.3, 0.2)
    errors: dict[str, Any] = dict(value_error=value_error, score_error=score_error, longest=longest)
    how: dict[str, Any] = dict(rate=0.3, steps=3000, neurons=FEWER_NEURONS, tests=FEWER_TESTS, **errors)
    sampled = ends([train_once(data, k, N, **how) for k in range(TRIALS)])
    law = population(data)
    weights = _start(data, range(TRIALS), num_neurons=FEWER_NEURONS, **errors)
    assumption = check_assumption(weights, data)
    exact = train(law, weights, rate=0.1, steps=20_000)
    noise = noise_gain(exact.weights, law, 50) / output(exact.weights, law).abs()
    start = rounded({"sigma": assumption.sigma, "delta": assumption.delta, "norm": assumption.norm}, 4)
    noisy = {"population_at": exact.fitted_at.tolist(), "noise": rounded(noise.mean(-1))}
    return {**sampled, **start, **noisy}


def times_cell(design: str, relevant: float, variant: str) -> dict:
    """Figure 2: when descent on the exact population reaches a hinge of zero, and the mass it leaves."""
    data = designed(design, relevant)
    weights = initial_weights(data, range(TRIALS), num_neurons=NEURONS)
    run = train(population(data), weights, rate=0.1, steps=100_000, variant=variant)
    return {"fitted_at": run.fitted_at.tolist(), "mass": rounded(run.mass[-1].tolist(), 5)}


def attention_cell(num_patterns: int, head: str, counts: str) -> dict:
    """Figures 4 and 7: the attention mass over training, N = 200, the trials' mean and their ends."""
    dim = 10 if num_patterns == 5 else 20
    data = PatternData(100, 0.5, 0.05, num_patterns=num_patterns, dim=dim, counts=counts)
    steps = (0, 10, 20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 1000)
    how: dict[str, Any] = dict(
        rate=0.1 if head == "shared" else 1.0, steps=steps[-1], record=steps, head=head, tests=100
    )
    runs = [train_once(data, k, 200, **how) for k in range(TRIALS)]
    # A run that has fitted stands still: its last mass is its mass at all later steps.
    curves = [[float(run.mass[run.steps <= t][-1, 0]) for t in steps] for run in runs]
    mean = [sum(column) / len(runs) for column in zip(*curves)]
    return {**ends(runs), "steps": list(steps), "mean_mass": rounded(mean, 4)}


def variants_cell(
    head: str, relevant: float, variant: str, N: int, rate: float | None = None, steps: int | None = None
) -> dict:
    """Figure 3 and Proposition 1: the test loss of every variant over alpha_* and N, few confusion tokens.

    Without ``rate`` and ``steps`` those of the first record: 0.1 and 8,000 with one head, 3.0 and 1,500 with
    a head per position.
    """
    data = designed("few", relevant, num_tokens=50)
    if rate is None or steps is None:
        rate, steps = (0.1, 8000) if head == "shared" else (3.0, 1500)
    how: dict[str, Any] = dict(rate=rate, steps=steps, head=head, variant=variant, neurons=100)
    how |= dict(tests=FEWER_TESTS, batch=SMALLER_BATCH)
    return ends([train_once(data, k, N, **how) for k in range(TRIALS)])


def multinomial_cell(N: int) -> dict:
    """Multinomial counts: the exact population risk of networks trained on N inputs until they fit.

    Without noise an input is its fractions, so that all networks train at once on weighted patterns.
    """
    data = EVERY_COUNT
    sets = []
    law = population(data)
    for trial in range(TRIALS):
        inputs = data.balanced(N, seed=trial)
        share = torch.nn.functional.one_hot(inputs.pattern, 3).double().mean(dim=1)  # (N, 3)
        sets.append(
            replace(inputs, X=law.X.expand(N, -1, -1), share=share, pattern=law.pattern.expand(N, -1))
        )
    weights = initial_weights(data, range(TRIALS), num_neurons=100)
    run = train(stack(sets), weights, rate=0.3, steps=20_000, test=law, how=Sgd(BATCH))
    last = {name: getattr(run, name)[-1].tolist() for name in ("risk", "loss", "mass", "error")}
    return {**rounded(last, 4), "fitted_at": run.fitted_at.tolist()}


_SIZE = dict(num_neurons=NEURONS, batch=BATCH, trials=TRIALS, test_inputs=TEST_INPUTS)
_NARROW = dict(test_inputs=FEWER_TESTS, num_neurons=FEWER_NEURONS)
_COUNTS = (2, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_SMALLER = dict(batch=SMALLER_BATCH, test_inputs=FEWER_TESTS)
#: What a head per position is trained with beside rate 3.0 and 1,500 steps; rate times steps stays.
_SLOWER = ((1.0, 4500), (0.3, 15_000))
#: The same for one head, beside rate 0.1 and 8,000 steps.
_SHARED_RATES = ((0.3, 2667), (0.03, 26_667))
_NETWORKS = (*VARIANTS, "convolution")
_VARIANTS = (
    *grid(head="shared", relevant=(0.08, 0.16, 0.32), variant=_NETWORKS, N=(2, 8, 32)),
    *grid(head="per position", relevant=(0.08, 0.32), variant=_NETWORKS, N=(8, 32, 128)),
)
#: How the five networks are trained, at whatever rates.
_VARIANTS_ARE: dict = dict(
    run=variants_cell,
    data=lambda: sample_source(designed("few", 0.32, num_tokens=50), 0),
    config={"num_tokens": 50, "confusion": FEW_CONFUSION, **_SIZE, **_SMALLER, "num_neurons": 100},
)


def _samples_sweep(name: str, summary: str, cells) -> Sweep:
    """Success over the fraction and the number of inputs, with one head or a head per position."""
    return Sweep(
        name=name,
        summary=f"Figure 1(a) {summary}.",
        cells=cells,
        run=samples_cell,
        data=lambda: sample_source(designed("few", 0.32), 0),
        config={"num_tokens": 100, "discriminative": 0.5, **_SIZE, **_SMALLER},
    )


def _positions_at_other_rates() -> tuple[dict, ...]:
    cells = []
    for rate, steps in _SLOWER:
        for cell in grid(head="per position", relevant=(0.28, 0.32), N=(8, 32, 128)):
            cells.append({**cell, "rate": rate, "steps": steps, "neurons": FEWER_NEURONS, "trials": 10})
    return tuple(cells)


def _variants_at_other_rates() -> tuple[dict, ...]:
    """The middle rate for all; the smallest with one head, and with a head per position where it is needed.

    There a run takes longest: it is tried at the most inputs alone.
    """
    cells = []
    for speed in (0, 1):
        for cell in _VARIANTS:
            shared = cell["head"] == "shared"
            needed = cell["N"] == 128 and cell["variant"] != "identity"
            if speed == 0 or shared or needed:
                rate, steps = _SHARED_RATES[speed] if shared else _SLOWER[speed]
                cells.append({**cell, "rate": rate, "steps": steps})
    return tuple(cells)


SWEEPS = (
    _samples_sweep(
        "shallow-samples",
        "at full size: success over alpha_* and N, one a for all positions",
        grid(head="shared", relevant=HALF, N=_COUNTS, rate=0.3, steps=3000, neurons=NEURONS),
    ),
    _samples_sweep(
        "shallow-positions",
        "with an a of its own for every position, at a smaller size",
        grid(
            head="per position",
            relevant=(0.28, 0.32, 0.4, 0.5),
            N=(8, 32, 128, 512),
            rate=3.0,
            steps=1500,
            neurons=FEWER_NEURONS,
        ),
    ),
    _samples_sweep(
        "shallow-positions-rates",
        "with an a of its own for every position, small alpha_*, at smaller rates",
        _positions_at_other_rates(),
    ),
    Sweep(
        name="shallow-start",
        summary="Figure 1(b): success and time to fit over the errors sigma and delta of the start.",
        cells=(
            *grid(longest=1.0, value_error=(0.0, 0.1, 0.2, 0.4, 0.8), score_error=0.2, N=(2, 4, 8, 16, 32)),
            *grid(longest=1.0, value_error=0.1, score_error=(0.0, 0.1, 0.3, 0.45), N=8),
            *grid(longest=None, value_error=(0.2, 0.8), score_error=0.2, N=2),
        ),
        run=start_cell,
        data=lambda: sample_source(PatternData(50, 0.3, 0.2), 0),
        config=dict(num_tokens=50, relevant=0.3, confusion=0.2, **(_SIZE | _NARROW)),
    ),
    Sweep(
        name="shallow-times",
        summary="Figure 2 on the exact population: steps to a hinge of zero, two designs, four attentions.",
        cells=(
            *grid(design="half", relevant=HALF, variant=tuple(VARIANTS)),
            *grid(design="few", relevant=FEW, variant=tuple(VARIANTS)),
        ),
        run=times_cell,
        config=dict(rate=0.1, few_confusion=FEW_CONFUSION, num_neurons=NEURONS, trials=TRIALS),
    ),
    Sweep(
        name="shallow-attention",
        summary="Figures 4 and 7: attention to label-relevant tokens over training, M = 5 to 20.",
        cells=grid(num_patterns=(5, 10, 15, 20), head=("shared", "per position"), counts="fixed"),
        run=attention_cell,
        data=lambda: sample_source(PatternData(100, 0.5, 0.05), 0),
        config=dict(num_tokens=100, relevant=0.5, confusion=0.05, N=200, **_SIZE),
    ),
    Sweep(
        name="shallow-variants",
        summary="Figure 3 and Proposition 1: success of five networks over alpha_* and N, both heads.",
        cells=_VARIANTS,
        **_VARIANTS_ARE,
    ),
    Sweep(
        name="shallow-variants-rates",
        summary="The same five networks at other rates, both heads; rate times steps stays.",
        cells=_variants_at_other_rates(),
        **_VARIANTS_ARE,
    ),
    Sweep(
        name="shallow-multinomial",
        summary="The exact population risk after training on N inputs with multinomial counts.",
        cells=grid(N=(4, 8, 16, 32, 64, 128, 256, 512)),
        run=multinomial_cell,
        data=lambda: sample_source(EVERY_COUNT, 0),
        config=dict(
            num_tokens=20, relevant=0.4, confusion=0.15, num_patterns=3, num_neurons=100, trials=TRIALS
        ),
    ),
)
