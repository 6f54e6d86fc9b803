"""The sweep of token sparsification (Figures 5 and 8): what the test loss gains when tokens are removed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch

from patch_association.shallow import PatternData, Sgd, Tokens, initial_weights, train
from patch_association.shallow.tokens import alike
from patch_lab.kit.records import rounded, sample_source
from patch_lab.kit.seeds import TEST
from patch_lab.kit.sweeps.sweep import Sweep, grid
from patch_lab.shallow_vit.sparsify import keep_attended, remove
from patch_lab.shallow_vit.sweeps.shallow_vit import BATCH, FEWER_NEURONS, FEWER_TESTS, TRIALS, ends

INPUTS = 200
RATE = 0.1
NOISY_STD = 0.4
STEPS = (0, 25, 50, 75, 100, 150, 200, 300, 400, 600, 800)
#: What the kind of a cell may remove at most, of 50 tokens: 35 are irrelevant, 25 noisy where any are.
AT_MOST = {"irrelevant": 35, "noisy": 25, "random": 50}


def removal_cell(num_patterns: int, noisy: str, kind: str, share: float) -> dict:
    """Figures 5 and 8: the test loss over training when tokens of a kind are removed everywhere.

    ``noisy``: "none"; "half" of the tokens of each input, drawn at random, have a larger noise; or "half of
    each pattern". ``share`` is that of all irrelevant tokens or, with noisy ones, of those; other kinds
    remove as many of whatever they choose. "attended at the start" and "attended when trained" keep the
    tokens to which the start, or a network trained on all tokens, attends most.
    """
    dim = 10 if num_patterns == 5 else 20
    extra: dict[str, Any] = dict(noisy_share=0.5, noisy_std=NOISY_STD) if noisy == "half" else {}
    data = PatternData(50, 0.3, 0.1, num_patterns=num_patterns, dim=dim, **extra)
    count = round(share * AT_MOST["irrelevant" if noisy == "none" else "noisy"])

    def start(trial):
        return initial_weights(data, [trial], num_neurons=FEWER_NEURONS).to(torch.float32)

    def inputs(trial):
        """Training and test inputs with all their tokens."""
        if noisy == "half of each pattern":
            drawn_twice = ((INPUTS, trial), (FEWER_TESTS, TEST + trial))
            return [_two_halves(n, seed, num_patterns, dim) for n, seed in drawn_twice]
        return [
            data.balanced(INPUTS, seed=trial, dtype=torch.float32),
            data.sample(FEWER_TESTS, seed=TEST + trial, dtype=torch.float32),
        ]

    @lru_cache(maxsize=1)
    def judge(trial):
        if kind == "attended at the start":
            return start(trial)
        return train(
            inputs(trial)[0], start(trial), steps=STEPS[-1], rate=RATE, how=Sgd(BATCH, trial)
        ).weights

    def removed(tokens, trial):
        if count == 0 or kind.startswith("attended"):
            return keep_attended(tokens, judge(trial), data.num_tokens - count) if count else tokens
        return remove(tokens, count / AT_MOST[kind], kind, seed=trial)

    runs = []
    for trial in range(TRIALS):
        seen, test = (removed(tokens, trial) for tokens in inputs(trial))
        how: dict[str, Any] = dict(steps=STEPS[-1], record=STEPS, rate=RATE, how=Sgd(BATCH, trial))
        runs.append(train(seen, start(trial), test=test, **how))
    curves = [[float(run.risk[run.steps <= t][-1, 0]) for t in STEPS] for run in runs]
    return {**ends(runs), "steps": list(STEPS), "risks": rounded(curves, 4)}


def _two_halves(n: int, seed: int, num_patterns: int = 5, dim: int = 10) -> Tokens:
    """n inputs of 25 tokens with little noise and 25 with much: all patterns have equal shares in both."""
    halves = [
        PatternData(25, 0.32, 0.08, num_patterns=num_patterns, dim=dim, noise=noise).balanced(n, 2 * seed + k)
        for k, noise in enumerate((0.01, (0.01**2 + NOISY_STD**2) ** 0.5))
    ]
    assert torch.equal(halves[0].y, halves[1].y), "balanced inputs alternate between the labels"
    X, pattern = (torch.cat([getattr(half, name) for half in halves], dim=1) for name in ("X", "pattern"))
    noisy = torch.zeros_like(pattern, dtype=torch.bool)
    noisy[:, 25:] = True
    return alike(X, halves[0].y, pattern, noisy).to(torch.float32)


_CONFIG = dict(
    num_tokens=50, relevant=0.3, confusion=0.1, N=INPUTS, rate=RATE, batch=BATCH,
    num_neurons=FEWER_NEURONS, noisy_std=NOISY_STD, trials=TRIALS, test_inputs=FEWER_TESTS,
)  # fmt: skip

SWEEPS = (
    Sweep(
        name="shallow-removal",
        summary="Figures 5, 8: test loss when irrelevant, noisy, random or unattended tokens go.",
        cells=(
            *grid(num_patterns=5, noisy="none", kind="irrelevant", share=(0.0, 0.25, 0.5, 0.75)),
            *grid(
                num_patterns=5,
                noisy="none",
                kind=("random", "attended at the start", "attended when trained"),
                share=(0.25, 0.5, 0.75),
            ),
            *grid(num_patterns=5, noisy="half of each pattern", kind="noisy", share=(0.0, 1.0)),
            *grid(num_patterns=5, noisy="half of each pattern", kind="random", share=1.0),
            *grid(num_patterns=5, noisy="half", kind="noisy", share=(0.0, 1.0)),
            *grid(num_patterns=5, noisy="half", kind="random", share=1.0),
            *grid(num_patterns=(10, 15, 20), noisy="none", kind="irrelevant", share=(0.0, 0.25, 0.5, 0.75)),
        ),
        run=removal_cell,
        data=lambda: sample_source(PatternData(50, 0.3, 0.1), 0),
        config=_CONFIG,
    ),
    Sweep(
        name="shallow-removal-noisy",
        summary="Figure 8 for noisy tokens: test loss with and without them, M = 10, 15, 20.",
        cells=grid(num_patterns=(10, 15, 20), noisy="half of each pattern", kind="noisy", share=(0.0, 1.0)),
        run=removal_cell,
        data=lambda: sample_source(PatternData(50, 0.3, 0.1), 0),
        config=_CONFIG,
    ),
)
