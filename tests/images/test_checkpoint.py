"""Checkpoints: whole or absent, and the one before where a write fails."""

import os

import pytest
import torch

from patch_lab.images.training.checkpoint import load_checkpoint, save_checkpoint


def state(k):
    return {"k": k, "tensor": torch.arange(1000) + k, "list": [{"a": None, "b": 1.5}]}


def test_what_was_saved_is_loaded_and_a_failed_write_keeps_the_one_before(tmp_path, monkeypatch):
    assert load_checkpoint(tmp_path) is None
    save_checkpoint(tmp_path, state(1))
    save_checkpoint(tmp_path, state(2))

    def full(source, target):
        raise OSError(28, "no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space left; the one before is kept"):
        save_checkpoint(tmp_path, state(3))
    found = load_checkpoint(tmp_path)
    assert torch.equal(found["tensor"], torch.arange(1000) + 2) and found["list"] == state(2)["list"]
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint.pt"]


@pytest.mark.parametrize("damage", [lambda c: c[:-100], lambda c: b"", lambda c: b"PK\x03\x04 and more"])
def test_a_damaged_checkpoint_is_refused_by_name(tmp_path, damage):
    save_checkpoint(tmp_path, state(1))
    newest = tmp_path / "checkpoint.pt"
    newest.write_bytes(damage(newest.read_bytes()))
    with pytest.raises(ValueError, match="checkpoint.pt is damaged, or of another version of PyTorch"):
        load_checkpoint(tmp_path)
