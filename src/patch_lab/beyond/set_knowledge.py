"""What a function of patches knows of the sets, asked of the function alone.

No parameter is looked at. Two patches *interact* in F if what one of them shows changes what the other one
is worth: if the mixed difference F(++) - F(+-) - F(-+) + F(--) is not zero, where the signs are those of
the feature in the two patches and everything else stays. The inputs around which differences are taken know
nothing of the sets either, which is what makes the p-value exact.
"""

from __future__ import annotations

import numpy as np
import torch

from patch_association.checks import fits_memory, made_of, positive_int, probability
from patch_association.data import SpatialData
from patch_association.streams import Stream, generator
from patch_association.structure import Partition, as_scores, association


def shuffled_inputs(data: SpatialData, n: int, seed: int = 0, dtype=torch.float32) -> torch.Tensor:
    """Inputs of Assumption 1 with sets drawn anew for each: (n, D, d).

    The patches of each drawn input change places at random, so that whoever sees these inputs learns nothing
    of the sets of ``data``: their law is the same for every partition of that shape.
    """
    made_of("data", data, "SpatialData", "sample", "partition")
    X, _ = data.sample(n, seed=seed, dtype=dtype)
    draw = generator(seed, Stream.PROBE_ORDERS)
    D = data.partition.num_patches
    orders = torch.from_numpy(np.stack([draw.permutation(D) for _ in range(len(X))]))
    return X.gather(1, orders[..., None].expand_as(X))  # (n, D, d)


@torch.no_grad()
def interactions(function, X: torch.Tensor, feature: torch.Tensor) -> torch.Tensor:
    """Root mean square of the mixed differences of each pair, (..., D, D) with a zero diagonal.

    Parameters
    ----------
    function : callable
        Of inputs (k, D, d), giving (..., k).
    X : (n, D, d) tensor
        Inputs around which differences are taken, as :func:`shuffled_inputs` draws them; only what two
        patches show of the feature is changed.
    feature : (d,) tensor
        w*, a unit vector.
    """
    n, D, _ = X.shape
    i, j = torch.triu_indices(D, D, offset=1)  # (pairs,) each
    w = feature.to(X)
    X_rest = X - (X @ w)[..., None] * w  # (n, D, d): nothing of the feature
    signs = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    squares = 0.0
    for k in range(n):
        inputs = X[k].expand(len(i), 4, D, -1).clone()  # (pairs, 4, D, d)
        rows = torch.arange(len(i))
        for patch, column in ((i, 0), (j, 1)):
            inputs[rows, :, patch] = X_rest[k, patch][:, None] + signs[:, column, None].to(X) * w
        outputs = torch.cat([function(x) for x in inputs.flatten(0, 1).split(2000)], dim=-1)
        outputs = outputs.reshape(*outputs.shape[:-1], len(i), 4)  # (..., pairs 4) -> (..., pairs, 4)
        squares = (
            squares + (outputs[..., 0] - outputs[..., 1] - outputs[..., 2] + outputs[..., 3]).double() ** 2
        )
    values = (squares / n).sqrt()  # type: ignore[union-attr]
    scores = torch.zeros(*values.shape[:-1], D, D, dtype=torch.float64)
    scores[..., i, j] = scores[..., j, i] = values
    return scores


def null_recall(scores, partition: Partition, draws: int = 999, seed: int = 0) -> np.ndarray:
    """The recall of ``scores`` against random partitions of the same shape, (draws,).

    If the scores were computed from a function and from inputs that know nothing of the sets, the true
    partition is one more of these draws.
    """
    association(scores, partition)  # refuses what does not fit
    draw = generator(seed, Stream.PROBE)
    labels = partition.labels
    scores = np.asarray(scores, dtype=np.float64)
    draws = positive_int("draws", draws)
    D = len(labels)
    fits_memory(f"{draws:,} partitions of {D:,} patches", draws * D * (D + 1))
    # To permute the labels is to permute rows and columns, which stack into one call.
    orders = np.stack([draw.permutation(D) for _ in range(draws)])
    moved = scores[orders[:, :, None], orders[:, None, :]]  # (draws, D, D)
    return np.asarray(association(moved, partition).recall)


def p_value(scores, partition: Partition, draws: int = 999, seed: int = 0) -> float:
    """The chance of a recall this high if the sets had nothing to do with the scores, (0, 1].

    Exact: at most x with chance at most x, over partitions drawn uniformly, for any scores that are
    independent of them. Given the scores, the true partition and the drawn ones are independent with one
    law, so each is as likely as any other to have the k-th largest recall; ties count against the truth.
    """
    reached = null_recall(scores, partition, draws, seed) >= association(scores, partition).recall - 1e-12
    return (1 + int(reached.sum())) / (1 + draws)


class PartlyInformed:
    """A function that knows the sets to a degree: for the power of a probe.

    F(X) = sqrt(k) f(s) + sqrt(1 - k) g(s), both of variance one on random inputs: f adds up the cubes of the
    set sums, g is a random network of tanh units with inputs of all patches, which no sets shape.

    Parameters
    ----------
    partition : Partition
    knowledge : float in [0, 1]
        k, the share of the variance.
    seed : int
    """

    def __init__(self, partition: Partition, knowledge: float, seed: int = 0):
        made_of("partition", partition, "Partition", "num_patches", "indicator")
        draw = generator(seed, Stream.PROBE_FUNCTIONS)
        units = 64
        D = partition.num_patches
        fits_memory(f"{units:,} units over {D:,} patches", 3 * D * units, 4)  # of 64 bits, then of 32
        self.knowledge = probability("knowledge", knowledge)
        self._sets = torch.from_numpy(partition.indicator.T.astype(np.float32))  # (D, L)
        self._inner = torch.from_numpy(draw.standard_normal((D, units)).astype(np.float32))
        self._outer = torch.from_numpy(draw.standard_normal(units).astype(np.float32))
        s = torch.from_numpy(draw.integers(-1, 2, (2000, D)).astype(np.float32))
        self._spread = self._cubes(s).std(), self._random(s).std()

    def _cubes(self, s):
        return ((s @ self._sets) ** 3).sum(dim=-1)

    def _random(self, s):
        return torch.tanh(s @ self._inner) @ self._outer

    def __call__(self, X: torch.Tensor) -> torch.Tensor:
        """F for inputs (k, D, d) whose feature is the first coordinate."""
        s = X[..., 0]
        k = self.knowledge
        return k**0.5 * self._cubes(s) / self._spread[0] + (1 - k) ** 0.5 * self._random(s) / self._spread[1]


def probe_functions(
    make, data: SpatialData, draws: int, n_inputs: int = 10, n_partitions: int = 199
) -> tuple[np.ndarray, np.ndarray]:
    """The probe on many functions, each with sets, inputs and random partitions of its own.

    Parameters
    ----------
    make : callable
        ``make(partition, seed)`` -> a function of inputs (k, D, d), giving (k,).
    data : SpatialData
        Its sizes, q and noise; the sets are drawn anew for each function.
    draws : int
        How many functions.
    n_inputs, n_partitions : int
        Inputs around which differences are taken; partitions that the true one is compared with.

    Returns
    -------
    recall, p : (draws,) arrays
    """
    made_of("data", data, "SpatialData", "sample", "partition")
    D = data.partition.num_patches
    C = data.partition.set_size
    recall, p = np.empty((2, positive_int("draws", draws)))
    for seed in range(draws):
        sets = Partition.random(D, C, seed=seed)
        law = SpatialData(sets, data.dim, data.q, data.noise_std, data.feature)
        X = shuffled_inputs(law, n_inputs, seed)
        scores = interactions(make(sets, seed), X, law.feature)
        recall[seed] = association(scores, sets).recall
        p[seed] = p_value(scores, sets, n_partitions, seed)
    return recall, p


def row_separation(scores, partition: Partition) -> tuple[float, float]:
    """How many patches tell their companions from all strangers, in either direction.

    The diagonal is left out. For scores that know nothing each share is 1 / binom(D-1, C-1).

    Returns
    -------
    toward : float
        The share of rows in which every companion's score exceeds every stranger's.
    away : float
        The share of rows in which every stranger's score exceeds every companion's: the patch knows
        its set and looks elsewhere. Definition 2.2 counts such a row as a failure.

    Raises
    ------
    ValueError
        If ``scores`` is not a (D, D) matrix of finite numbers, or there are no companions or no strangers.
    """
    A = as_scores(scores, partition.num_patches)
    if partition.set_size == 1 or partition.num_sets == 1:
        raise ValueError(f"telling companions from strangers needs both, got {partition!r}")
    same = partition.same_set
    companions = same & ~np.eye(partition.num_patches, dtype=bool)
    inside_low = np.where(companions, A, np.inf).min(axis=1)
    inside_high = np.where(companions, A, -np.inf).max(axis=1)
    outside_low = np.where(same, np.inf, A).min(axis=1)
    outside_high = np.where(same, -np.inf, A).max(axis=1)
    return float((inside_low > outside_high).mean()), float((outside_low > inside_high).mean())
