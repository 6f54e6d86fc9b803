"""Draw the README's picture, book/_static/question.svg: an input, the learned scores, the sets found.

The scores are learned here, by gradient descent on model (T); nothing in the picture is drawn by
hand. Run it again after a change of the data, the model or the figures' style.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

from patch_association.training import Constant, Samples, descend, realistic_start

matplotlib.use("svg")

import numpy as np
import torch

from patch_association.data import SpatialData, random_feature
from patch_association.structure import Partition, association
from patch_lab.kit.figures import draw_matrix, draw_patches, new_figure, use_style

OUT = Path(__file__).resolve().parent.parent / "book" / "_static" / "question.svg"
HEIGHT = WIDTH = 6
RATE = 0.02
STEPS = 110
N = 20_000


def learn(data: SpatialData) -> torch.Tensor:
    """The scores after gradient descent on (E), with the score rate D^2 times the value rate."""
    X, y = data.sample(N, seed=1)
    run = descend(Samples(data, X[None], y[None]), realistic_start(data, [1]), Constant(RATE), steps=STEPS)
    return run.final.scores[0]


def sets_found(scores, set_size: int) -> Partition:
    """The partition whose sets are the rows' C highest scores; an error if the rows disagree."""
    top = np.sort(np.argsort(-scores.numpy(), axis=1)[:, :set_size], axis=1)
    _, labels, sizes = np.unique(top, axis=0, return_inverse=True, return_counts=True)
    if (sizes != set_size).any():
        raise RuntimeError("the rows of the scores do not agree on the sets: train longer")
    return Partition(labels.reshape(-1))


def main() -> None:
    """Learn, check that the sets were found, and write the picture."""
    truth = Partition.random(HEIGHT * WIDTH, 4, seed=3)
    data = SpatialData(truth, dim=36, q=0.2, feature=random_feature(36))
    scores = learn(data)
    sets = sets_found(scores, truth.set_size)
    if not association(scores, truth).exact or sets != truth:
        raise RuntimeError("gradient descent did not find the sets: the picture would be false")
    s, _, signal = data.sample_coefficients(1, seed=5)
    speaking = sets.labels[truth.sets[int(signal[0])][0]]  # the signal set under the name that was found

    use_style()
    figure, (left, middle, right) = new_figure(1, 3, width="wide", height=3.0)
    one_set = Partition(np.zeros(HEIGHT * WIDTH, dtype=int))
    draw_patches(left, s[0], one_set, HEIGHT, WIDTH, palette=["#C9CDD2"])
    left.set_title("one input, its sets hidden")
    draw_matrix(middle, scores, partition=sets, title="the learned scores", colorbar=False)
    draw_patches(right, s[0], sets, HEIGHT, WIDTH, signal=int(speaking))
    right.set_title("the sets they pick out")
    figure.savefig(OUT, metadata={"Date": None, "Creator": None})
    print(f"wrote {OUT.name}: association is exact over {truth.num_patches} patches")


if __name__ == "__main__":
    main()
