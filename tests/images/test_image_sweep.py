"""The sweep on permuted CIFAR-10, and the record that ships."""

import json

import pytest
from training import toy_set

from patch_association.images.locality import locality, similarity
from patch_association.images.permutation import GridPermutation
from patch_lab.records import decode, load
from patch_lab.sweeps import images, registry


def test_the_sweep_is_registered_with_every_cell():
    sweep = registry()["cifar10_permuted"]
    cells = [tuple(cell.values()) for cell in sweep.cells]
    assert len(set(cells)) == len(cells) == 65
    assert {tile for model, tile, _ in cells if model == "small_cnn"} == {2, 4, 8, 16, 32}
    # A ViT is shown with the tiles that it can follow, and with one that cuts its patches.
    assert {tile for model, tile, _ in cells if model == "positional"} == {2, 4, 8, 32}


@pytest.mark.parametrize("model", ["positional", "vanilla", "small_cnn"])
def test_a_cell(model, monkeypatch):
    """On small made-up pictures: the keys, what depends on the tile, and that JSON holds it."""
    data = toy_set(200, size=32)
    monkeypatch.setattr(images, "_data", lambda: data)
    monkeypatch.setattr(images, "_COMMON", images._COMMON | dict(val_size=40, epochs=1, batch_size=40))
    found = images.permuted_cifar10(model, tile=4, seed=0)
    assert json.loads(json.dumps(found)) == found and found["test_n"] == 200
    if model == "small_cnn":
        assert "locality" not in found
        return
    assert set(found["locality"]) == set(found["attention"]) == {"as_seen", "undone"}
    assert decode(found["positions"]).shape == (64, 64)
    cut = images.permuted_cifar10(model, tile=2, seed=1)
    assert set(cut["locality"]) == {"as_seen"} and "positions" not in cut


def test_the_record_that_ships():
    """Every cell of the sweep, its settings, and numbers that follow from the P that it holds."""
    record, sweep = load("cifar10_permuted"), registry()["cifar10_permuted"]
    assert record.config == json.loads(json.dumps(dict(sweep.config)))
    assert [{key: row[key] for key in ("model", "tile", "seed")} for row in record.results] == list(
        sweep.cells
    )
    held = [row for row in record.results if "positions" in row]
    assert len(held) == 8
    for row in held:
        P = decode(row["positions"])
        A = similarity(P, centered=True, cosine=True)
        # Half precision keeps three digits of P; a rank may change here and there.
        assert locality(A, 8).correlation == pytest.approx(
            row["locality"]["as_seen"]["correlation"], abs=2e-3
        )
        assert locality(A, 8).recall == pytest.approx(row["locality"]["as_seen"]["recall"], abs=1e-2)
        if row["tile"] != 2:
            undone = GridPermutation(32, row["tile"]).undo(A, 4)
            assert locality(undone, 8).recall == pytest.approx(row["locality"]["undone"]["recall"], abs=1e-2)
