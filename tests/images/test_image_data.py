"""Data sets: embedded, packed, official files and folders; damaged files are refused by name."""

import hashlib
import http.server
import io
import pickle
import tarfile
import threading

import numpy as np
import pytest
import torch
from PIL import Image
from vision_shim import torchvision_or_none

from patch_association.images import embedded, official
from patch_association.images.data import ENVIRONMENT, ImageSet, data_root, interleaved, load
from patch_association.images.folder import Pictures, load_folder, load_imagenet
from patch_association.images.official import Remote, fetch, load_official, prepare, problem


@pytest.mark.parametrize(("name", "classes", "shape"), [("photographs", 7, (3, 32, 32)), ("digits", 10, (1, 8, 8))])
def test_embedded_sets(name, classes, shape):
    data = load(name)
    assert len(data.classes) == classes and tuple(data.train_images.shape[1:]) == shape
    # Prefixes are balanced: the classes take turns.
    assert data.train_labels[: 20 * classes].bincount().tolist() == [20] * classes
    assert data.digest() == load(name).digest()
    assert all(label for label in data.classes)


def test_test_windows_come_from_parts_that_training_never_saw():
    """No row of pixels with some contrast occurs in windows of both splits (black ones of the night sky may)."""
    data = embedded.photographs()
    rows = []
    for images in (data.train_images, data.test_images):
        lines = images.permute(0, 2, 3, 1).flatten(0, 1).numpy()  # (n, 3, H, W) -> (n H, W, 3)
        lines = lines[lines.reshape(len(lines), -1).std(axis=1) > 30]
        rows.append({line.tobytes() for line in lines})
    assert min(map(len, rows)) > 1000 and not rows[0] & rows[1]


def tiny(**changes):
    x, y = torch.zeros(6, 3, 4, 4, dtype=torch.uint8), torch.tensor([0, 1] * 3)
    return ImageSet(**(dict(name="tiny", origin="made up", classes=("a", "b"), train_images=x, train_labels=y,
                            test_images=x, test_labels=y) | changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (dict(train_images=torch.zeros(6, 3, 4, 4)), "train images must be uint8"),
        (dict(test_images=torch.zeros(6, 3, 4, 5, dtype=torch.uint8)), r"test images must be uint8 of shape \(n, c, H, H\)"),
        (dict(test_images=torch.zeros(6, 1, 4, 4, dtype=torch.uint8)), "must have one shape"),
        (dict(train_labels=torch.tensor([0, 2] * 3)), r"train labels must lie in 0..1, got 0..2"),
        (dict(test_labels=torch.tensor([0])), "test labels must be 6 int64 numbers"),
    ],
)
def test_sets_that_do_not_fit(changes, words):
    with pytest.raises(ValueError, match=words):
        tiny(**changes)


def test_statistics_are_exact():
    x = torch.randint(256, (50, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    mean, std = tiny(train_images=x, train_labels=torch.zeros(50, dtype=torch.int64),
                     test_images=x, test_labels=torch.zeros(50, dtype=torch.int64)).statistics()
    y = x.double() / 255
    torch.testing.assert_close(mean.double(), y.mean(dim=(0, 2, 3)), atol=1e-7, rtol=0)
    torch.testing.assert_close(std.double(), y.std(dim=(0, 2, 3), correction=0), atol=1e-7, rtol=0)


def test_validation_pictures_are_no_training_pictures():
    train, val = load("digits").validation_split(100, seed=1)
    assert len(val) == 100 and sorted([*train.tolist(), *val.tolist()]) == list(range(1437))
    assert not torch.equal(val, load("digits").validation_split(100, seed=2)[1])
    with pytest.raises(ValueError, match="must leave pictures to train on, got 6 of 6"):
        tiny().validation_split(6)


def test_interleaving_keeps_pairs():
    labels = np.array([2, 0, 0, 1, 2, 1])
    images = labels[:, None, None, None] * np.ones((6, 2, 2, 1), dtype=np.uint8)
    x, y = interleaved(images.astype(np.uint8), labels)
    assert y.tolist() == [0, 1, 2, 0, 1, 2] and x[:, 0, 0, 0].tolist() == y.tolist()


def test_names_sizes_and_roots(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="there is no data set 'mnist'; there are photographs, digits, cifar10"):
        load("mnist")
    with pytest.raises(ValueError, match="train_size must be at most 1437 for digits, got 9999"):
        load("digits", train_size=9999)
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))
    assert data_root() == tmp_path and data_root("elsewhere").name == "elsewhere"
    monkeypatch.delenv(ENVIRONMENT)
    assert data_root().name == "patch-association"


def jpeg_parts(n):
    """n small pictures as JPEGs that share one header, and the pixels that they decode to."""
    g = np.random.default_rng(0)
    blobs = []
    for _ in range(n):
        buffer = io.BytesIO()
        picture = Image.fromarray(g.integers(0, 256, (4, 4, 3), dtype=np.uint8)).resize((32, 32))
        picture.save(buffer, "JPEG", quality=90)
        blobs.append(buffer.getvalue())
    start = blobs[0].index(b"\xff\xda") + 14  # where the scan begins: after its 14-byte header
    assert all(b[:start] == blobs[0][:start] and b.endswith(b"\xff\xd9") for b in blobs)
    pixels = np.stack([np.asarray(Image.open(io.BytesIO(b))) for b in blobs])
    return blobs[0][:start], [b[start:-2] for b in blobs], pixels


@pytest.fixture
def packed(tmp_path):
    header, scans, pixels = jpeg_parts(12)
    arrays = dict(header=np.frombuffer(header, np.uint8), scan=np.frombuffer(b"".join(scans), np.uint8),
                  length=np.array([len(s) for s in scans], np.uint16), label=np.arange(12, dtype=np.uint8) % 10,
                  n_train=np.int64(8))
    path = tmp_path / "packed.npz"
    np.savez(path, **arrays)
    return path, arrays, pixels


def test_the_packed_file(packed, monkeypatch):
    path, _, pixels = packed
    monkeypatch.setenv(ENVIRONMENT, str(path))
    data = load("cifar10")
    assert (len(data.train_labels), len(data.test_labels)) == (8, 4)
    assert np.array_equal(data.train_images.permute(0, 2, 3, 1).numpy(), pixels[:8])
    assert np.array_equal(data.test_images.permute(0, 2, 3, 1).numpy(), pixels[8:])
    assert data.test_labels.tolist() == [8, 9, 0, 1] and "JPEG re-encoded" in data.origin
    few = load("cifar10", train_size=3, test_size=2)
    assert torch.equal(few.train_images, data.train_images[:3]) and torch.equal(few.test_images, data.test_images[:2])
    with pytest.raises(ValueError, match="train_size must lie in 1..8 for packed.npz, got 9"):
        load("cifar10", train_size=9)
    with pytest.raises(ValueError, match=r"packed.npz is a packed CIFAR-10 file, and svhn was asked for"):
        load("svhn")


@pytest.mark.parametrize("where", [0.2, 0.6, 0.99])
def test_a_truncated_packed_file_is_refused_by_name(packed, where):
    path, *_ = packed
    content = path.read_bytes()
    path.write_bytes(content[: int(where * len(content))])
    with pytest.raises(ValueError, match="packed.npz is not a whole packed CIFAR-10 file"):
        load("cifar10", path)


def test_an_altered_packed_file_is_refused_by_name(packed):
    path, arrays, _ = packed
    content = bytearray(path.read_bytes())
    content[content.index(arrays["scan"].tobytes()) + 5] ^= 255
    path.write_bytes(content)
    with pytest.raises(ValueError, match="packed.npz is not a whole packed CIFAR-10 file.*CRC"):
        load("cifar10", path)
    np.savez(path, **(arrays | {"label": arrays["label"][:-1]}))
    with pytest.raises(ValueError, match="packed.npz contradicts itself: 11 labels, 12 lengths"):
        load("cifar10", path)
    np.savez(path, **(arrays | {"header": arrays["header"][:40]}))
    with pytest.raises(ValueError, match="packed.npz: picture 0 cannot be decoded"):
        load("cifar10", path)


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
    files["cifar-10-batches-py/batches.meta"] = pickle.dumps({"label_names": [f"class {i}" for i in range(10)]})
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
    with pytest.raises(ValueError, match="file.bin.part is truncated or altered: expected md5 .*; it was removed"):
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
        with pytest.raises(ValueError, match=r"reading cifar10 needs torchvision.*patch-association\[vision\]"):
            load_official("cifar10", tmp_path)
        return
    from torchvision.datasets import CIFAR10, CIFAR100, SVHN

    real = {f"{CIFAR10.base_folder}/{name}": checksum for name, checksum in CIFAR10.train_list + CIFAR10.test_list}
    monkeypatch.undo()
    ours = {name: r.files for name, remotes in official.OFFICIAL.items() for r in remotes if r.is_archive}
    assert real.items() <= ours["cifar10"].items() and ours["cifar10"][f"{CIFAR10.base_folder}/batches.meta"] == CIFAR10.meta["md5"]
    assert {f"{CIFAR100.base_folder}/{n}": c for n, c in CIFAR100.train_list + CIFAR100.test_list}.items() <= ours["cifar100"].items()
    assert [(r.url, r.md5) for r in official.OFFICIAL["svhn"]] == [(SVHN.split_list[s][0], SVHN.split_list[s][2]) for s in ("train", "test")]
    at("http://127.0.0.1:9")
    lists = [[n.rpartition("/")[2], md5(c)] for n, c in files.items()]
    monkeypatch.setattr(CIFAR10, "train_list", lists[:5])
    monkeypatch.setattr(CIFAR10, "test_list", lists[5:6])
    monkeypatch.setattr(CIFAR10, "meta", CIFAR10.meta | {"md5": lists[6][1]})
    data = load_official("cifar10", tmp_path)
    first = pickle.loads(files["cifar-10-batches-py/data_batch_1"])
    assert np.array_equal(data.train_images[:4].reshape(4, -1).numpy(), first["data"])
    assert data.train_labels[:4].tolist() == [0, 1, 2, 3] and len(data.test_labels) == 4 and data.classes[0] == "class 0"


def test_without_torchvision_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "torchvision", None)
    for call in (lambda: load("cifar100", tmp_path), lambda: load_imagenet(tmp_path)):
        with pytest.raises(ValueError, match=r"needs torchvision.*pip install 'patch-association\[vision\]'"):
            call()
    assert problem(tmp_path / "none", "") == f"{tmp_path / 'none'} is missing"


@pytest.fixture
def folder(tmp_path):
    g = np.random.default_rng(0)
    for split, count in (("train", 6), ("val", 3)):
        for name in ("ant", "bee"):
            (tmp_path / split / name).mkdir(parents=True)
            for i in range(count):
                picture = g.integers(0, 256, (40, 60, 3), dtype=np.uint8)
                Image.fromarray(picture).save(tmp_path / split / name / f"{i}.png")
    return tmp_path


def test_a_folder_of_pictures(folder):
    data = load_folder(folder, 16)
    assert data.classes == ("ant", "bee") and (len(data.train), len(data.test)) == (12, 6)
    image, label = Pictures(data.test, 16)[5]
    assert label == 1 and tuple(image.shape) == (3, 16, 16) and image.dtype == torch.uint8
    crops = torch.tensor([[1.0, 0.5, 0.0, 0.0, 0.9], [1.0, 0.5, 0.0, 0.0, 0.1]]).repeat(6, 1)
    files = (data.train[0],) * 12
    seen = [Pictures(files, 16, crops)[i][0] for i in (0, 1)]
    assert torch.equal(seen[0], seen[1].flip(2)) and not torch.equal(seen[0], seen[1])


def test_folders_that_do_not_fit(folder):
    (folder / "val" / "bee").rename(folder / "val" / "wasp")
    with pytest.raises(ValueError, match="must hold the same class folders, at least one; different: bee, wasp"):
        load_folder(folder)
    with pytest.raises(ValueError, match="train is missing: expected train/CLASS"):
        load_folder(folder / "nowhere")
    victim = folder / "train" / "ant" / "0.png"
    victim.write_bytes(victim.read_bytes()[:200])
    with pytest.raises(ValueError, match="0.png is not a whole picture"):
        Pictures(((str(victim), 0),), 16)[0]
