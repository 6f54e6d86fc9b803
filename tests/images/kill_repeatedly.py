"""Train, kill -9 at a random moment, resume; again and again. Called by test_faults.py in its own process.

Each life is a fork of this process, which has everything imported: a life costs milliseconds, and
the kill can fall anywhere from reading the checkpoint to writing the next.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch
from training import TINY, same_model

from patch_association.images.training.checkpoint import load_checkpoint
from patch_association.images.training.run import train

CONFIG = replace(TINY, epochs=16, checkpoint_seconds=0.0, augment="randaugment")


def live(folder: Path, seconds: float) -> bool:
    """One life, killed after ``seconds``; True if it came to its end before."""
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        train(CONFIG, folder, resume=True, progress=False)
        os._exit(0)
    while time.monotonic() - started < seconds:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended and status:
            raise SystemExit(f"a life failed with status {status}")
        if ended:
            return True
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    return not os.WIFSIGNALED(os.waitpid(child, 0)[1])


def main(folder: Path, kills: int, seed: int) -> dict:
    """Kill ``kills`` lives, then let the last one finish; compares it with a run that nobody stopped."""
    chance = random.Random(seed)
    train(CONFIG, folder / "warm", progress=False)
    started = time.monotonic()
    whole = train(CONFIG, folder / "whole", progress=False)
    length = time.monotonic() - started
    steps, k = [], 0
    while k < kills:
        if live(folder / "killed", chance.uniform(0, length / 12)):
            raise SystemExit("the run ended before it was killed often enough: make it longer")
        k += 1
        state = load_checkpoint(folder / "killed") if (folder / "killed").exists() else None
        steps.append(0 if state is None else state["epoch"] * 6 + state["step"])
    # A fork may inherit a lock that nobody will open, and hang: it is killed like the others, and another
    # begins.
    assert any(live(folder / "killed", 30 + 10 * length) for _ in range(4)), "no life came to its end"
    last = train(CONFIG, folder / "killed", resume=True, progress=False)
    record = json.loads((folder / "killed" / "record.json").read_text())
    return {
        "kills": k, "steps": steps, "metrics": record["metrics"] == whole.record["metrics"],
        "test": record["test"] == whole.record["test"], "model": same_model(last.model, whole.model),
        "litter": sorted(p.name for p in (folder / "killed").iterdir() if p.name.endswith(".coming")),
    }  # fmt: skip


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
