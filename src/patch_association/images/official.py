"""The official files of CIFAR-10, CIFAR-100 and SVHN: fetched, verified, and read by torchvision."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from patch_association.images.data import ImageSet
from patch_association.images.extras import imported

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Remote:
    """A file to fetch, and the verified files that it holds (itself, when it is no archive)."""

    url: str
    md5: str
    files: dict[str, str]

    @property
    def name(self) -> str:
        return self.url.rpartition("/")[2]

    @property
    def is_archive(self) -> bool:
        return self.name.endswith(".tar.gz")


_CIFAR = "https://www.cs.toronto.edu/~kriz"
_HOUSES = "http://ufldl.stanford.edu/housenumbers"
OFFICIAL: dict[str, tuple[Remote, ...]] = {
    "cifar10": (
        Remote(
            f"{_CIFAR}/cifar-10-python.tar.gz",
            "c58f30108f718f92721af3b95e74349a",
            {
                "cifar-10-batches-py/data_batch_1": "c99cafc152244af753f735de768cd75f",
                "cifar-10-batches-py/data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
                "cifar-10-batches-py/data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
                "cifar-10-batches-py/data_batch_4": "634d18415352ddfa80567beed471001a",
                "cifar-10-batches-py/data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
                "cifar-10-batches-py/test_batch": "40351d587109b95175f43aff81a1287e",
                "cifar-10-batches-py/batches.meta": "5ff9c542aee3614f3951f8cda6e48888",
            },
        ),
    ),
    "cifar100": (
        Remote(
            f"{_CIFAR}/cifar-100-python.tar.gz",
            "eb9058c3a382ffc7106e4002c42a8d85",
            {
                "cifar-100-python/train": "16019d7e3df5f24257cddd939b257f8d",
                "cifar-100-python/test": "f0ef6b0ae62326f3e7ffdfab6717acfc",
                "cifar-100-python/meta": "7973b15100ade9c7d40fb424638fde48",
            },
        ),
    ),
    "svhn": tuple(
        Remote(f"{_HOUSES}/{name}", md5, {name: md5})
        for name, md5 in (
            ("train_32x32.mat", "e26dedcc434d2e4c54c9b2d4a06d8373"),
            ("test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3"),
        )
    ),
}


def load_official(name: str, root, download: bool = False) -> ImageSet:
    """Verify the official files of ``name`` in ``root`` and read them.

    Raises
    ------
    ValueError
        If torchvision is missing, or a file is missing, truncated or altered.
    """
    datasets = torchvision_part("datasets", f"reading {name}")
    root = Path(root)
    prepare(name, root, download)
    if name == "svhn":
        splits = [datasets.SVHN(str(root), split=split) for split in ("train", "test")]
        arrays = [(np.asarray(split.data), np.asarray(split.labels)) for split in splits]
        classes = tuple(map(str, range(10)))
    else:
        kind = {"cifar10": datasets.CIFAR10, "cifar100": datasets.CIFAR100}[name]
        splits = [kind(str(root), train=train) for train in (True, False)]
        arrays = [(split.data.transpose(0, 3, 1, 2), np.asarray(split.targets)) for split in splits]
        classes = tuple(splits[0].classes)
    tensors = [torch.from_numpy(np.ascontiguousarray(a)) for pair in arrays for a in pair]
    return ImageSet(
        name, f"official {name} files", classes, *(t if t.ndim == 4 else t.long() for t in tensors)
    )


def torchvision_part(part: str, purpose: str):
    """``torchvision.<part>``, or an error that names the extra when it is missing or cannot be loaded."""
    return imported(f"torchvision.{part}", purpose, "vision")


def prepare(name: str, root, download: bool = False) -> None:
    """Make sure that all files of ``name`` lie whole in ``root``, fetching and unpacking where asked.

    Raises
    ------
    ValueError
        If a file is missing (and ``download`` is off), truncated or altered; the message names it.
    """
    root = Path(root)
    for remote in OFFICIAL[name]:
        problems = [p for file, md5 in remote.files.items() if (p := problem(root / file, md5))]
        if not problems:
            continue
        archive = root / remote.name
        if download and problem(archive, remote.md5):
            fetch(remote.url, archive, remote.md5)
        if remote.is_archive and archive.is_file():
            if reason := problem(archive, remote.md5):
                raise ValueError(reason)
            _unpack(archive, root)
        for file, md5 in remote.files.items():
            if reason := problem(root / file, md5):
                raise ValueError(f"{reason}; fetch {remote.url} into {root}, or set download=true")


def problem(path: Path, md5: str) -> str | None:
    """What is wrong with a file, in words that name it; None when its checksum is right."""
    if not path.is_file():
        return f"{path} is missing"
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(_CHUNK):
            digest.update(block)
    if digest.hexdigest() != md5:
        return (
            f"{path} is truncated or altered: expected md5 {md5}, got {digest.hexdigest()} "
            f"({path.stat().st_size} bytes)"
        )
    return None


def fetch(url: str, path, md5: str, timeout: float = 60.0) -> None:
    """Download ``url`` to ``path``, going on with a partial download, and keep it if its checksum is right.

    Until then the bytes wait in ``path`` + ".part". One that is complete but wrong is removed.

    Raises
    ------
    ValueError
        If the download stops (the part is kept: the next call goes on from there), or the whole
        file has another checksum (the part is removed).
    """
    path = Path(path)
    part = path.with_name(path.name + ".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    have = part.stat().st_size if part.is_file() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            # 206: the server sends the rest; 200: it sends everything from the start.
            with part.open("ab" if answer.status == 206 else "wb") as file:
                shutil.copyfileobj(answer, file, _CHUNK)
                expected = answer.headers.get("Content-Length")
                start = have if answer.status == 206 else 0
                if expected is not None and file.tell() - start < int(expected):
                    raise ConnectionError(f"it ended after {file.tell()} of {start + int(expected)} bytes")
    except urllib.error.HTTPError as error:
        if error.code != 416:  # 416: nothing is left to send, the part is whole already
            raise ValueError(f"could not download {url}: {error}") from error
    except OSError as error:
        kept = part.stat().st_size if part.is_file() else 0
        raise ValueError(
            f"the download of {url} stopped: {error}; {kept} bytes are kept in {part}, "
            "the next try goes on from there"
        ) from error
    if reason := problem(part, md5):
        part.unlink()
        raise ValueError(f"{reason}; it was removed, try again")
    os.replace(part, path)


def _unpack(archive: Path, root: Path) -> None:
    # Archives are unpacked only with the right checksum; the filter exists from Python 3.10.12 and 3.11.4 on.
    options = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(root, **options)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise ValueError(f"could not unpack {archive} into {root}: {error}") from error
