"""Controls beside positional attention: attention that learns no scores, or that knows no places."""

from __future__ import annotations

from typing import Any

from patch_lab.sweeps.images import packed
from patch_lab.sweeps.study import COMMON, FOLDER, pictures, trained
from patch_lab.sweeps.sweep import Sweep, grid

SEEDS = (0, 1, 2, 3, 4)
#: Each arm by what it changes: the kind of attention and, for one, where P goes. One recipe and rate for all.
ARMS: dict[str, dict[str, str]] = {
    "vanilla": dict(attention="vanilla"),
    "positional": dict(attention="positional"),
    "shifts": dict(attention="shifts"),
    "uniform": dict(attention="uniform"),
    "no encodings": dict(attention="vanilla", positions="none"),
}
VIT: dict[str, Any] = dict(
    COMMON, model="vit", vit="small", patch_size=4, depth=2, width=64, heads=8, mlp_width=128, epochs=6,
    warmup_epochs=0.6, batch_size=128, lr=2e-3, precision="float32",
)  # fmt: skip


def control_cell(arm: str, seed: int) -> dict:
    """One training run on 45,000 pictures of CIFAR-10, resumed where its folder holds a checkpoint.

    Eight heads, so that hand-written shifts look in all eight directions.

    Returns
    -------
    dict
        ``test_accuracy``, ``val_accuracy``, ``test_n``, ``parameters``, ``metrics`` by epoch.
    """
    folder = FOLDER.parent / "cifar10_controls" / f"{arm.replace(' ', '-')}-{seed}"
    return trained({**VIT, **ARMS[arm], "seed": seed}, pictures(), folder)


SWEEPS = (
    Sweep(
        name="cifar10_controls",
        summary="A ViT of two layers on CIFAR-10 (JPEG): positional and vanilla attention beside controls.",
        cells=grid(seed=SEEDS, arm=tuple(ARMS)),
        run=control_cell,
        config={**VIT, "arms": ARMS},
        data=packed,
        grows=True,
    ),
)
