"""Settings, presets, the command line and what a run shows."""

import argparse
import json
import sys
from dataclasses import fields, replace

import pytest
from training import TINY

from patch_lab.cli import Terminated, main
from patch_lab.images import training
from patch_lab.images.training import cli
from patch_lab.images.training.config import PRESETS, TrainConfig, preset, with_settings
from patch_lab.images.training.run import train


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


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("lr", "expected key=value, got 'lr'"),
        ("rate=1", "there is no setting 'rate'; there are dataset, root"),
        ("seed=1.5", "seed must be an integer, got '1.5'"),
        ("lr=fast", "lr must be a number, got 'fast'"),
        ("compile=1", "compile must be true or false, got '1'"),
        ("lr=nan", "lr must be a finite number"),
        ("epochs=0", "epochs must be at least 1"),
        ("model=vgg", "model must be one of vit, resnet18"),
        ("label_smoothing=2", "label_smoothing must be a probability"),
        ("augment=x", "augment must be one of none"),
        ("warmup_epochs=400", "warmup_epochs must be at most epochs, got 400 of 300"),
        ("threads=100000", r"threads must be at most \d+ here, got 100000"),
        ("workers=100000", r"workers must be at most \d+ here, got 100000"),
        (f"seed={2**63}", "seed must be below 2\\^63, got 9223372036854775808"),
        ("seed=-1", "seed must be at least 0, got -1"),
        (f"tile_seed={10**30}", "tile_seed must be below"),
        (f"seed={'9' * 5000}", "seed must be an integer, got '9999"),
    ],
)
def test_settings_that_cannot_be_used(setting, words):
    with pytest.raises(ValueError, match=words):
        with_settings(TrainConfig(), [setting])


def test_sizes_that_do_not_fit_the_data():
    with pytest.raises(ValueError, match="batch_size must be at most the 120 training pictures, got 200"):
        train(replace(TINY, batch_size=200), progress=False)
    with pytest.raises(ValueError, match="tile must divide image_size, got tiles of 3 in 8 pixels"):
        train(replace(TINY, tile=3), progress=False)


def test_presets():
    assert set(PRESETS) == {"smoke", "cifar10", "cifar10-cnn", "cifar100", "svhn", "imagenet"}
    for name in ("cifar10", "cifar100", "svhn"):
        assert (preset(name).epochs, preset(name).batch_size, preset(name).patch_size) == (300, 128, 4)
    assert (preset("imagenet").vit, preset("imagenet").batch_size) == ("tiny", 1024)
    with pytest.raises(ValueError, match="there is no preset 'large'; there are smoke, cifar10"):
        preset("large")


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


def test_a_full_disk_ends_the_command_without_a_traceback(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(ValueError, match="No space left|the disk is full"):
        command("--preset", "smoke", "--out", tmp_path, "--set", *SHORT, "--quiet")


def test_a_bar_on_a_terminal(monkeypatch, capsys):
    """Loss, accuracy, pictures per second; tqdm adds the time left."""
    from patch_lab.images.training import progress

    monkeypatch.setattr(progress, "_EVERY", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    train(TINY, progress=True)
    err = capsys.readouterr().err
    assert "loss " in err and "accuracy " in err and "images/s" in err and "18/18" in err and "<" in err


@pytest.mark.parametrize(("stop", "status"), [(KeyboardInterrupt, 130), (Terminated, 143)])
@pytest.mark.parametrize("checkpoint", [False, True])
def test_stopped_at_once_promises_no_more_than_there_is(
    tmp_path, monkeypatch, capsys, stop, status, checkpoint
):
    """Before the run listens, or by the second signal: is there a checkpoint to go on from or not?"""

    def stopped(*arguments, **options):
        raise stop

    monkeypatch.setattr(training, "train", stopped)
    if checkpoint:
        (tmp_path / "checkpoint.pt").touch()
    assert main(["train", "--preset", "smoke", "--out", str(tmp_path)]) == status
    there = "--resume goes on from the last checkpoint" if checkpoint else "there is no checkpoint yet"
    assert capsys.readouterr().err == f"patch-association: stopped at once; {there} in {tmp_path}\n"


@pytest.mark.skipif(sys.platform == "darwin", reason="not compared: this machine may have the device")
def test_a_device_that_is_not_there_is_one_short_sentence(tmp_path, capsys):
    for device, words in (
        ("mps", "device=mps was asked for, and PyTorch cannot use it here: "),
        ("tpu9", ""),
    ):
        settings = ["--set", f"device={device}", "--quiet"]
        assert main(["train", "--preset", "smoke", "--out", str(tmp_path / "run"), *settings]) == 2
        said = capsys.readouterr().err
        assert words in said and len(said) < 250 and len(said.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_help_lists_every_setting_with_its_default(capsys):
    with pytest.raises(SystemExit) as end:
        main(["train", "--help"])
    shown = capsys.readouterr().out.splitlines()
    assert end.value.code == 0
    assert {f"  {field.name}={field.default}" for field in fields(TrainConfig)} <= set(shown)
