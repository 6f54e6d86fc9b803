"""Cells that take minutes, made small: the stored numbers again, in the form of the record that ships."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from patch_association.shallow import train
from patch_lab.beyond import follow_bench
from patch_lab.beyond.sweeps import deeper, two_theories
from patch_lab.dynamics.sweeps import lifetime, reach, transience
from patch_lab.kit import records
from patch_lab.kit.records.codec import decode, is_encoded
from patch_lab.kit.records.table import flattened
from patch_lab.kit.sweeps import registry
from patch_lab.kit.sweeps.outcomes import run_cell
from patch_lab.shallow_vit.sweeps import shallow_removal, shallow_vit
from patch_lab.transfer.sweeps import transfer_cells

_DEEPER = dict(SEEDS=2, N_TEST=50, N_PROBE=2, N_MEAN=5, OTHERS=2, N_OTHER=20)
_TRIALS = dict(TRIALS=2, FEWER_NEURONS=12, FEWER_TESTS=10, NEURONS=12, TEST_INPUTS=10)
_REMOVAL = dict(TRIALS=2, FEWER_NEURONS=12, FEWER_TESTS=10, INPUTS=20, STEPS=(0, 5, 10))

TRANSFER = {
    "transfer-fixed-attention": dict(num_patches=16, dim=8, attention="hard", sizes=[1, 3], seeds=2),
    "transfer-dilution": dict(
        num_patches=16, dim=8, attention="gamma = 4", sizes=[1, 3], seeds=2, linear=0.02
    ),
    "transfer-pretrained": dict(num_patches=16, dim=8, sizes=[1, 3], seeds=2, pretraining=5, steps=20),
    "transfer-uninformed": dict(num_patches=16, dim=8, attention="wrong sets", sizes=[1, 3], seeds=2),
    "transfer-discovery": dict(num_patches=32, dim=8, learner="likelihood", samples=24, seeds=2),
    "transfer-logistic": dict(num_patches=16, dim=4, samples=20, seeds=2),
    "transfer-scratch": dict(num_patches=64, dim=8, samples=6, first_seed=0, seeds=2),
    "transfer-scratch-large": dict(num_patches=256, dim=4, samples=6, first_seed=0, seeds=2),
    "transfer-scratch-tuning": dict(
        num_patches=16, dim=8, samples=20, first_seed=1000, seeds=2, diagonal=2.0, ratio=30.0, validation=True
    ),
    "transfer-scratch-large-tuning": dict(
        num_patches=16, dim=8, samples=20, first_seed=1000, seeds=2, diagonal=2.0, ratio=30.0, validation=True
    ),
    "transfer-mismatch": dict(num_patches=32, dim=8, fraction=0.5, sizes=[2, 4], seeds=2),
    "transfer-heads": dict(num_patches=32, dim=8, features=2, heads=2, sizes=[2, 4], seeds=2),
}
_SHORTER = dict(SCRATCH_STEPS=20, STEPS=20, pretraining_samples=lambda num_patches: 100)

#: What each of these cells gave when its numbers were last stored.
STORED = Path(__file__).with_name("small_cells.json")

#: Of each sweep a cell, and what of its module is made smaller.
SMALL = {
    "shallow-samples": (
        shallow_vit, _TRIALS, dict(head="shared", relevant=0.4, N=8, rate=0.1, steps=15, neurons=12),
    ),
    "shallow-start": (
        shallow_vit, _TRIALS, dict(longest=1.0, value_error=0.1, score_error=0.1, N=8),
    ),
    "shallow-times": (shallow_vit, _TRIALS, dict(design="half", relevant=0.5, variant="trained")),
    "shallow-attention": (
        shallow_vit, _TRIALS | {"TRIALS": 1}, dict(num_patterns=5, head="shared", counts="fixed"),
    ),
    "shallow-variants": (
        shallow_vit, _TRIALS, dict(head="shared", relevant=0.32, variant="convolution", N=8),
    ),
    "shallow-removal": (
        shallow_removal,
        _REMOVAL,
        dict(num_patterns=5, noisy="half of each pattern", kind="noisy", share=1.0),
    ),
    "two-theories": (two_theories, dict(SEEDS=2), dict(law="crossed", kind="both", steps=12, batch=8)),
    "deeper-simple": (deeper, _DEEPER, dict(name="A = P Pᵀ", steps=5, batch=8)),
    "deeper-parts": (deeper, _DEEPER, dict(name="2 layers", steps=5, batch=8)),
    "deeper-population": (
        deeper, dict(ROWS_SEEDS=2), dict(start=0.1, q=0.3, diagonal=1.0, steps=6, points=3),
    ),
    "deeper-gram": (deeper, _DEEPER, dict(name="$q$ = 0.05", rate=0.01, q=0.5, steps=5, batch=8)),
    "deeper-range": (deeper, _DEEPER, dict(name="(T)", q=0.1, steps=5, batch=8)),
    "lifetime": (lifetime, dict(STEPS=(20, 40), COUNTS=(500, 16_000), DRAWS=3), dict(q=0.2)),
    "reach": (reach, dict(LONGER=0.1, RECORDS=4), dict(setting="D16", n=50, seed=420)),
    "transience": (
        transience,
        dict(SEEDS=(400, 401), SETTING=transience.SETTING | dict(steps=20, every=10)),
        dict(q=0.2, n=50),
    ),
    **{name: (transfer_cells, _SHORTER, cell) for name, cell in TRANSFER.items()},
}  # fmt: skip


def smaller(monkeypatch, module, constants):
    for name, value in constants.items():
        monkeypatch.setattr(module, name, value)
    if module is two_theories:
        monkeypatch.setattr(module, "follow_bench", lambda *a, **k: follow_bench(*a, **k | {"n_test": 100}))
    if module is shallow_vit:  # its lengths stand in its functions
        monkeypatch.setattr(module, "train", lambda *a, steps, **k: train(*a, steps=min(steps, 1000), **k))


def form(value):
    """Names and kinds, without numbers and lengths."""
    if isinstance(value, dict):
        return {key: form(each) for key, each in value.items()}
    if isinstance(value, list):
        return [form(value[0])] if value else []
    return type(value).__name__ if isinstance(value, str) else "number"


def numbers(result) -> dict[str, list]:
    """Of each array of a cell its shape, its missing values, and three sums that see values and order."""
    described = {}
    for key, value in flattened(result).items():
        if isinstance(value, str) and not is_encoded(value):
            described[key] = value
            continue
        array = decode(value) if isinstance(value, str) else np.array(value, dtype=np.float64)
        flat = np.nan_to_num(array).ravel()
        order = np.linspace(1, 2, flat.size)
        sums = [flat.sum(), (flat**2).sum(), (order * flat).sum()]
        described[key] = [list(array.shape), int(np.isnan(array).sum()), *(float(f"{x:.5g}") for x in sums)]
    return described


def run_small(name, monkeypatch):
    module, constants, cell = SMALL[name]
    smaller(monkeypatch, module, constants)
    return json.loads(json.dumps(run_cell(registry()[name].run, cell), allow_nan=False))


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_a_small_cell_comes_out_again_in_the_form_of_the_record(name, monkeypatch):
    """Against the stored numbers, which ``python tests/library/test_small_cells.py`` writes anew."""
    cell = SMALL[name][2]
    assert cell.keys() == registry()[name].cells[0].keys()
    result = run_small(name, monkeypatch)
    stored = json.loads(STORED.read_text(encoding="utf-8"))[name]
    fresh = numbers(result)
    assert fresh.keys() == stored.keys()
    for key, value in fresh.items():
        if isinstance(value, str):
            assert value == stored[key], key
        else:
            assert value[:2] == stored[key][:2], key
            assert value[2:] == pytest.approx(stored[key][2:], rel=1e-3, abs=1e-4), key
    if name in TRANSFER:  # their tuning has no record
        errors = np.array(result["errors"])
        assert errors.shape[0] == 2 and ((errors >= 0) & (errors <= 1)).all()
        return
    recorded = [row for row in records.load(name) if all(row[k] == v for k, v in cell.items() if k in _SAME)]
    expected = {key: value for key, value in recorded[0].items() if key not in cell}
    if name == "lifetime":
        expected |= {key: {n: expected[key][n] for n in ("500", "16000")} for key in ("share", "margin")}
    assert form(result) == form(expected)


#: Settings that decide which columns a cell has.
_SAME = {"law", "kind", "name", "longest", "noisy"}


if __name__ == "__main__":  # what stands in the file is what the cells give today
    found = {}
    for name in SMALL:
        with pytest.MonkeyPatch.context() as patch:
            found[name] = numbers(run_small(name, patch))
    lines = (f"{json.dumps(name)}: {json.dumps(found[name])}" for name in SMALL)
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
