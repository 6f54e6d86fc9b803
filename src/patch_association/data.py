"""The distribution of the paper, patches with a hidden signal set, and one's own.

:class:`SpatialData` is Assumption 1; :class:`Law` is what a law of one's own must give.
Patches are rows: a draw is (n, D, d), the transpose of the paper's X in R^{d x D}.
Draws are made by NumPy's generator in float64, so the same seed gives the same data on every machine, and
are then moved to the asked type and device.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import torch

from patch_association.checks import brief, finite, fits_memory, floating, positive_int, probability
from patch_association.streams import Stream, generator, random_coefficients, random_signs
from patch_association.structure import Partition


def random_feature(dim: int, seed: int = 0) -> torch.Tensor:
    """(d,) a unit vector drawn uniformly from the sphere: a feature w* to start from.

    Parameters
    ----------
    dim, seed : int (d; at least 0)

    Raises
    ------
    ValueError
        If ``dim`` or ``seed`` is out of range.
    """
    dim = positive_int("dim", dim)
    seed = positive_int("seed", seed, minimum=0)
    fits_memory(f"a feature of dimension {dim:,}", 2 * dim)
    w = np.random.default_rng(seed).standard_normal(dim)
    return torch.from_numpy(w / np.linalg.norm(w))


class Law(Protocol):
    """What a distribution of one's own must give. Nothing need be inherited; four names are enough.

    :class:`~patch_association.training.Samples` draws training inputs from it,
    :class:`~patch_association.training.HeldOut` test inputs, and what a run learns is measured against its
    sets and its feature. Each draw goes through ``sample``, whatever the precision of the run; also that of a
    class that derives from :class:`SpatialData` and changes ``sample``. What holds under Assumption 1 alone,
    as that two numbers tell the test error, is used where ``sample`` is SpatialData's own.

    Attributes
    ----------
    partition : Partition
        The sets that :func:`~patch_association.structure.association` compares scores with; it says D.
    dim : int
        d, the dimension of a patch.
    feature : (d,) array or tensor, or None
        A unit vector, along which the value vector v is measured. None where the law has no such direction:
        the columns ``alpha``, ``orthogonal`` and ``cosine`` of a run are then NaN, and a start along the
        feature is refused.
    sample : method
        ``sample(n, seed)`` gives n inputs (n, D, d) of finite real numbers and labels (n,) of -1 and +1,
        NumPy or torch: the same for the same integers, others for another seed. Inputs of a run are asked
        for 500 at a time, under seeds of 32 bits that are made of the run's.

    Examples
    --------
    Assumption 1 under Laplace noise that touches the feature too, in single precision:

    >>> from patch_association.training import Constant, HeldOut, Samples, descend, realistic_start
    >>> class Laplace:
    ...     def __init__(self, partition, dim):
    ...         self.partition, self.dim, self.feature = partition, dim, np.eye(dim)[0]
    ...
    ...     def sample(self, n, seed=0):
    ...         rng, D = np.random.default_rng(seed), self.partition.num_patches
    ...         y, signal = rng.choice([-1.0, 1.0], n), rng.integers(self.partition.num_sets, size=n)
    ...         X = rng.laplace(scale=0.1, size=(n, D, self.dim))
    ...         others = rng.choice([-1, 0, 1], p=[0.15, 0.7, 0.15], size=(n, D))
    ...         X[..., 0] += np.where(self.partition.labels == signal[:, None], y[:, None], others)
    ...         return X, y
    >>> law = Laplace(Partition.blocks(4, 4, 2, 2), dim=8)
    >>> samples = Samples.draw(law, 2000, [0], dtype=torch.float32)
    >>> run = descend(samples, realistic_start(law, [0]), Constant(0.02), steps=75, test=HeldOut(law, 500))
    >>> bool(run.recall[-1, 0] > 0.9), bool(run.test_error[-1, 0] < 0.05)
    (True, True)
    """

    partition: Partition
    dim: int
    feature: Any

    def sample(self, n: int, seed: int = 0, /) -> tuple[Any, Any]:
        """n inputs (n, D, d) and their labels (n,)."""
        ...


def check_law(law) -> Any:
    """``law`` if it is a :class:`Law`; else a sentence that says what is missing.

    Raises
    ------
    ValueError
        If ``law`` is none.
    """
    if isinstance(law, type):
        raise ValueError(f"law must be an object, got the class {law.__name__}: call it, {law.__name__}(...)")
    if isinstance(law, (list, tuple, np.ndarray, torch.Tensor)):
        raise ValueError(
            f"law must be a Law or a Partition, got {type(law).__name__}: Partition(labels) makes sets"
        )
    lacks = [name for name in ("partition", "dim", "feature", "sample") if not hasattr(law, name)]
    if lacks:
        raise ValueError(
            f"law must be a SpatialData, or another Law, with partition, dim, feature and sample(n, seed): "
            f"{type(law).__name__} lacks {', '.join(lacks)} (arrays: samples.law of Samples(partition, X, y))"
        )
    if not isinstance(law.partition, Partition) or not callable(law.sample):
        came = f"{type(law.partition).__name__} and {type(law.sample).__name__}"
        raise ValueError(f"law must have a Partition as partition and a method as sample, got {came}")
    positive_int("the law's dim", law.dim)
    return law


def feature_of(law) -> torch.Tensor | None:
    """w* of a law, (d,) float64; None where it has none.

    Raises
    ------
    ValueError
        If it is no unit vector of dimension d.
    """
    ours = law.feature is None or isinstance(law, SpatialData)
    return law.feature if ours else _unit_vector(law.feature, law.dim)


def draws_by_coefficients(law) -> bool:
    """Whether ``law.sample`` is Assumption 1's, so that coefficients and noise may be drawn apart."""
    return isinstance(law, SpatialData) and getattr(law.sample, "__func__", None) is SpatialData.sample


def assumption_one(name: str, law) -> None:
    """Refuse a law that does not draw as Assumption 1 says, where something reads its coefficients alone."""
    if not draws_by_coefficients(law):
        own = isinstance(law, SpatialData)
        why = f"{type(law).__name__} has a sample of its own" if own else f"got {type(law).__name__}"
        raise ValueError(f"{name} must be a SpatialData that draws as Assumption 1 says: {why}")


def draw_from(
    law, n: int, seed: int, dtype=torch.float64, device=None, why: str = ""
) -> tuple[torch.Tensor, torch.Tensor]:
    """What ``law.sample`` gives, as tensors; refused where it is not what a :class:`Law` promises.

    Parameters
    ----------
    law : Law
    n, seed : int
    dtype, device : of both tensors
    why : str (told of ``n``, where another number was asked for)

    Raises
    ------
    ValueError
        If what came has other shapes, or labels that are not -1 and +1.
    """
    drawn = law.sample(n, seed)
    if not isinstance(drawn, (tuple, list)) or len(drawn) != 2:
        raise ValueError(
            f"{type(law).__name__}.sample must give inputs and labels, got {type(drawn).__name__}"
        )
    X, y = inputs_and_labels(*drawn)
    if tuple(X.shape) != (1, n, law.partition.num_patches, law.dim):
        wanted = f"{n} inputs of shape {(n, law.partition.num_patches, law.dim)}"
        raise ValueError(f"{type(law).__name__}.sample must give {wanted}, got {tuple(X.shape[1:])}{why}")
    return X[0].to(device, dtype), y[0].to(device, dtype)


def inputs_and_labels(X, y) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs as (S, N, D, d) and labels as (S, N), tensors of one type; those of one seed may lack S.

    Parameters
    ----------
    X : (N, D, d) or (S, N, D, d) array or tensor
    y : (N,) or (S, N) array or tensor of -1, +1

    Raises
    ------
    ValueError
        If the shapes do not fit, a number is not finite, or a label is another number.
    """
    X, y = as_tensor("X", X), as_tensor("y", y)
    X = X[None] if X.ndim == 3 else X
    y = y[None] if y.ndim == 1 else y
    if X.ndim != 4 or 0 in X.shape:
        raise ValueError(f"X must have shape (N, D, d), or (S, N, D, d) for S seeds, got {tuple(X.shape)}")
    if y.shape != X.shape[:2]:
        raise ValueError(
            f"y must have a label for each of the inputs {tuple(X.shape[:2])}, got {tuple(y.shape)}"
        )
    if not bool((y.abs() == 1).all()):
        hint = " (2 * y - 1 makes them of 0 and 1)" if bool(((y == 0) | (y == 1)).all()) else ""
        raise ValueError(f"y must hold labels -1 and +1 only{hint}")
    return X, y.to(X.dtype)


class SpatialData:
    """Assumption 1: one signal set among random sets.

    A label y is a fair sign. One of the L sets, drawn uniformly, is the signal set: all its C
    patches are y w* + xi_j. Every patch of the other sets is delta_j w* + xi_j, where delta_j is
    +1 or -1 with probability q/2 each and 0 otherwise. The noise xi_j is N(0, sigma^2 (I_d - w* w*^T)):
    it never touches the feature.

    Parameters
    ----------
    partition : Partition
        The sets S_1, ..., S_L.
    dim : int
        d, the dimension of a patch. At d = 1 nothing is orthogonal to w*, and there is no noise.
    q : float in [0, 1]
        The chance that a patch of a random set carries the feature.
    noise_std : float, optional
        sigma; by default 1 / sqrt(d), as in Assumption 2.
    feature : (d,) array or tensor, optional
        w*, a unit vector; by default the first basis vector. The law is rotation invariant, so
        nothing that is measured depends on the choice; :func:`random_feature` gives another.

    Raises
    ------
    ValueError
        On sizes, probabilities or features that do not fit.

    Examples
    --------
    >>> data = SpatialData(Partition.blocks(4, 4, 2, 2), dim=8, q=0.0)
    >>> X, y = data.sample(5, seed=1)
    >>> tuple(X.shape), bool((data.labeling_function(X) == 4 * y).all())
    ((5, 16, 8), True)
    """

    def __init__(
        self, partition: Partition, dim: int, q: float, noise_std: float | None = None, feature=None
    ):
        if not isinstance(partition, Partition):
            raise ValueError(f"partition must be a Partition, got {type(partition).__name__}")
        self.partition = partition
        self.dim = positive_int("dim", dim)
        self.q = probability("q", q)
        self.noise_std = self.dim**-0.5 if noise_std is None else finite("noise_std", noise_std, minimum=0)
        self.feature = _unit_vector(feature, self.dim)

    def sample(self, n: int, seed: int = 0, dtype=torch.float64, device=None):
        """Draw n labelled inputs.

        Parameters
        ----------
        n : int (how many, at least 1)
        seed : int, at least 0
        dtype, device : of both tensors; the draws themselves are in float64

        Returns
        -------
        X : (n, D, d) tensor
        y : (n,) tensor of -1 and +1

        Raises
        ------
        ValueError
            If ``n`` or ``seed`` is out of range, or ``dtype`` is no floating-point type.
        """
        floating(dtype)
        fits(positive_int("n", n), self.partition.num_patches, self.dim)
        coefficients, y, _ = self.sample_coefficients(n, seed)
        # A generator of its own: the coefficients of a seed are the same whether or not noise is asked for.
        noise = generator(seed, Stream.NOISE)
        w = self.feature.numpy()
        xi = noise.standard_normal((n, self.partition.num_patches, self.dim))
        xi -= (xi @ w)[..., None] * w  # the projection I - w w^T: (n, D, d)
        xi *= self.noise_std
        xi += coefficients[..., None] * w  # (n, D, 1) * (d,) -> (n, D, d)
        X, y = torch.from_numpy(xi), torch.from_numpy(y)
        return X.to(dtype=dtype, device=device), y.to(dtype=dtype, device=device)

    def sample_coefficients(self, n: int, seed: int = 0):
        """Draw only what the feature sees: s_j = <w*, X_j>, an integer.

        Parameters
        ----------
        n, seed : int

        Returns
        -------
        s : (n, D) float64 array of -1, 0, +1
        y : (n,) float64 array of -1, +1
        signal : (n,) integers
            The signal set l(X) of each input.

        Raises
        ------
        ValueError
            If ``n`` or ``seed`` is out of range.
        """
        n = positive_int("n", n)
        fits(n, self.partition.num_patches, 3)  # u, s and what is given back
        draws = generator(seed, Stream.COEFFICIENTS)
        y = random_signs(draws, n)
        signal = draws.integers(0, self.partition.num_sets, n)
        s = random_coefficients(draws, self.q, (n, self.partition.num_patches))
        inside = self.partition.labels[None, :] == signal[:, None]  # (n, D)
        return np.where(inside, y[:, None], s), y, signal

    def labeling_function(self, X) -> torch.Tensor:
        r"""f*(X) = sum_l Threshold_{0.9 C}(sum_{i in S_l} <w*, X_i>), shape (n,).

        Threshold_c(z) is z where \|z\| > c and 0 elsewhere. The sums are integers on draws of this
        class; a sum that lies within rounding of 0.9 C counts as not above it.

        Raises
        ------
        ValueError
            If X has another shape than (n, D, d), or a number is not finite.
        """
        C = self.partition.set_size
        X = inputs_of(X, self.partition.num_patches, self.dim)
        s = X @ self.feature.to(X)  # (n, D, d) @ (d,) -> (n, D)
        indicator = torch.from_numpy(self.partition.indicator).to(X)
        sums = s @ indicator.T  # (n, D) @ (D, L) -> (n, L)
        # Integer sums above 0.9 C exceed it by at least 0.1; half of that is the most we may give away.
        slack = min(C * math.sqrt(torch.finfo(X.dtype).eps), 0.05)
        return torch.where(sums.abs() > 0.9 * C + slack, sums, torch.zeros_like(sums)).sum(dim=1)

    def __repr__(self) -> str:
        return f"SpatialData({self.partition!r}, dim={self.dim}, q={self.q:g}, noise_std={self.noise_std:g})"


def fits(n: int, D: int, numbers: int) -> None:
    """Refuse n inputs of D patches, ``numbers`` numbers each, that no memory holds."""
    fits_memory(f"{n:,} inputs of {D:,} patches", n * D * numbers)


def _unit_vector(feature, dim: int) -> torch.Tensor:
    if feature is None:
        fits_memory(f"a feature of dimension {dim:,}", dim)
        w = torch.zeros(dim, dtype=torch.float64)
        w[0] = 1.0
        return w
    w = as_tensor("feature", feature).detach().to("cpu", torch.float64)
    if tuple(w.shape) != (dim,):
        raise ValueError(f"feature must have shape ({dim},), got {tuple(w.shape)}")
    norm = float(w.norm())
    # 1e-6 lets a float32 unit vector pass; it is then normalised to float64 accuracy.
    if not abs(norm - 1) <= 1e-6:
        raise ValueError(f"feature must be a unit vector, got norm {norm:.6g}")
    return w / norm


def inputs_of(X, D: int, dim: int) -> torch.Tensor:
    """X as a floating-point tensor of shape (n, D, dim), refused where it is anything else."""
    X = as_tensor("X", X)
    if X.ndim != 3 or tuple(X.shape[1:]) != (D, dim):
        raise ValueError(f"X must have shape (n, {D}, {dim}), got {tuple(X.shape)}")
    return X


def as_tensor(name: str, values) -> torch.Tensor:
    """``values`` as a tensor of finite real numbers; integers become float64."""
    try:
        tensor = torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(
            f"{name} must be an array or a tensor of real numbers, got {brief(values)}"
        ) from None
    if tensor.is_complex():
        raise ValueError(f"{name} must be real, got {tensor.dtype}")
    tensor = tensor if tensor.is_floating_point() else tensor.double()
    # A NaN would pass every threshold in silence: as no signal, or as a label.
    parts = tensor.detach().reshape(-1).split(2**22)  # in parts: a mapped file may exceed the memory
    refused = sum(int((~torch.isfinite(part)).sum()) for part in parts)
    if refused:
        raise ValueError(f"{name} must be finite, got {refused} NaN or infinite entries")
    return tensor
