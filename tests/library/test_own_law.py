"""Laws, inputs and labels of one's own: honored in every precision, in training and on held-out inputs."""

import re

import numpy as np
import pytest
import torch

import patch_association as pa
from patch_association.training import idealized_start
from patch_lab.transfer.block_attention import BlockAttention
from patch_lab.transfer.fine_tuning import draw_reads

SETS = pa.Partition.blocks(4, 4, 2, 2)


class Own:
    """NumPy arrays, nothing inherited: labels decided by the sum of all patches along the feature."""

    partition, dim, feature = SETS, 3, np.array([0.6, 0.8, 0.0])

    def sample(self, n, seed=0):
        X = np.random.RandomState(seed).standard_normal((n, 16, 3))  # takes seeds of 32 bits
        return X, np.where((X @ self.feature).sum(axis=1) > 0, 1, -1)


class Doubled(pa.SpatialData):
    """Assumption 1 with every input doubled, as a class that changes ``sample``."""

    def sample(self, n, seed=0, dtype=torch.float64, device=None):
        X, y = super().sample(n, seed, dtype, device)
        return 2 * X, y


def answers(run, inputs):
    """F(X) by the model itself."""
    model = pa.SimplifiedViT(16, inputs.shape[-1])
    with torch.no_grad():
        model.scores.copy_(run.final.scores[0])
        model.value.copy_(run.final.value[0])
        return model(inputs)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("law", [Own(), Doubled(SETS, 3, 0.3)], ids=["own", "derived"])
def test_inputs_come_from_the_laws_own_sample_in_every_precision(law, dtype, monkeypatch):
    """The very draws, cast, the first the same for every number; and the error of the model itself."""
    drawn, real = [], law.sample
    monkeypatch.setattr(law, "sample", lambda n, seed: drawn.append(real(n, seed)) or drawn[-1])
    samples = pa.Samples.draw(law, 600, [4], dtype=dtype)
    whole = np.concatenate([np.asarray(X) for X, _ in drawn])[:600]
    assert samples.dtype == dtype and np.array_equal(samples.X[0], whole.astype(samples.X.numpy().dtype))
    assert torch.equal(pa.Samples.draw(law, 200, [4], dtype=dtype).X, samples.X[:, :200])
    test = pa.HeldOut(law, 300, seed=9)
    X, y = (torch.as_tensor(part, dtype=torch.float64) for part in drawn[-1])
    assert torch.equal(test.X, X)
    run = pa.descend(samples, pa.realistic_start(law, [0]), pa.Constant(0.01), steps=3, test=test)
    wrong = ((answers(run, X) * y) < 0).double().mean()
    assert run.test_error[-1, 0] == pytest.approx(float(wrong), abs=1 / 300)
    again = pa.descend(samples, pa.realistic_start(law, [0]), pa.Constant(0.01), steps=3, test=(X, y))
    assert np.array_equal(again.test_error, run.test_error)


def test_arrays_of_every_shape_are_the_same_run():
    X, y = Own().sample(50)
    forms = [
        (X, y),
        (torch.from_numpy(X), torch.from_numpy(y)),
        (X[None], y[None].astype(float)),
        (X, list(y)),
    ]
    runs = [
        pa.descend(pa.Samples(Own(), *form), pa.realistic_start(Own(), [0]), pa.Constant(0.01), steps=2)
        for form in forms
    ]
    assert all(np.array_equal(run.loss, runs[0].loss) for run in runs)
    assert pa.Samples(Own(), X.astype(np.float32), y).dtype == torch.float32
    assert pa.Samples(Own(), np.stack([X, X]), np.stack([y, -y])).seeds == (0, 1)


def test_sets_alone_are_enough_for_inputs_at_hand():
    samples = pa.Samples(SETS, *Own().sample(50))
    run = pa.descend(samples, pa.realistic_start(samples.law, [0]), pa.Constant(0.01), steps=2)
    assert np.isnan(run.alpha).all() and np.isnan(run.cosine).all() and np.isfinite(run.recall).all()
    with pytest.raises(ValueError, match="law must have a feature, along which v starts"):
        idealized_start(samples.law)
    with pytest.raises(ValueError, match=r"no law is known of these inputs: .* HeldOut.of"):
        pa.HeldOut(samples.law, 10)


def without(name):
    law = type("Mine", (), {key: value for key, value in vars(Own).items() if key != name})
    return law()


def changed(**how):
    return type("Mine", (Own,), how)()


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (without("partition"), "Mine lacks partition"),
        (Own, "law must be an object, got the class Own: call it, Own(...)"),
        ([0, 1], "law must be a Law or a Partition, got list: Partition(labels) makes sets"),
        (without("sample"), "with partition, dim, feature and sample(n, seed): Mine lacks sample"),
        (changed(partition=[0, 1]), "must have a Partition as partition and a method as sample, got list"),
        (changed(dim=2.5), "the law's dim must be an integer"),
        (changed(sample=lambda self, n, seed: np.zeros(n)), "Mine.sample must give inputs and labels, got"),
        (
            changed(sample=lambda self, n, seed: (np.zeros((n, 4, 3)), np.ones(n))),
            "must give 500 inputs of shape (500, 16, 3), got (500, 4, 3): the inputs of a run are drawn",
        ),
        (
            changed(sample=lambda self, n, seed: (np.zeros((n, 16, 3)), np.arange(n) % 2)),
            "y must hold labels -1 and +1 only (2 * y - 1 makes them of 0 and 1)",
        ),
        (
            changed(sample=lambda self, n, seed: (np.full((n, 16, 3), np.nan), np.ones(n))),
            "X must be finite, got 24000 NaN or infinite entries",
        ),
    ],
)
def test_what_is_missing_is_said(law, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        pa.Samples.draw(law, 100, [0])


def test_what_reads_coefficients_alone_refuses_other_laws():
    with pytest.raises(ValueError, match="as Assumption 1 says: Doubled has a sample of its own"):
        draw_reads(Doubled(SETS, 3, 0.3), BlockAttention.uniform(SETS), 10, [0])
    with pytest.raises(ValueError, match="as Assumption 1 says: got Own"):
        pa.HeldOut(Own(), 10).errors(torch.eye(16)[None], [1.0], [0.0])
    samples = pa.Samples(Own(), *Own().sample(20))
    with pytest.raises(ValueError, match=r"test must have the samples' \(D, d\) = \(16, 3\), got \(4, 3\)"):
        pa.descend(samples, pa.realistic_start(Own(), [0]), pa.Constant(0.01), steps=1,
                   test=(np.zeros((5, 4, 3)), np.ones(5)))  # fmt: skip
