"""The sweep ``transience``: is association reached from N inputs, and is it kept?"""

from __future__ import annotations

from typing import Any

from patch_association.data import SpatialData
from patch_association.structure import Partition
from patch_association.training import Constant, HeldOut, Samples, descend, realistic_start
from patch_lab.kit.records import rounded, sample_source
from patch_lab.kit.sweeps import Sweep

PARTITION = Partition.blocks(4, 4, 2, 2)
SEEDS = tuple(range(400, 410))
QS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
COUNTS = (500, 1000, 2000, 4000, 8000, 16_000)
SETTING: dict[str, Any] = dict(
    num_patches=16, set_size=4, dim=16, rate=0.02, score_rate=5.12, steps=3000, every=60
)


def transience_cell(q: float, n: int) -> dict:
    """Ten runs on n inputs of Assumption 1, followed far beyond the step at which association is reached.

    ``wrong_inputs``: how many inputs of each seed no set sum can explain (y f*(X) <= 0).
    """
    law = SpatialData(PARTITION, SETTING["dim"], q)
    samples = Samples.draw(law, n, SEEDS)
    wrong = [int((y * law.labeling_function(X) <= 0).sum()) for X, y in zip(samples.X, samples.y)]
    run = descend(
        samples,
        realistic_start(law, SEEDS),
        Constant(SETTING["rate"]),
        steps=SETTING["steps"],
        record=SETTING["every"],
        test=HeldOut(law, 20_000, seed=1000 + SEEDS[0]),
        on_divergence="flag",
        progress=False,
    )
    names = ("margin", "train_error", "test_error")
    curves = {name: rounded(getattr(run, name).T.astype(float), 4) for name in names}
    return {"wrong_inputs": wrong, "diverged_at": run.diverged_at.tolist(), **curves}


TRANSIENCE = Sweep(
    name="transience",
    summary="Exact association over q, the number of inputs and of steps: reached, kept, lost.",
    # Many inputs at large q would only repeat what fewer show: association is lost in every run.
    cells=tuple(dict(q=q, n=n) for n in COUNTS for q in QS if q * n <= 4000),
    run=transience_cell,
    config={**SETTING, "degree": 3, "linear": 0.01, "diagonal": 1.0, "init_std": 0.01, "seeds": SEEDS},
    data=lambda: sample_source(SpatialData(PARTITION, 16, QS[0]), SEEDS[0]),
)
SWEEPS = (TRANSIENCE,)
