"""The study on CIFAR-10 made small, for the tests of its sweeps."""

import pytest
from training import toy_set

from patch_lab.images.sweeps import study, study_larger


@pytest.fixture
def small_study(tmp_path, monkeypatch):
    """Ninety-six made-up pictures of 32 pixels, three layers, two epochs of a CNN; the folder of runs."""
    for module, name in ((study, "pictures"), (study_larger, "tiny")):
        monkeypatch.setattr(module, name, lambda: toy_set(96, size=32))
    monkeypatch.setattr(study, "COMMON", study.COMMON | dict(val_size=32))
    monkeypatch.setattr(study, "VIT", study.VIT | dict(batch_size=16, depth=3))
    monkeypatch.setattr(
        study_larger, "CNN", study_larger.CNN | dict(batch_size=16, epochs=2, warmup_epochs=1.0)
    )
    monkeypatch.setattr(study, "_WATCHED", 8)
    monkeypatch.setattr(study, "FOLDER", tmp_path / "study")
    return tmp_path / "study"
