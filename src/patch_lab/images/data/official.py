"""The official files of CIFAR-10, CIFAR-100 and SVHN: fetched by PyTorch, verified, and read as they are.

CIFAR comes in a binary form beside the pickled one: it is read from its archive, nothing is unpacked
and nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import numpy as np
import torch

from patch_lab.images.data.sets import ImageSet

_CIFAR = "https://www.cs.toronto.edu/~kriz"
_HOUSES = "http://ufldl.stanford.edu/housenumbers"
#: name: {address: sha256}
OFFICIAL: dict[str, dict[str, str]] = {
    "cifar10": {
        f"{_CIFAR}/cifar-10-binary.tar.gz": "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
    },
    "cifar100": {
        f"{_CIFAR}/cifar-100-binary.tar.gz": (
            "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"
        ),
    },
    "svhn": {
        f"{_HOUSES}/train_32x32.mat": "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
        f"{_HOUSES}/test_32x32.mat": "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
    },
}
_BATCHES = {
    "cifar10": ("cifar-10-batches-bin", [f"data_batch_{k}.bin" for k in range(1, 6)], ["test_batch.bin"]),
    "cifar100": ("cifar-100-binary", ["train.bin"], ["test.bin"]),
}
_NAMES = {"cifar10": "batches.meta.txt", "cifar100": "fine_label_names.txt"}


def load_official(name: str, root, download: bool = False) -> ImageSet:
    """Verify the official files of ``name`` in ``root``, fetching what is missing where asked, and read them.

    Raises
    ------
    ValueError
        If a file is missing (and ``download`` is off), truncated or altered; the message names it.
    """
    files = [verified(Path(root), url, sha, download) for url, sha in OFFICIAL[name].items()]
    if name == "svhn":
        from scipy.io import loadmat

        arrays = []
        for content in files:
            split = loadmat(io.BytesIO(content))
            # (32, 32, 3, n) -> (n, 3, 32, 32); the digit 0 has the label 10
            arrays += [split["X"].transpose(3, 2, 0, 1), split["y"].ravel() % 10]
        classes = tuple(map(str, range(10)))
    else:
        folder, train, test = _BATCHES[name]
        with tarfile.open(fileobj=io.BytesIO(files[0])) as tar:
            held = {m.name.removeprefix("./"): file.read() for m in tar if (file := tar.extractfile(m))}
        arrays = []
        for batches in (train, test):
            content = b"".join(held[f"{folder}/{batch}"] for batch in batches)
            # A row is one label (CIFAR-100: the coarse one, then the fine one) and 3 x 32 x 32 bytes.
            rows = np.frombuffer(content, np.uint8).reshape(-1, 3072 + (2 if name == "cifar100" else 1))
            arrays += [rows[:, -3072:].reshape(-1, 3, 32, 32), rows[:, -3073]]
        classes = tuple(held[f"{folder}/{_NAMES[name]}"].decode().split())
    tensors = [torch.from_numpy(np.ascontiguousarray(a)) for a in arrays]
    return ImageSet(
        name, f"official {name} files", classes, *(t if t.ndim == 4 else t.long() for t in tensors)
    )


def verified(root: Path, url: str, sha256: str, download: bool = False) -> bytes:
    """The content of the file behind ``url`` in ``root``, once its checksum is right."""
    path = root / url.rpartition("/")[2]
    if download and not path.is_file():
        try:
            root.mkdir(parents=True, exist_ok=True)
            torch.hub.download_url_to_file(url, str(path), hash_prefix=sha256, progress=False)
        except (OSError, RuntimeError) as error:  # no network, no room, another checksum: nothing is kept
            raise ValueError(f"could not download {url}: {error}") from error
    if not path.is_file():
        raise ValueError(f"{path} is missing: fetch {url} into {root}, or set download=true")
    content = path.read_bytes()
    if (digest := hashlib.sha256(content).hexdigest()) != sha256:
        raise ValueError(
            f"{path} is truncated or altered: expected sha256 {sha256}, got {digest} ({len(content)} bytes)"
        )
    return content
