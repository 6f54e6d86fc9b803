"""The official files: fetched, verified, read without unpacking, and refused by name when damaged."""

import hashlib
import io
import tarfile

import numpy as np
import pytest
from scipy.io import savemat

from patch_lab.images.data import load, official
from patch_lab.images.data.official import OFFICIAL

G = np.random.default_rng(0)
PIXELS = {k: G.integers(0, 256, (4, 3, 32, 32), dtype=np.uint8) for k in range(6)}


def sha(content):
    return hashlib.sha256(content).hexdigest()


def archive(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def rows(pixels, *labels):
    """Records of the binary form: labels, then the three planes of a picture."""
    return np.concatenate(
        [*(np.array(y, np.uint8)[:, None] for y in labels), pixels.reshape(4, -1)], 1
    ).tobytes()


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Small files in the official forms, with their own checksums, at an address where nobody answers."""
    names = "\n".join(f"class{k}" for k in range(10)).encode() + b"\n"
    ten = {f"cifar-10-batches-bin/data_batch_{k}.bin": rows(PIXELS[k], [k, 1, 2, 3]) for k in range(1, 6)}
    ten |= {"cifar-10-batches-bin/test_batch.bin": rows(PIXELS[0], [9, 8, 7, 6])}
    ten |= {"cifar-10-batches-bin/batches.meta.txt": names}
    hundred = {
        "cifar-100-binary/train.bin": rows(PIXELS[1], [0, 0, 1, 1], [5, 6, 7, 8]),
        "cifar-100-binary/test.bin": rows(PIXELS[2], [1, 1, 0, 0], [8, 7, 6, 5]),
        "cifar-100-binary/fine_label_names.txt": names,
    }
    houses = []
    for k in (1, 2):
        buffer = io.BytesIO()
        savemat(
            buffer, {"X": PIXELS[k].transpose(2, 3, 1, 0), "y": np.array([[1], [10], [3], [9]], np.uint8)}
        )
        houses.append(buffer.getvalue())
    contents = {"cifar10": [archive(ten)], "cifar100": [archive(hundred)], "svhn": houses}
    for name, files in contents.items():
        for url, content in zip(OFFICIAL[name], files):
            (tmp_path / url.rpartition("/")[2]).write_bytes(content)
        checksums = {url: sha(content) for url, content in zip(OFFICIAL[name], files)}
        monkeypatch.setitem(official.OFFICIAL, name, checksums)
    return tmp_path


def test_cifar10_is_read_from_its_archive(small):
    data = load("cifar10", small)
    assert np.array_equal(data.train_images.numpy(), np.concatenate([PIXELS[k] for k in range(1, 6)]))
    assert data.train_labels.tolist()[:8] == [1, 1, 2, 3, 2, 1, 2, 3]
    assert np.array_equal(data.test_images.numpy(), PIXELS[0]) and data.test_labels.tolist() == [9, 8, 7, 6]
    assert data.classes == tuple(f"class{k}" for k in range(10)) and data.origin == "official cifar10 files"
    assert len(load("cifar10", small, train_size=3).train_labels) == 3
