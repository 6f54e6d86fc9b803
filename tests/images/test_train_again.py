"""The command that trains: going on with nothing but a folder, fewer epochs, words that were nearly right."""

import json
from pathlib import Path

import numpy as np
import pytest

from patch_lab.cli import main
from patch_lab.images.data import load
from patch_lab.images.training.config import TrainConfig, with_settings

TINY = ["train_size=120", "test_size=40", "val_size=40", "batch_size=40"]


def record(folder):
    found = json.loads((Path(folder) / "record.json").read_text())
    return {key: found[key] for key in ("name", "command", "config", "metrics", "test", "finished")}


def test_a_folder_is_enough_to_go_on(tmp_path, capsys):
    """Stopped by its minutes and resumed by its folder alone: the run that was never stopped."""
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    start = ["train", "--preset", "smoke", "--epochs", "2", "--set", *TINY, "--quiet"]
    assert main([*start, "--out", str(whole)]) == 0
    assert main([*start, "--out", str(stopped), "--set", "minutes=1e-9"]) == 3
    assert not record(stopped)["finished"] if (stopped / "record.json").exists() else True
    assert main(["train", "--resume", str(stopped), "--set", "minutes=0", "--quiet"]) == 0
    one, other = record(whole), record(stopped)
    assert one["metrics"] == other["metrics"] and one["test"] == other["test"]
    assert other["name"] == "smoke" and other["command"] == one["command"] + " minutes=1e-9"
    assert main(["train", "--resume", str(whole), "--epochs", "3"]) == 2
    assert "epochs was 2 and is 3" in (said := capsys.readouterr().err) and "begins anew" in said
    for words, said in (
        (["--resume", str(tmp_path)], "holds no training run: there is no checkpoint to go on from"),
        (["--resume", str(whole), "--preset", "smoke"], "leave --preset and --out away"),
        (
            ["--preset", "smoke"],
            "needs --out DIR, and --preset NAME or --set KEY=VALUE; or, to go on with a run, --resume DIR",
        ),
    ):
        assert main(["train", *words]) == 2 and said in capsys.readouterr().err


def test_fewer_epochs_than_a_presets_warm_up(tmp_path):
    """--epochs shortens the warm-up by the same factor; what is set by hand stays."""
    start = ["train", "--preset", "svhn", "--out", str(tmp_path), "--epochs", "1", "--quiet", "--set", *TINY]
    small = ["dataset=photographs", "augment=shift-flip", "vit=reader", "minutes=1e-9"]
    assert main([*start, *small]) == 3
    from patch_lab.images.training.run import begun

    config, about = begun(tmp_path)
    assert config.epochs == 1 and config.warmup_epochs == pytest.approx(5 / 300) and about["name"] == "svhn"
    with pytest.raises(ValueError, match="got 5 of 1: set it as well .--epochs N alone shortens it"):
        with_settings(TrainConfig(), ["epochs=1"])


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("rl", "lr"),
        ("learning_rate", "lr"),
        ("epoch", "epochs"),
        ("wd", "weight_decay"),
        ("batch", "batch_size"),
    ],
)
def test_what_a_word_may_mean(word, meant):
    with pytest.raises(
        ValueError, match=rf"no setting '{word}' \(did you mean {meant}\?\); there are dataset"
    ):
        with_settings(TrainConfig(), [f"{word}=1"])


def test_a_packed_file_in_the_folder_is_read(tmp_path):
    content = np.zeros(0, np.uint8)
    np.savez(tmp_path / "cifar10_jpeg.npz", scan=content, length=content, label=content, n_train=0)
    with pytest.raises(ValueError, match="cifar10_jpeg.npz"):  # it is looked at, and is none
        load("cifar10", tmp_path)
    (tmp_path / "cifar10_more.npz").write_bytes(b"")
    with pytest.raises(ValueError, match="holds several packed files .cifar10_jpeg.npz, cifar10_more.npz."):
        load("cifar10", tmp_path)
