"""Every pair that is timed computes the same on both sides; a wrong side is noticed before the clock runs.

No bound on the ratios: how fast a shared machine is today is no property of the code.
"""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SMALL = {
    "dynamics": lambda bench: [
        bench.gradients_against_autograd(16, 60, "(S X) v", 1e10),
        bench.gradients_against_autograd(16, 60, "S (X v)", 1e10),
        bench.exact_gradient_against_monte_carlo(16, 0.3, n=2000),
        bench.exact_gradient_against_autograd(),
    ],
    "setting": lambda bench: [*bench.bench_linear_error(), *bench.bench_simplified_vit()],
    "transfer": lambda bench: [
        *bench.bench_batched_seeds(),
        *bench.bench_block_attention(),
        *bench.bench_exact_error(),
    ],
    "shallow_vit": lambda bench: [
        *bench.bench_gradient_of_model_1(),
        *bench.bench_trials_in_a_batch(),
        *bench.bench_exact_population(),
    ],
    "images": lambda bench: [
        *bench.bench_positional_attention(),
        *bench.bench_layer_against_other_libraries(),
    ],
}


@pytest.fixture
def bench(monkeypatch):
    """Import a module of ``benchmarks/``; those for pictures with the smallest sizes that they know."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    before = set(sys.modules)

    def of(name):
        module = importlib.import_module(name)
        assert Path(module.__file__).parent == ROOT / "benchmarks"
        if name == "images":
            monkeypatch.setattr(module, "_CASES", ((8, 16, 2),))
            monkeypatch.setattr(module, "CPU", replace(module.CPU, batches={16: 2}))
        return module

    yield of
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == ROOT / "benchmarks":
            del sys.modules[name]


def twice(result):
    """The same numbers, all wrong."""
    return [twice(part) for part in result] if isinstance(result, (tuple, list)) else 2 * result


@pytest.mark.parametrize("name", SMALL)
def test_both_sides_agree_and_a_wrong_side_is_noticed(name, bench, monkeypatch):
    module, timing = bench(name), importlib.import_module("timing")

    def compare(name, ours, theirs, against, same, rounds=9):
        a, b = ours(), theirs()
        same(a, b)
        for pair in ((twice(a), b), (a, twice(b))):
            with pytest.raises(timing.Differs):
                same(*pair)
        return dict.fromkeys(("ratio", "low", "high", "ours_s", "theirs_s"), 1.0) | {"name": name}

    monkeypatch.setattr(module, "compare", compare)
    with torch.random.fork_rng(devices=[]):
        rows = SMALL[name](module)
    assert len({row["name"] for row in rows}) > 1
