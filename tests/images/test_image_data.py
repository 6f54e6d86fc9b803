"""Data sets: embedded, packed, official files and folders; damaged files are refused by name."""

import io

import numpy as np
import pytest
import torch
from PIL import Image
from strategies import write_pictures

from patch_lab.images.data import ENVIRONMENT, embedded, load
from patch_lab.images.data.folder import Pictures, load_folder, read_picture
from patch_lab.images.data.sets import ImageSet, validation_split


def test_test_windows_come_from_parts_that_training_never_saw():
    """No row of pixels with some contrast is in windows of both splits (black ones of the night sky may)."""
    data = embedded.photographs()
    rows = []
    for images in (data.train_images, data.test_images):
        lines = images.permute(0, 2, 3, 1).flatten(0, 1).numpy()  # (n, 3, H, W) -> (n H, W, 3)
        lines = lines[lines.reshape(len(lines), -1).std(axis=1) > 30]
        rows.append({line.tobytes() for line in lines})
    assert min(map(len, rows)) > 1000 and not rows[0] & rows[1]


def test_statistics_are_exact():
    x = torch.randint(256, (50, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(50) % 2
    mean, std = ImageSet("tiny", "made up", ("a", "b"), x, labels, x[:1], labels[:1]).statistics()
    y = x.double() / 255
    torch.testing.assert_close(mean.double(), y.mean(dim=(0, 2, 3)), atol=1e-7, rtol=0)
    torch.testing.assert_close(std.double(), y.std(dim=(0, 2, 3), correction=0), atol=1e-7, rtol=0)


def test_validation_pictures_are_no_training_pictures():
    train, val = validation_split(1437, 100, seed=1)
    assert len(val) == 100 and sorted([*train.tolist(), *val.tolist()]) == list(range(1437))
    assert not torch.equal(val, validation_split(1437, 100, seed=2)[1])
    with pytest.raises(ValueError, match="must leave pictures to train on, got 6 of 6"):
        validation_split(6, 6)


@pytest.fixture
def packed(tmp_path):
    """Twelve small pictures as JPEGs that share one header, in one file, and their pixels."""
    g, blobs = np.random.default_rng(0), []
    for _ in range(12):
        picture = Image.fromarray(g.integers(0, 256, (4, 4, 3), dtype=np.uint8)).resize((32, 32))
        picture.save(buffer := io.BytesIO(), "JPEG", quality=90)
        blobs.append(buffer.getvalue())
    start = blobs[0].index(b"\xff\xda") + 14  # where the scan begins: after its 14-byte header
    assert all(b[:start] == blobs[0][:start] and b.endswith(b"\xff\xd9") for b in blobs)
    header, scans = blobs[0][:start], [b[start:-2] for b in blobs]
    np.savez(
        tmp_path / "packed.npz",
        header=np.frombuffer(header, np.uint8),
        scan=np.frombuffer(b"".join(scans), np.uint8),
        length=np.array([len(s) for s in scans], np.uint16),
        label=np.arange(12, dtype=np.uint8) % 10,
        n_train=np.int64(8),
    )
    return tmp_path / "packed.npz", np.stack([np.asarray(Image.open(io.BytesIO(b))) for b in blobs])


def test_the_packed_file(packed, monkeypatch):
    path, pixels = packed
    monkeypatch.setenv(ENVIRONMENT, str(path))
    data = load("cifar10")
    assert (len(data.train_labels), len(data.test_labels)) == (8, 4)
    assert np.array_equal(data.train_images.permute(0, 2, 3, 1).numpy(), pixels[:8])
    assert np.array_equal(data.test_images.permute(0, 2, 3, 1).numpy(), pixels[8:])
    assert data.test_labels.tolist() == [8, 9, 0, 1] and "JPEG re-encoded" in data.origin
    few = load("cifar10", train_size=3, test_size=2)
    assert torch.equal(few.train_images, data.train_images[:3]) and torch.equal(
        few.test_images, data.test_images[:2]
    )
    with pytest.raises(ValueError, match="train_size must be at most 8 for packed.npz, got 9"):
        load("cifar10", train_size=9)
    hundred = path.with_name("cifar100_small.npz")
    with np.load(path) as arrays:
        np.savez(hundred, **arrays, name=np.array([b"apple"] * 9 + [b"baby"]))
    path.rename(path.with_name("cifar10_small.npz"))
    both = {name: load(name, hundred.parent) for name in ("cifar10", "cifar100")}
    assert (
        torch.equal(both["cifar100"].train_images, data.train_images)
        and "CIFAR-100" in both["cifar100"].origin
    )
    assert both["cifar100"].classes[9] == "baby" and both["cifar10"].classes[9] == "truck"
    path.with_name("cifar10_small.npz").rename(path)
    with pytest.raises(ValueError, match="packed.npz is a packed cifar10 file, and svhn was asked for"):
        load("svhn")


def test_a_folder_of_pictures(tmp_path):
    write_pictures(tmp_path, train=6, val=3)
    data = load_folder(tmp_path, 16)
    assert data.classes == ("day", "night") and (len(data.train), len(data.test)) == (12, 6)
    image, label = Pictures(data.test, 16)[5]
    assert label == 1 and tuple(image.shape) == (3, 16, 16) and image.dtype == torch.uint8
    crops = torch.tensor([[1.0, 0.5, 0.0, 0.0, 0.9], [1.0, 0.5, 0.0, 0.0, 0.1]]).repeat(6, 1)
    files = (data.train[0],) * 12
    seen = [Pictures(files, 16, crops)[i][0] for i in (0, 1)]
    assert torch.equal(seen[0], seen[1].flip(2)) and not torch.equal(seen[0], seen[1])


PIXELS = np.linspace(0, 1, 40 * 60).reshape(40, 60)


@pytest.mark.parametrize(
    ("name", "pixels"),
    [("a.png", (65535 * PIXELS).astype(np.uint16)), ("a.tif", PIXELS.astype(np.float32)),
     ("b.tif", (1e6 * PIXELS).astype(np.int32))],
)  # fmt: skip
def test_numbers_that_are_no_bytes_are_not_guessed(name, pixels, tmp_path):
    Image.fromarray(pixels).save(tmp_path / name)
    with pytest.raises(
        ValueError, match="which of them are black and white is not known: save it with eight"
    ):
        read_picture(tmp_path / name)


def test_a_photograph_stands_upright(tmp_path):
    exif = Image.Exif()
    exif[0x112] = 6  # stored lying, to be turned clockwise
    Image.fromarray((255 * PIXELS).astype(np.uint8)).save(tmp_path / "a.png", exif=exif)
    assert np.array_equal(
        np.asarray(read_picture(tmp_path / "a.png"))[..., 0], (255 * PIXELS).astype(np.uint8)[::-1].T
    )


def test_what_lies_in_folders_beside_pictures(tmp_path):
    """Hidden folders are passed over, other kinds of files are told, and pictures without classes refused."""
    write_pictures(tmp_path / "flat" / "of")
    (tmp_path / "flat" / "of").rename(tmp_path / "mine")
    class_ = tmp_path / "mine" / "train" / "day"
    (class_ / ".ipynb_checkpoints").mkdir()
    for name in (".ipynb_checkpoints/0.png", "more.gif", "more.JFIF"):
        Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(class_ / name, format="PNG")
    (class_ / "photo.heic").write_bytes(b"of a telephone")
    (class_ / "Thumbs.db").write_bytes(b"")
    with pytest.warns(UserWarning, match="left out in .*mine, as no pictures by their names: 1 .db, 1 .heic"):
        found = load_folder(tmp_path / "mine")
    assert len(found.train) == 42 and not [path for path, _ in found.train if "checkpoints" in path]
    for split in ("train", "test"):
        (tmp_path / "flat" / split).mkdir(parents=True)
        Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / "flat" / split / "0.png")
    with pytest.raises(ValueError, match="flat/train holds pictures, and no folder for each class"):
        load_folder(tmp_path / "flat")


@pytest.mark.parametrize("limit", [50, 40_000])
def test_decompression_bombs_are_refused(tmp_path, monkeypatch, limit):
    """Above PIL's limit it warns, above twice the limit it raises: both are refused by name."""
    path = tmp_path / "bomb.png"
    Image.new("RGB", (300, 200)).save(path)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    with pytest.raises(ValueError, match="bomb.png is too large a picture: Image size .60000 pixels"):
        read_picture(path)
