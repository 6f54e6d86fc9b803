"""The example of section 2: Gaussian patches without spatial structure, and a label that knows the sets."""

from __future__ import annotations

import numpy as np
import torch

from patch_association.checks import fits_memory, floating, positive_int
from patch_association.data import as_tensor, fits, inputs_of
from patch_association.streams import Stream, generator
from patch_association.structure import Partition


class GaussianData:
    """Section 2's example: i.i.d. standard Gaussian patches under a cubic convolutional label.

    y = sign f*(X), f*(X) = sum_l (sum_{k=1}^C <w_k, X_{l,k}>)^3 with X_{l,k} the k-th patch of set
    l. The label knows the sets; the law of the patches does not.

    Parameters
    ----------
    partition : Partition
    dim : int
        d.
    filters : "shared", "convolution" or (C, d) array
        One filter w per place in the set. "shared" repeats a single unit vector, so that the
        label depends on set sums alone; "convolution" draws a unit vector for each place.
    seed : int
        Of the drawn filters.

    Raises
    ------
    ValueError
        If ``filters`` or a size does not fit.
    """

    def __init__(self, partition: Partition, dim: int, filters="shared", seed: int = 0):
        if not isinstance(partition, Partition):
            raise ValueError(f"partition must be a Partition, got {type(partition).__name__}")
        self.partition = partition
        self.dim = positive_int("dim", dim)
        C = partition.set_size
        seed = positive_int("seed", seed, minimum=0)
        if isinstance(filters, str):
            if filters not in ("shared", "convolution"):
                wanted = '"shared", "convolution" or a (C, d) array'
                raise ValueError(f"filters must be {wanted}, got {filters!r}")
            rows = 1 if filters == "shared" else C
            fits_memory(f"filters of dimension {self.dim:,}", 2 * C * self.dim)
            W = np.random.default_rng(seed).standard_normal((rows, self.dim))
            W = np.broadcast_to(W / np.linalg.norm(W, axis=1, keepdims=True), (C, self.dim))
        else:
            W = as_tensor("filters", filters).detach().to("cpu", torch.float64).numpy()
            if W.shape != (C, self.dim):
                raise ValueError(f"filters must have shape ({C}, {self.dim}), got shape {W.shape}")
        self.filters = torch.from_numpy(np.array(W))

    def sample(self, n: int, seed: int = 0, dtype=torch.float64, device=None):
        """Draw n labelled inputs: X (n, D, d) and y (n,) in {-1, +1}.

        Parameters
        ----------
        n, seed, dtype, device : as :meth:`patch_association.data.SpatialData.sample`

        Raises
        ------
        ValueError
            If ``n`` or ``seed`` is out of range, or ``dtype`` is no floating-point type.
        """
        floating(dtype)
        fits(positive_int("n", n), self.partition.num_patches, self.dim)
        draws = generator(seed, Stream.GAUSSIAN_PATCHES)
        X = torch.from_numpy(draws.standard_normal((n, self.partition.num_patches, self.dim)))
        # f* = 0 has probability zero; should rounding ever produce it, the label is +1.
        y = torch.where(self.labeling_function(X) >= 0, 1.0, -1.0)
        return X.to(dtype=dtype, device=device), y.to(dtype=dtype, device=device)

    def set_responses(self, X) -> torch.Tensor:
        """h_l = sum_k <w_k, X_{l,k}>, shape (n, L): what each set says to its filter.

        Raises
        ------
        ValueError
            If X has another shape than (n, D, d), or a number is not finite.
        """
        X = inputs_of(X, self.partition.num_patches, self.dim)
        sets = X[:, torch.from_numpy(self.partition.sets)]  # (n, D, d) -> (n, L, C, d)
        return torch.einsum("nlkd,kd->nl", sets, self.filters.to(X))  # (n, L, C, d), (C, d) -> (n, L)

    def labeling_function(self, X) -> torch.Tensor:
        """f*(X) = sum_l h_l^3, shape (n,)."""
        return (self.set_responses(X) ** 3).sum(dim=1)

    def __repr__(self) -> str:
        return f"GaussianData({self.partition!r}, dim={self.dim})"
