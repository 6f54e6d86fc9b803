"""A residual CNN that names nine of ten pictures of CIFAR-10, and what shuffled tiles cost it."""

from __future__ import annotations

from typing import Any

from patch_lab.sweeps import study
from patch_lab.sweeps.images import packed
from patch_lab.sweeps.sweep import Sweep

# After airbench (arXiv:2404.00498), numbers rounded. Widths and epochs were chosen on 5,000 validation
# pictures, first seed, no shuffle; with these choices made, all pictures are for training. (The study's ViTs
# have 45,000.)
CNN: dict[str, Any] = {
    **study.COMMON,
    **dict(model="residual_cnn", optimizer="sgd", lr=1.5, weight_decay=1.3e-3, batch_size=1000, clip=0.0),
    **dict(augment="reflect-flip", label_smoothing=0.2, epochs=12, warmup_epochs=2.75),
    **dict(schedule="triangle", lookahead=True, mirrored_test=True, val_size=0),
}


def cnn_cell(tile: int, seed: int) -> dict:
    """One training run on all 50,000 training pictures, resumed where its folder holds a checkpoint.

    Returns
    -------
    dict
        ``test_accuracy`` and ``test_mirrored_accuracy`` (logits averaged over a picture and its mirror
        image) after the last epoch, ``test_n``, ``parameters`` and ``metrics`` by epoch.
    """
    folder = study.FOLDER.with_name("cifar10_study_cnn") / f"{tile}-{seed}"
    return study.trained({**CNN, "tile": tile, "seed": seed}, study.pictures(), folder)


SWEEPS = (
    Sweep(
        name="cifar10_study_cnn",
        summary="A residual CNN on CIFAR-10 (JPEG), whole and with shuffled tiles.",
        # The whole pictures, then tiles of a patch of the study's ViTs, of less, and of more.
        cells=tuple({"tile": tile, "seed": seed} for tile in (32, 4, 2, 8, 16) for seed in study.SEEDS),
        run=cnn_cell,
        config=CNN,
        data=packed,
        grows=True,
    ),
)
