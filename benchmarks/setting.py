"""What the part on the setting times."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from timing import close, compare, estimates

from patch_association.data import SpatialData
from patch_association.exact.linear import linear_error
from patch_association.model import SimplifiedViT, polynomial_activation
from patch_association.structure import Partition


def bench_linear_error() -> Iterator[dict]:
    """The exact error of the symmetric sum against sampling it to a standard error of 1% of its value."""
    D, C, q = 1024, 16, 0.3
    exact = linear_error(D, C, q)
    draws = int((1 - exact) / exact / 0.01**2)
    partition = Partition.random(D, C)
    data = SpatialData(partition, dim=2, q=q)

    def sampled():
        errors = 0
        chunk = 2000
        for start in range(0, draws, chunk):
            s, y, _ = data.sample_coefficients(chunk, seed=start)
            errors += int((y * s.sum(axis=1) <= 0).sum())
        return errors / (chunk * -(-draws // chunk))

    yield compare(
        f"exact linear error at D={D}, C={C}",
        lambda: linear_error(D, C, q),
        sampled,
        f"{draws} draws, for a standard error of 1%",
        estimates(draws),
        rounds=5,
    )


def bench_simplified_vit() -> Iterator[dict]:
    """Model (T) with the value vector applied first against the order in which (T) is written."""
    model = SimplifiedViT(64, 64, init_std=0.1)
    X = torch.from_numpy(np.random.default_rng(0).standard_normal((512, 64, 64)))

    def as_written():
        z = 64 * (model.attention() @ X) @ model.value
        return polynomial_activation(z, 3, 0.01).sum(dim=1)

    yield compare(
        "model (T), D = d = 64, 512 inputs",
        lambda: model(X),
        as_written,
        "(S X) v, as it is written",
        close(1e-9),
    )
