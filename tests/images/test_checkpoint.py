"""Checkpoints: whole or absent, the one before as a fallback, clear words when a disk is full."""

import os

import pytest
import torch

from patch_lab.images.training.checkpoint import CheckpointWarning, load_checkpoint, save_checkpoint


def state(k):
    return {"k": k, "tensor": torch.arange(1000) + k, "list": [{"a": None, "b": 1.5}]}


def test_what_was_saved_is_loaded(tmp_path):
    assert load_checkpoint(tmp_path) is None
    save_checkpoint(tmp_path, state(1))
    save_checkpoint(tmp_path, state(2))
    found = load_checkpoint(tmp_path)
    assert (
        found["k"] == 2
        and torch.equal(found["tensor"], torch.arange(1000) + 2)
        and found["list"] == state(2)["list"]
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["checkpoint.previous.pt", "checkpoint.pt"]


DAMAGES = {
    "truncated": lambda content: content[:-100],
    "empty": lambda content: b"",
    "only a header": lambda content: content.partition(b"\n")[0],
    "a flipped bit": lambda content: content[:-300] + bytes([content[-300] ^ 1]) + content[-299:],
    "another file": lambda content: b"PK\x03\x04 something else\n and more",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_checkpoint_gives_the_previous_one(tmp_path, damage):
    save_checkpoint(tmp_path, state(1))
    save_checkpoint(tmp_path, state(2))
    newest = tmp_path / "checkpoint.pt"
    newest.write_bytes(damage(newest.read_bytes()))
    with pytest.warns(CheckpointWarning, match=r"checkpoint.pt is .*; going on from checkpoint.previous.pt"):
        assert load_checkpoint(tmp_path)["k"] == 1
    # The damaged one never takes the place of the whole one.
    save_checkpoint(tmp_path, state(3))
    (tmp_path / "checkpoint.pt").unlink()
    assert load_checkpoint(tmp_path)["k"] == 1


def test_killed_between_the_two_renames(tmp_path, monkeypatch):
    """The newest was moved away and the next not yet put in its place."""
    save_checkpoint(tmp_path, state(1))
    real = os.replace

    def killed(source, target):
        if str(source).endswith(".coming"):
            raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(tmp_path, state(2))
    monkeypatch.undo()
    assert load_checkpoint(tmp_path)["k"] == 1
    save_checkpoint(tmp_path, state(3))
    assert load_checkpoint(tmp_path)["k"] == 3
