"""The benchmark of the dynamics runs, and both sides compute the same (asserted inside it)."""

import importlib
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


KEYS = {"name", "ours_s", "theirs_s", "theirs", "ratio", "low", "high", "rounds"}


def test_every_comparison_runs_and_reports(monkeypatch):
    """No bound on the ratios: how fast a shared machine is today is no property of the code."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    benchmarks = importlib.import_module("dynamics")
    assert Path(benchmarks.__file__).parent == BENCHMARKS
    rows = [
        benchmarks.gradients_against_autograd(16, 60, "(S X) v", 1e10, rounds=2),
        benchmarks.gradients_against_autograd(16, 60, "S (X v)", 1e10, rounds=2),
        benchmarks.single_against_double(16, 60, rounds=2),
        benchmarks.seeds_in_a_batch(16, 20, seeds=2, steps=2),
        benchmarks.exact_gradient_against_monte_carlo(16, 0.3, n=500, rounds=2),
        benchmarks.exact_gradient_against_autograd(rounds=2),
        benchmarks.fused_gradient(24, 0.2, rounds=2),
    ]
    for row in rows:
        assert set(row) - {"bandwidth_share"} == KEYS
        assert row["low"] <= row["ratio"] <= row["high"] and row["ours_s"] > 0 and row["theirs_s"] > 0
    del sys.modules["dynamics"], sys.modules["timing"]
