"""The command that trains: settings, presets, what a run shows, and going on with nothing but a folder."""

import json
from pathlib import Path

import numpy as np
import pytest

from patch_lab.cli import main
from patch_lab.images.data import load
from patch_lab.images.training.config import TrainConfig, with_settings
from patch_lab.images.training.run import begun

TINY = ["train_size=120", "test_size=40", "val_size=40", "batch_size=40"]
SMOKE = ["train", "--preset", "smoke", "--epochs", "2", "--set", *TINY]


@pytest.mark.parametrize(
    ("setting", "key", "value"),
    [
        ("lr=3e-4", "lr", 3e-4),
        ("seed=7", "seed", 7),
        ("compile=true", "compile", True),
        ("patch_size=2", "patch_size", 2),
        ("patch_size=none", "patch_size", None),
        ("attention=vanilla", "attention", "vanilla"),
        ("root=/a=b", "root", "/a=b"),
        ("shared_positions=False", "shared_positions", False),
    ],
)
def test_settings(setting, key, value):
    got = getattr(with_settings(TrainConfig(), [setting]), key)
    assert got == value and type(got) is type(value)


def test_what_a_word_may_mean():
    for word, meant in dict(rl="lr", learning_rate="lr", epoch="epochs", wd="weight_decay").items():
        said = rf"no setting '{word}' \(did you mean {meant}\?\); there are dataset"
        with pytest.raises(ValueError, match=said):
            with_settings(TrainConfig(), [f"{word}=1"])


def record(folder):
    return json.loads((Path(folder) / "record.json").read_text())


def test_the_command(tmp_path, capsys):
    words = [*SMOKE, "attention=vanilla", "--set", "seed=3"]
    assert main([*words, "--out", str(tmp_path)]) == 0
    out, found = capsys.readouterr().out, record(tmp_path)
    assert len(found["metrics"]) == 2 and found["name"] == "smoke" and "wall_s" in found["provenance"]
    assert (found["config"]["attention"], found["config"]["seed"]) == ("vanilla", 3)
    assert found["command"].startswith("patch-association train --preset smoke --out DIR")
    assert found["command"].endswith(f"{' '.join(TINY)} attention=vanilla seed=3")
    assert f"test accuracy {found['test']['accuracy']:.2%} of 40 pictures" in out
    assert "epoch 2/2: loss " in out and " images/s, about 0:00 left" in out
    assert main([*words, "--out", str(tmp_path), "--resume", "--quiet"]) == 0


def test_a_folder_is_enough_to_go_on(tmp_path, capsys):
    """Stopped by its minutes and resumed by its folder alone: the run that was never stopped."""
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert main([*SMOKE, "--quiet", "--out", str(whole)]) == 0
    assert main([*SMOKE, "--quiet", "--out", str(stopped), "--set", "minutes=1e-9"]) == 3
    assert "the time is up after 0 of 2 epochs, with a checkpoint: --resume goes" in capsys.readouterr().out
    assert main(["train", "--resume", str(stopped), "--set", "minutes=0", "--quiet"]) == 0
    one, other = record(whole), record(stopped)
    assert one["metrics"] == other["metrics"] and one["test"] == other["test"]
    assert other["name"] == "smoke" and other["command"] == one["command"] + " minutes=1e-9"
    for words, said in (
        (["--resume", str(whole), "--epochs", "3"], "epochs was 2 and is 3"),
        (["--resume", str(tmp_path)], "holds no training run: there is no checkpoint to go on from"),
        (["--resume", str(whole), "--preset", "smoke"], "leave --preset and --out away"),
        (["--preset", "smoke"], "needs --out DIR, and --preset NAME or --set KEY=VALUE; or, to go on"),
        (["--set", "lrr=3"], "did you mean lr"),  # a wrong word is told first
    ):
        assert main(["train", *words]) == 2 and said in capsys.readouterr().err


def test_settings_alone_are_a_run(tmp_path):
    words = [*TINY, "dataset=photographs", "vit=reader", "threads=1", "workers=0"]
    assert main(["train", "--out", str(tmp_path), "--quiet", "--epochs", "1", "--set", *words]) == 0
    assert record(tmp_path)["name"] == "train"


def test_fewer_epochs_than_a_presets_warm_up(tmp_path):
    """--epochs shortens the warm-up by the same factor; what is set by hand stays."""
    start = ["train", "--preset", "svhn", "--out", str(tmp_path), "--epochs", "1", "--quiet", "--set", *TINY]
    assert main([*start, "dataset=photographs", "augment=shift-flip", "vit=reader", "minutes=1e-9"]) == 3
    config, about = begun(tmp_path)
    assert config.epochs == 1 and config.warmup_epochs == pytest.approx(5 / 300) and about["name"] == "svhn"
    with pytest.raises(ValueError, match="got 5 of 1: set it as well .--epochs N alone shortens it"):
        with_settings(TrainConfig(), ["epochs=1"])


def test_a_packed_file_in_the_folder_is_read(tmp_path):
    content = np.zeros(0, np.uint8)
    np.savez(tmp_path / "cifar10_jpeg.npz", scan=content, length=content, label=content, n_train=0)
    with pytest.raises(ValueError, match="cifar10_jpeg.npz"):  # it is looked at, and is none
        load("cifar10", tmp_path)
    (tmp_path / "cifar10_more.npz").write_bytes(b"")
    with pytest.raises(ValueError, match="holds several packed files .cifar10_jpeg.npz, cifar10_more.npz."):
        load("cifar10", tmp_path)
