"""A hundred classes and the paper's ViT, on made-up pictures: what is trained, and how a step is timed."""

import json

import pytest
from training import toy_set

from patch_association.images.vit import ViTConfig
from patch_lab.images.training.config import TrainConfig
from patch_lab.sweeps import registry, study, study_larger


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Both sweeps on eighty made-up pictures of 32 pixels, with checkpoints in a folder of the test."""
    monkeypatch.setattr(study, "pictures", lambda: toy_set(80, size=32))
    monkeypatch.setattr(study_larger, "_tiny", lambda: toy_set(80, size=32))
    monkeypatch.setattr(study, "COMMON", study.COMMON | dict(val_size=16))
    monkeypatch.setattr(study, "VIT", study.VIT | dict(batch_size=16, depth=2))
    monkeypatch.setattr(study, "_WATCHED", 8)
    monkeypatch.setattr(study, "FOLDER", tmp_path / "study")
    few = dict(batch_size=8, depth=1, width=24, heads=2, mlp_width=24, epochs=1, warmup_epochs=0.1)
    monkeypatch.setattr(study_larger, "PAPER", study_larger.PAPER | few)
    return tmp_path


def test_the_cells():
    tiny = [dict(cell) for cell in registry()["tiny_imagenet_study"].cells]
    for one, other in zip(tiny[::2], tiny[1::2]):  # pairs, side by side
        assert one | {"model": "positional"} == other and one["model"] == "vanilla"
    assert {(c["epochs"], c["seed"]) for c in tiny} == {(e, k) for e in (10, 40) for k in (0, 1, 2)}
    paper = ViTConfig.named("small")
    config = TrainConfig(**study.COMMON | study_larger.PAPER)
    assert (paper.depth, paper.heads, paper.width, paper.mlp_width, paper.patch_size) == (7, 12, 384, 384, 4)
    assert config.vit == "small" and set(config.vit_changes()) == {"attention", "patch_size"}


def test_a_cell_of_a_hundred_classes(small, monkeypatch):
    asked, real = [], study.trained
    monkeypatch.setattr(study, "trained", lambda own, *rest: asked.append(own) or real(own, *rest))
    found = study_larger.tiny_cell("positional", epochs=1, seed=2)
    assert json.loads(json.dumps(found)) == found and "positions" not in found
    assert len(found["metrics"]) == 1 and found["test_n"] == 80
    usual = study.settings("positional", 1, 32, 2, 64)
    assert {key for key in usual if usual[key] != asked[0][key]} == {"dataset"}
    assert [path.name for path in (small / "tiny_imagenet_study").iterdir()] == ["positional-1-2"]
