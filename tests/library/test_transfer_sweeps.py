"""The sweeps of the part on transfer: deterministic cells, resumption, and records that fit their code."""

import json

import numpy as np
import pytest

from patch_lab.sweeps import registry, transfer_cells

SMALL = {
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


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_a_cell_gives_the_same_result_twice_and_has_the_real_cells_keys(name, monkeypatch):
    monkeypatch.setattr(transfer_cells, "SCRATCH_STEPS", 20)
    monkeypatch.setattr(transfer_cells, "pretraining_samples", lambda num_patches: 100)
    monkeypatch.setattr(transfer_cells, "STEPS", 20)
    sweep = registry()[name]
    assert set(SMALL[name]) == set(sweep.cells[0])
    first, again = sweep.run(**SMALL[name]), sweep.run(**SMALL[name])
    assert json.dumps(first, allow_nan=False) == json.dumps(again, allow_nan=False)
    errors = np.array(first["errors"])
    assert errors.shape[0] == 2 and ((errors >= 0) & (errors <= 1)).all()
