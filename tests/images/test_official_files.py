"""The official files: fetched, resumed, verified, unpacked, and refused by name when damaged."""

import hashlib
import http.server
import io
import pickle
import sys
import tarfile
import threading

import numpy as np
import pytest
from vision_shim import torchvision_or_none

from patch_association.images import official
from patch_association.images.data import load
from patch_association.images.folder import load_imagenet
from patch_association.images.official import Remote, fetch, load_official, prepare, problem


def md5(content):
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


@pytest.fixture
def archive(monkeypatch):
    """A tiny CIFAR-10 of 5 x 4 and 4 pictures in the official form, with its own checksums."""
    g = np.random.default_rng(0)
    files = {}
    for k, name in enumerate([*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]):
        entry = {"data": g.integers(0, 256, (4, 3072), dtype=np.uint8), "labels": [k % 10, 1, 2, 3]}
        files[f"cifar-10-batches-py/{name}"] = pickle.dumps(entry)
    files["cifar-10-batches-py/batches.meta"] = pickle.dumps(
        {"label_names": [f"class {i}" for i in range(10)]}
    )
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    whole = buffer.getvalue()
    checksums = {name: md5(content) for name, content in files.items()}

    def at(url):
        remote = Remote(f"{url}/cifar-10-python.tar.gz", md5(whole), checksums)
        monkeypatch.setitem(official.OFFICIAL, "cifar10", (remote,))
        return remote

    return whole, files, at


class Server(http.server.BaseHTTPRequestHandler):
    """Serves one content with ranges; ``stop_after`` cuts the connection, ``ranges`` may be ignored."""

    content, stop_after, ranges, asked = b"", None, True, []

    def do_GET(self):
        start = 0
        self.asked.append(self.headers.get("Range"))
        if self.ranges and "Range" in self.headers:
            start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
            if start >= len(self.content):
                self.send_error(416)
                return
        self.send_response(206 if start else 200)
        rest = self.content[start:]
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest[: self.stop_after])

    def log_message(self, *args):
        """Quiet."""


@pytest.fixture
def server():
    handler = type("Handler", (Server,), {"asked": []})
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield handler, f"http://127.0.0.1:{httpd.server_address[1]}"
    httpd.shutdown()
    httpd.server_close()
    thread.join()


@pytest.mark.parametrize("ranges", [True, False])
def test_a_download_goes_on_where_it_stopped(server, tmp_path, ranges):
    handler, url = server
    handler.content, handler.stop_after, handler.ranges = bytes(range(256)) * 40, 3000, ranges
    path, part = tmp_path / "file.bin", tmp_path / "file.bin.part"
    with pytest.raises(ValueError, match=r"stopped: .*; 3000 bytes are kept in .*file.bin.part"):
        fetch(f"{url}/file.bin", path, md5(handler.content))
    assert not path.exists() and part.stat().st_size == 3000
    handler.stop_after = None
    fetch(f"{url}/file.bin", path, md5(handler.content))
    assert path.read_bytes() == handler.content and not part.exists()
    assert handler.asked == [None, "bytes=3000-"]


def test_a_wrong_download_is_removed(server, tmp_path):
    handler, url = server
    handler.content = b"not what it should be"
    with pytest.raises(
        ValueError, match="file.bin.part is truncated or altered: expected md5 .*; it was removed"
    ):
        fetch(f"{url}/file.bin", tmp_path / "file.bin", md5(b"what it should be"))
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_is_whole_already_is_taken(server, tmp_path):
    handler, url = server
    handler.content = b"all of it"
    (tmp_path / "file.bin.part").write_bytes(b"all of it")
    fetch(f"{url}/file.bin", tmp_path / "file.bin", md5(b"all of it"))
    assert (tmp_path / "file.bin").read_bytes() == b"all of it"


def test_official_files_are_fetched_unpacked_and_verified(server, archive, tmp_path):
    handler, url = server
    whole, files, at = archive
    handler.content = whole
    at(url)
    with pytest.raises(ValueError, match="data_batch_1 is missing; fetch .* or set download=true"):
        prepare("cifar10", tmp_path)
    prepare("cifar10", tmp_path, download=True)
    asked = len(handler.asked)
    prepare("cifar10", tmp_path, download=True)
    assert len(handler.asked) == asked  # nothing is fetched twice
    victim = tmp_path / "cifar-10-batches-py" / "data_batch_3"
    (tmp_path / "cifar-10-python.tar.gz").unlink()
    for damage in (lambda b: b[:-7], lambda b: b[:-1] + b"x"):
        victim.write_bytes(damage(files["cifar-10-batches-py/data_batch_3"]))
        with pytest.raises(ValueError, match="data_batch_3 is truncated or altered: expected md5"):
            prepare("cifar10", tmp_path)


def test_a_truncated_archive_is_refused_by_name(archive, tmp_path):
    whole, _, at = archive
    at("http://127.0.0.1:9")
    (tmp_path / "cifar-10-python.tar.gz").write_bytes(whole[:-10])
    with pytest.raises(ValueError, match="cifar-10-python.tar.gz is truncated or altered"):
        prepare("cifar10", tmp_path)


def test_official_files_are_read_by_torchvision_or_the_extra_is_named(archive, tmp_path, monkeypatch):
    whole, files, at = archive
    at("http://127.0.0.1:9")
    (tmp_path / "cifar-10-python.tar.gz").write_bytes(whole)
    if torchvision_or_none() is None:
        with pytest.raises(
            ValueError, match=r"reading cifar10 needs torchvision.*patch-association\[vision\]"
        ):
            load_official("cifar10", tmp_path)
        return
    from torchvision.datasets import CIFAR10, CIFAR100, SVHN

    real = {
        f"{CIFAR10.base_folder}/{name}": checksum for name, checksum in CIFAR10.train_list + CIFAR10.test_list
    }
    monkeypatch.undo()
    ours = {name: r.files for name, remotes in official.OFFICIAL.items() for r in remotes if r.is_archive}
    assert (
        real.items() <= ours["cifar10"].items()
        and ours["cifar10"][f"{CIFAR10.base_folder}/batches.meta"] == CIFAR10.meta["md5"]
    )
    assert {
        f"{CIFAR100.base_folder}/{n}": c for n, c in CIFAR100.train_list + CIFAR100.test_list
    }.items() <= ours["cifar100"].items()
    assert [(r.url, r.md5) for r in official.OFFICIAL["svhn"]] == [
        (SVHN.split_list[s][0], SVHN.split_list[s][2]) for s in ("train", "test")
    ]
    at("http://127.0.0.1:9")
    lists = [[n.rpartition("/")[2], md5(c)] for n, c in files.items()]
    monkeypatch.setattr(CIFAR10, "train_list", lists[:5])
    monkeypatch.setattr(CIFAR10, "test_list", lists[5:6])
    monkeypatch.setattr(CIFAR10, "meta", CIFAR10.meta | {"md5": lists[6][1]})
    data = load_official("cifar10", tmp_path)
    first = pickle.loads(files["cifar-10-batches-py/data_batch_1"])
    assert np.array_equal(data.train_images[:4].reshape(4, -1).numpy(), first["data"])
    assert (
        data.train_labels[:4].tolist() == [0, 1, 2, 3]
        and len(data.test_labels) == 4
        and data.classes[0] == "class 0"
    )


def test_without_torchvision_the_extra_is_named(monkeypatch, tmp_path):
    for module in ("torchvision", "torchvision.datasets"):
        monkeypatch.setitem(sys.modules, module, None)
    for call in (lambda: load("cifar100", tmp_path), lambda: load_imagenet(tmp_path)):
        with pytest.raises(ValueError, match=r"needs torchvision.*pip install 'patch-association\[vision\]'"):
            call()
    assert problem(tmp_path / "none", "") == f"{tmp_path / 'none'} is missing"
