"""The benchmark of the dynamics runs, and both sides compute the same (asserted inside it)."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_every_comparison_runs_and_reports(monkeypatch):
    """No bound on the ratios: how fast a shared machine is today is no property of the code."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    benchmarks = importlib.import_module("dynamics")
    assert Path(benchmarks.__file__).parent == BENCHMARKS
    rows = [
        benchmarks.gradients_against_autograd(16, 60, repeats=1),
        benchmarks.gradients_against_autograd(16, 60, repeats=1, order="S (X v)"),
        benchmarks.exact_risk_against_monte_carlo(16, 0.3, n=500, repeats=1),
        benchmarks.fused_gradient(24, 0.2, repeats=1),
    ]
    for row in rows:
        assert set(row) == {"name", "ours_s", "theirs_s", "theirs", "ratio"}
        assert row["ratio"] == pytest.approx(row["ours_s"] / row["theirs_s"]) and row["ratio"] > 0
    del sys.modules["dynamics"], sys.modules["timing"]
