"""One of several processes that train together. Called by test_several_processes.py by way of torchrun."""

import json
import sys
from dataclasses import replace
from pathlib import Path

from training import TINY

from patch_lab.images.training.run import train

CONFIG = replace(TINY, augment="randaugment", epochs=2, lr=1e-2)

if __name__ == "__main__":
    out = Path(sys.argv[1])
    stopped = train(replace(CONFIG, minutes=1e-9), out, progress=False)
    assert not stopped.record["finished"] and len(stopped.record["metrics"]) == 1
    run = train(CONFIG, out, resume=True, progress=False)
    if run.record["provenance"]["processes"] != 2:
        raise SystemExit(f"expected two processes, got {run.record['provenance']}")
    print(json.dumps({"finished": run.record["finished"]}))
