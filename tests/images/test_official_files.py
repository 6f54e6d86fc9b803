"""The official files: fetched, verified, read without unpacking, and refused by name when damaged."""

import hashlib
import io
import tarfile

import numpy as np

from patch_lab.images.data import load, official

G = np.random.default_rng(0)
PIXELS = {k: G.integers(0, 256, (4, 3, 32, 32), dtype=np.uint8) for k in range(6)}


def archive(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def rows(pixels, labels):
    """Records of the binary form: a label, then the three planes of a picture."""
    return np.concatenate([np.array(labels, np.uint8)[:, None], pixels.reshape(4, -1)], 1).tobytes()


def test_cifar10_is_read_from_its_archive(tmp_path, monkeypatch):
    """A small file in the official form, with its own checksum, at an address where nobody answers."""
    names = "\n".join(f"class{k}" for k in range(10)).encode() + b"\n"
    ten = {f"cifar-10-batches-bin/data_batch_{k}.bin": rows(PIXELS[k], [k, 1, 2, 3]) for k in range(1, 6)}
    ten |= {"cifar-10-batches-bin/test_batch.bin": rows(PIXELS[0], [9, 8, 7, 6])}
    content = archive(ten | {"cifar-10-batches-bin/batches.meta.txt": names})
    (url,) = official.OFFICIAL["cifar10"]
    (tmp_path / url.rpartition("/")[2]).write_bytes(content)
    monkeypatch.setitem(official.OFFICIAL, "cifar10", {url: hashlib.sha256(content).hexdigest()})
    data = load("cifar10", tmp_path)
    assert np.array_equal(data.train_images.numpy(), np.concatenate([PIXELS[k] for k in range(1, 6)]))
    assert data.train_labels.tolist()[:8] == [1, 1, 2, 3, 2, 1, 2, 3]
    assert np.array_equal(data.test_images.numpy(), PIXELS[0]) and data.test_labels.tolist() == [9, 8, 7, 6]
    assert data.classes == tuple(f"class{k}" for k in range(10)) and data.origin == "official cifar10 files"
    assert len(load("cifar10", tmp_path, train_size=3).train_labels) == 3
