"""The benchmark of the dynamics runs, agrees on both sides, and the hand gradient is worth having."""

import importlib.util
from pathlib import Path

import torch


def load():
    path = Path(__file__).parent.parent / "benchmarks" / "dynamics.py"
    spec = importlib.util.spec_from_file_location("benchmarks_dynamics", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_hand_gradients_beat_the_obvious_autograd_loop_tenfold():
    # Typically 80 times. One thread each: on a busy machine two wait for each other, and a test must not.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        row = load().gradients_against_autograd(64, 300, repeats=7)
    finally:
        torch.set_num_threads(threads)
    assert set(row) == {"name", "ours_s", "theirs_s", "theirs", "ratio"}
    assert row["ratio"] == row["theirs_s"] / row["ours_s"] > 10


def test_the_exact_step_beats_sampling():
    row = load().exact_risk_against_monte_carlo(16, 0.3, n=2000, repeats=5)
    assert set(row) == {"name", "ours_s", "theirs_s", "theirs", "ratio"}
    assert row["ratio"] > 100
