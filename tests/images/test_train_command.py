"""Settings, presets, the command line and what a run shows."""

import argparse
import json

import pytest

from patch_lab.images.training import cli
from patch_lab.images.training.config import TrainConfig, with_settings


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


def command(*words):
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    cli.add_arguments(parser)
    arguments = parser.parse_args([*map(str, words)])
    return arguments.run(arguments)


SHORT = ("epochs=2", "warmup_epochs=1", "train_size=300", "test_size=100", "val_size=100", "batch_size=50")


def test_the_command(tmp_path, capsys):
    assert (
        command(
            "--preset", "smoke", "--out", tmp_path, "--set", *SHORT, "attention=vanilla", "--set", "seed=3"
        )
        == 0
    )
    out = capsys.readouterr().out
    record = json.loads((tmp_path / "record.json").read_text())
    assert len(record["metrics"]) == 2 and record["name"] == "smoke" and "wall_s" in record["provenance"]
    assert (record["config"]["attention"], record["config"]["seed"]) == ("vanilla", 3)
    assert (
        record["command"] == "patch-association train --preset smoke --out DIR --set "
        f"{' '.join(SHORT)} attention=vanilla seed=3"
    )
    assert f"test accuracy {record['test']['accuracy']:.2%} of 100 pictures" in out
    assert "epoch 2/2: loss " in out and " images/s, about 0:00 left" in out
    assert (
        command(
            "--preset",
            "smoke",
            "--out",
            tmp_path,
            "--set",
            *SHORT,
            "attention=vanilla",
            "seed=3",
            "--resume",
            "--quiet",
        )
        == 0
    )


def test_the_command_stops_and_goes_on(tmp_path, capsys):
    assert command("--preset", "smoke", "--out", tmp_path, "--set", *SHORT, "minutes=1e-9", "--quiet") == 3
    assert (
        "the time is up after 0 of 2 epochs, with a checkpoint: --resume goes on" in capsys.readouterr().out
    )
    assert command("--preset", "smoke", "--out", tmp_path, "--set", *SHORT, "--resume", "--quiet") == 0


def test_settings_alone_are_a_run_and_a_wrong_word_is_told_first(tmp_path):
    small = (*SHORT, "dataset=photographs", "vit=reader", "threads=1", "workers=0")
    assert command("--out", tmp_path, "--quiet", "--set", *small) == 0
    assert json.loads((tmp_path / "record.json").read_text())["name"] == "train"
    with pytest.raises(ValueError, match="did you mean lr"):
        command("--set", "lrr=3")
    with pytest.raises(ValueError, match="needs --out DIR, and --preset NAME or --set"):
        command("--out", tmp_path)
