"""Train, kill -9 at a random moment, resume; again and again. Called by test_faults.py in its own process.

Each life is a fork of this process, which has everything imported: a life costs milliseconds, and
the kill can fall anywhere from reading the checkpoint to writing the next. When it falls is counted in
the steps that the life has done, never in seconds: a busy machine changes nothing.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch
from training import TINY, same_model

from patch_lab.images.training.checkpoint import PREVIOUS, load_checkpoint
from patch_lab.images.training.run import train
from patch_lab.images.training.trainer import Trainer

STEPS = 6  # in an epoch of TINY
LIFE = 5  # steps at most, before a kill
PATIENCE_S = 60.0


def live(config, folder: Path, steps: int, share: float) -> bool:
    """One life, killed ``share`` of a step after ``steps`` of them; True if it came to its end before."""
    listen, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(listen)
        real = Trainer._stop_or_save

        def told(self, at_epoch_end=False):  # after each step, once what it saves is on the disk
            stop = real(self, at_epoch_end)
            os.write(tell, b".")
            return stop

        Trainer._stop_or_save = told
        os.write(tell, b"!")  # the life begins
        train(config, folder, resume=True, progress=False)
        os._exit(0)
    os.close(tell)
    seen, last, took = b"", time.monotonic(), 0.02
    while len(seen) <= steps:
        # A fork may inherit a lock that nobody will open, and hang: it is killed like the others.
        ready, _, _ = select.select([listen], [], [], PATIENCE_S)
        news = os.read(listen, 1) if ready else b""
        if not news:
            break
        seen, took, last = seen + news, time.monotonic() - last, time.monotonic()
    time.sleep(share * took)
    os.kill(child, signal.SIGKILL)
    os.close(listen)
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit(f"a life failed with status {os.WEXITSTATUS(status)}")
    return not os.WIFSIGNALED(status)


def main(folder: Path, kills: int, seed: int) -> dict:
    """Kill ``kills`` lives, then let the last one finish; compares it with a run that nobody stopped."""
    chance = random.Random(seed)
    config = replace(TINY, epochs=kills * 4 // STEPS + 2, checkpoint_seconds=0.0, augment="randaugment")
    whole = train(replace(config, checkpoint_seconds=1e9), folder / "whole", progress=False)
    steps = []
    for _ in range(kills):
        if live(config, folder / "killed", chance.randint(0, LIFE), chance.random()):
            raise SystemExit("the run ended before it was killed often enough: make it longer")
        state = load_checkpoint(folder / "killed") if (folder / "killed").exists() else None
        steps.append(0 if state is None else state["epoch"] * STEPS + state["step"])
    last = train(config, folder / "killed", resume=True, progress=False)
    record = json.loads((folder / "killed" / "record.json").read_text())
    expected = {path.name for path in (folder / "whole").iterdir()} | {PREVIOUS}
    return {
        "kills": kills, "steps": steps, "metrics": record["metrics"] == whole.record["metrics"],
        "test": record["test"] == whole.record["test"], "model": same_model(last.model, whole.model),
        "litter": sorted({path.name for path in (folder / "killed").iterdir()} - expected),
    }  # fmt: skip


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
