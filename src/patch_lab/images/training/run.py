"""Training runs: from settings to a finished model with record and checkpoints, and back from its folder."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from patch_association.checks import readable
from patch_lab.images.data import NAMES, data_root, load
from patch_lab.images.data.augment import normalize
from patch_lab.images.data.folder import Pictures, load_folder, load_imagenet
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.training.checkpoint import load_checkpoint
from patch_lab.images.training.config import FREE_ON_RESUME, DataSettings, TrainConfig
from patch_lab.images.training.processes import processes, threads
from patch_lab.images.training.progress import Progress
from patch_lab.images.training.trainer import POSITIONS, RECORD, Trainer, check_state, make_model, put_weights
from patch_lab.kit.files import lock

_PREDICTED_AT_ONCE = 256
# The workers that read pictures live on for five seconds when their run is killed, and hold its folder.
_PATIENCE_S = 10.0


def _only_times(wall_s, device):
    return {"wall_s": round(wall_s, 1), "hardware": device}


@dataclass
class ImageRun:
    """What a training run gives back.

    Attributes
    ----------
    model : module
        As it is after the last step.
    record : dict
        What ``record.json`` holds: name, config, data (class names among it), metrics (one object
        per epoch), test, locality, finished and provenance.
    stopped_by : int
        The signal that stopped the run, 0 if none did.
    """

    model: nn.Module
    record: dict
    stopped_by: int = 0

    def predict(self, pictures) -> list[str]:
        """The class name that the model gives each picture, prepared as the test pictures were.

        Parameters
        ----------
        pictures : (n, c, H, W) uint8 tensor, or files
            Files are read, cut to their middle square and scaled; a tensor must have the size of the run's.

        Raises
        ------
        ValueError
            On a tensor of another shape or type, and on a file that is no picture.
        """
        data = self.record["data"]
        config = TrainConfig(**self.record["config"])
        shape = (data["channels"], data["image_size"], data["image_size"])
        if not isinstance(pictures, torch.Tensor):
            files = Pictures([(str(path), 0) for path in pictures], data["image_size"])
            if not len(files):
                return []
            pictures = torch.stack([files[k][0] for k in range(len(files))])
        if pictures.dtype != torch.uint8 or pictures.shape[1:] != shape:
            raise ValueError(
                f"pictures must be files or uint8 of shape (n, {', '.join(map(str, shape))}), "
                f"got {pictures.dtype} of shape {tuple(pictures.shape)}"
            )
        if config.tile:
            pictures = GridPermutation(data["image_size"], config.tile, config.tile_seed)(pictures)
        mean, std = torch.tensor(data["mean"]), torch.tensor(data["std"])
        device = next(self.model.parameters()).device
        training = self.model.training
        self.model.eval()
        with torch.no_grad():
            guesses = [
                self.model(normalize(part.to(device), mean.to(device), std.to(device))).argmax(dim=1)
                for part in pictures.split(_PREDICTED_AT_ONCE)
            ]
        self.model.train(training)
        return [data["classes"][k] for k in torch.cat(guesses).tolist()]


def load_data(config: DataSettings):
    """The data set of a configuration: in memory, or a folder that is read as training goes on."""
    folders = {"imagenet": load_imagenet, "folder": load_folder}
    if config.dataset in folders:
        data = folders[config.dataset](data_root(config.root), config.image_size)
        return data.limited(config.train_size, config.test_size)
    if config.dataset not in NAMES:
        raise ValueError(f"dataset must be one of {', '.join((*NAMES, *folders))}, got {config.dataset!r}")
    return load(config.dataset, config.root, config.train_size, config.test_size, config.download)


def train(
    config: TrainConfig,
    out=None,
    resume: bool = False,
    progress: bool = True,
    data=None,
    name: str = "train",
    command: str | None = None,
    provenance: Callable[[float, str], dict] | None = None,
    watch: Callable[[nn.Module], dict] | None = None,
) -> ImageRun:
    """Train a model.

    The first SIGINT (Ctrl-C) or SIGTERM stops a run that has a folder after its current step, with
    a checkpoint; where several processes train together, at the end of the epoch.

    Parameters
    ----------
    config : TrainConfig
    out : path, optional
        A folder for ``record.json``, the learned P (``positions.npz``) and checkpoints; without it
        nothing is written.
    resume : bool
        Go on from the checkpoint in ``out``, to the result that the run would have
        had without the interruption (bit for bit on the CPU with the same number of threads).
    progress : bool
        Show a bar on a terminal and a line per epoch elsewhere.
    data : ImageSet or FolderSet, optional
        In place of ``config.dataset``.
    name, command : str
        For the record.
    provenance : callable
        ``provenance(wall_s, device)`` -> dict for the record: :func:`patch_lab.kit.records.provenance`.
        By default the record holds the wall time and the device alone.
    watch : callable
        ``watch(model)`` -> dict of JSON values that joins the metrics of each epoch; it must leave the
        model as it is.

    Raises
    ------
    ValueError
        On settings that do not fit, on a folder that holds a run already (without ``resume``) or
        another one, or that another process trains into, on damaged checkpoints, and when the loss is
        no longer finite.
    OSError
        If ``out`` cannot be written, said before anything else is done, or a checkpoint cannot; the
        message says what is kept.

    Examples
    --------
    >>> config = TrainConfig(dataset="digits", vit="reader", patch_size=2, epochs=1, warmup_epochs=0,
    ...                      train_size=80, test_size=20, val_size=20, batch_size=20, threads=1)
    >>> run = train(config, progress=False)
    >>> run.record["finished"], [row["epoch"] for row in run.record["metrics"]]
    (True, [1])
    """
    place = processes(config.device)
    out = None if out is None else Path(out)
    if place.rank != 0:  # process 0 first: it makes the folder
        place.wait()
    with _held(out if place.rank == 0 else None):
        state = None if out is None else _checkpoint_in(config, out, resume)
        if place.rank == 0:
            place.wait()
        kept = _record_in(out) if out is not None and state is not None and state["test"] else None
        if state and kept and kept["finished"] and (data is None or data.digest() == kept["data"]["sha256"]):
            return _read_back(kept, state)  # nothing is left: the record keeps its commit and its date
        about = dict(name=name, command=command, provenance=provenance or _only_times, watch=watch)
        # Stochastic depth draws from PyTorch's generator: that of the caller is left as it was.
        own = torch.random.fork_rng(enabled=bool(config.drop_path))
        with own, threads(config.threads), _asked_to_stop(out is not None) as asked:
            data = load_data(config) if data is None else data
            trainer = Trainer(config, data, place, out, about, asked)
            if state is not None:
                trainer.restore(state)
            with Progress(config, trainer.feed.steps, progress and place.rank == 0, trainer.done) as bar:
                finished = trainer.run(bar)
            return ImageRun(trainer.model, trainer.record(finished), 0 if finished or not asked else asked[0])


def load_run(folder) -> ImageRun:
    """A training run from its folder: the model as its checkpoint has it, ready for inference.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> config = TrainConfig(dataset="digits", vit="reader", patch_size=2, epochs=1, warmup_epochs=0,
    ...                      train_size=80, test_size=20, val_size=20, batch_size=20, threads=1)
    >>> with TemporaryDirectory() as folder:
    ...     trained = train(config, out=folder, progress=False)
    ...     run = load_run(folder)
    >>> run.model.training, run.record == trained.record
    (False, True)

    Raises
    ------
    ValueError
        If there is no record or no checkpoint.
    """
    record = _record_in(Path(folder))
    state = load_checkpoint(folder)
    if record is None or state is None:
        missing = RECORD if record is None else "checkpoint"
        raise ValueError(f"{folder} holds no training run: there is no {missing}")
    return _read_back(record, state)


def begun(folder: Path) -> tuple[TrainConfig, dict]:
    """The settings of the run that a folder holds, and its name and command.

    Raises
    ------
    ValueError
        If there is no checkpoint to go on from, or it is of no training run.
    """
    record = _record_in(folder)
    state = load_checkpoint(folder)
    if state is None:
        raise ValueError(f"{folder} holds no training run: there is no checkpoint to go on from")
    with readable(f"the checkpoint in {folder} is of no training run"):
        check_state(state)
        config = TrainConfig(**json.loads(state["config"]))
        kept = record or state.get("about") or {}
        return config, {"name": kept.get("name", "train"), "command": kept.get("command")}


def _read_back(record: dict, state: dict) -> ImageRun:
    with readable("record and checkpoint are of no training run"):
        model = make_model(TrainConfig(**record["config"]), **state["shape"])
        put_weights(model, state["model"])
    return ImageRun(model.eval(), record)


@contextmanager
def _asked_to_stop(listen: bool):
    """A list that holds the number of the first SIGINT or SIGTERM; a second one acts as ever."""
    asked: list[int] = []
    if not listen or threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # What the caller ignores stays ignored: a shell without job control starts "command &" that way.
    before = {number: handler for number, handler in before.items() if handler not in (signal.SIG_IGN, None)}

    def note(number, frame):
        asked.append(number)
        for sign, handler in before.items():
            signal.signal(sign, handler)

    for number in before:
        signal.signal(number, note)
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _held(out: Path | None):
    """Make the folder, hold it against other runs, and try to write into it.

    What a killed process left half-written is removed: nobody else writes here now.
    """
    with ExitStack() as until_the_end:
        try:
            if out is not None:
                out.mkdir(parents=True, exist_ok=True)
                if os.name == "posix":  # elsewhere a folder cannot be opened
                    descriptor = os.open(out, os.O_RDONLY)
                    until_the_end.callback(os.close, descriptor)
                    patience = time.monotonic() + _PATIENCE_S
                    while (free := lock(descriptor)) is False and time.monotonic() < patience:
                        time.sleep(0.1)
                    if free is False:
                        raise ValueError(f"{out} is held by another process: it trains into this folder now")
                for name in (RECORD, POSITIONS, "checkpoint", "writable"):
                    for left in out.glob(f".{name}.*"):
                        left.unlink(missing_ok=True)
                with tempfile.NamedTemporaryFile(dir=out, prefix=".writable."):
                    pass
        except OSError as error:
            raise OSError(error.errno, f"cannot write to {out}: {error.strerror or error}") from error
        yield


def _record_in(out: Path) -> dict | None:
    if not (out / RECORD).exists():
        return None
    with readable(f"{out / RECORD} is no record of a training run"):
        record = json.loads((out / RECORD).read_text(encoding="utf-8"))
        if not isinstance(record["finished"], bool) or (
            record["finished"] and "sha256" not in record["data"]
        ):
            raise ValueError("expected whether the run is finished, and the sha256 of its data")
        return record


def _checkpoint_in(config: TrainConfig, out: Path, resume: bool) -> dict | None:
    """The checkpoint to go on from, or None; refuses to overwrite or to mix runs."""
    record = _record_in(out)
    state = load_checkpoint(out)
    if not resume and (state or record):
        raise ValueError(f"{out} holds a training run already: go on with --resume, or choose another folder")
    if state is None:
        if record and record["finished"]:
            raise ValueError(f"{out} holds a finished record and no checkpoint: choose another folder")
        return None
    # What a run from before a setting was added did is that setting's default.
    with readable(f"the checkpoint in {out} is of no training run"):
        check_state(state)
        then = TrainConfig().as_dict() | json.loads(state["config"])
        now = config.as_dict()
    changed = [k for k in now if k not in FREE_ON_RESUME and now[k] != then[k]]
    if changed:
        differences = ", ".join(f"{k} was {then[k]!r} and is {now[k]!r}" for k in changed)
        longer = (
            "; rates fall over all epochs: a run of another length begins anew, in another folder"
            if "epochs" in changed
            else ""
        )
        raise ValueError(f"{out} holds a run with other settings: {differences}{longer}")
    return state
