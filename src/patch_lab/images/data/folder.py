"""ImageNet, and any folder of pictures with one folder per class: read from the disk as training goes on."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from patch_association.checks import positive_int
from patch_association.images.extras import imported
from patch_lab.images.data.sets import prefix, turns

#: Folders that archives and storages add beside the pictures.
_NOT_MINE = {"__MACOSX", "@eaDir"}
SUFFIXES = (
    ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".gif", ".bmp", ".webp", ".ppm", ".pgm", ".tif", ".tiff",
)  # fmt: skip
# Where black and white lie in these is not said by the file: 16 and 32 bits, and floating-point numbers.
_NO_BYTES = ("I", "F")
# Of ImageNet's training pictures; for other photographs they serve as well as any.
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class FolderSet:
    """``root/train/CLASS/*`` and ``root/val/CLASS/*`` (or ``root/test``), the latter as the test split.

    Attributes
    ----------
    name, origin : str
    classes : tuple of str
        The names of the class folders, sorted.
    image_size : int
        What pictures are cut to.
    train, test : tuple of (path, label)
        The classes take turns, so that every prefix is about balanced.
    """

    name: str
    origin: str
    classes: tuple[str, ...]
    image_size: int
    train: tuple[tuple[str, int], ...]
    test: tuple[tuple[str, int], ...]
    channels: int = 3

    @property
    def num_train(self) -> int:
        """Training pictures, before any are held out."""
        return len(self.train)

    def statistics(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and standard deviation per channel; ImageNet's."""
        return torch.tensor(MEAN), torch.tensor(STD)

    def digest(self) -> str:
        """sha256 over the names of the pictures and their labels (not over their bytes)."""
        sha = hashlib.sha256()
        for path, label in (*self.train, *self.test):
            sha.update(f"{Path(path).parent.name}/{Path(path).name} {label}\n".encode())
        return sha.hexdigest()

    def limited(self, train_size: int | None, test_size: int | None) -> FolderSet:
        """The first pictures of each split; None keeps all."""
        train = self.train[: prefix("train_size", train_size, len(self.train), self.name)]
        return replace(
            self, train=train, test=self.test[: prefix("test_size", test_size, len(self.test), self.name)]
        )


def load_folder(root, image_size: int = 224, name: str = "folder") -> FolderSet:
    """Any folder of pictures: ``root/train`` and ``root/val`` or ``root/test``, one folder per class in each.

    Files and folders whose names begin with a dot are passed over: some systems leave such files
    beside every picture. Other files that are no pictures by their names are left out with a warning.

    Raises
    ------
    ValueError
        If a folder is missing or a class has no picture, the two splits differ in their classes, or
        a link leads nowhere.
    """
    root = Path(root)
    splits = [root / "train", next((root / n for n in ("val", "test") if (root / n).is_dir()), root / "val")]
    for folder in splits:
        if not folder.is_dir():
            raise ValueError(
                f"{folder} is missing: expected train/CLASS/* and val/CLASS/* (or test/CLASS/*) in {root}"
            )
    classes = [
        tuple(sorted(p.name for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")))
        for folder in splits
    ]
    if classes[0] != classes[1] or not classes[0]:
        different = sorted(set(classes[0]) ^ set(classes[1]))[:5]
        if flat := [
            folder for folder in splits if pictures_in(folder)[0] and not classes[splits.index(folder)]
        ]:
            raise ValueError(
                f"{flat[0]} holds pictures, and no folder for each class: expected {flat[0]}/CLASS/*, as the "
                "folders' names are the labels"
            )
        raise ValueError(
            f"{splits[0]} and {splits[1]} must hold the same class folders, at least one; "
            f"different: {', '.join(different) or 'none, both are empty'}"
        )
    by_split = []
    others = Counter()
    for folder in splits:
        files = []
        for label, name_ in enumerate(classes[0]):
            pictures, rest = pictures_in(folder / name_)
            files += [(str(path), label) for path in pictures]
            others.update(rest)
        order = turns([label for _, label in files])
        by_split.append(tuple(files[k] for k in order))
    left_out(root, others)
    origin = f"pictures in {root.name}/" if name == "folder" else f"official {name} files"
    return FolderSet(name, origin, classes[0], positive_int("image_size", image_size), *by_split)


def pictures_in(folder: Path) -> tuple[list[Path], Counter[str]]:
    """The pictures below a folder, sorted by name, and how many other files there are, by their endings.

    What is hidden, a file or all that is in a folder, is neither, nor what storages and archives add.

    Raises
    ------
    ValueError
        If there are no pictures, or a link leads nowhere.
    """
    pictures = []
    others = Counter()
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if any(part.startswith(".") or part in _NOT_MINE for part in parts) or path.is_dir():
            continue
        if path.suffix.lower() not in SUFFIXES:
            others[path.suffix.lower() or path.name] += 1
        elif path.exists():
            pictures.append(path)
        else:
            raise ValueError(f"{path} is a link that leads nowhere")
    if not pictures:
        raise ValueError(f"there are no pictures ({', '.join(SUFFIXES)}) in {folder}")
    return pictures, others


def left_out(folder: Path, others: Counter[str]) -> None:
    """Warn of files that are read as no pictures."""
    if others:
        counted = ", ".join(f"{count} {ending}" for ending, count in sorted(others.items()))
        warnings.warn(f"left out in {folder}, as no pictures by their names: {counted}", stacklevel=3)


def load_imagenet(root, image_size: int = 224) -> FolderSet:
    """ILSVRC-2012: the unpacked ``train`` and ``val`` folders of ``root``, or its official archives.

    Where the folders are missing, torchvision verifies the archives'
    checksums and unpacks them once; their download needs an account with the data set's owners.
    """
    root = Path(root)
    if not all((root / split).is_dir() for split in ("train", "val")):
        datasets = imported("torchvision.datasets", "unpacking ImageNet")
        for split in ("train", "val"):
            try:
                datasets.ImageNet(str(root), split=split)
            except (RuntimeError, OSError) as error:
                raise ValueError(
                    f"{root} holds neither ImageNet's folders nor its whole archives: {error}"
                ) from error
    return load_folder(root, image_size, name="imagenet")


class Pictures(torch.utils.data.Dataset):
    """Pictures as uint8 tensors (3, size, size), for workers of a DataLoader.

    Parameters
    ----------
    files : sequence of (path, label)
    size : int
    crops : (n, 5) tensor, optional
        Uniform numbers in [0, 1) per picture: area, shape, top, left and mirror of a random window
        with 8% to 100% of the area and sides of 3:4 to 4:3. Without it, the middle of the picture.
    """

    def __init__(self, files, size: int, crops: torch.Tensor | None = None):
        self.files = files
        self.size = size
        self.crops = crops

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: int):
        path, label = self.files[number]
        picture = read_picture(path)
        if self.crops is None:
            box = _middle(picture.size)
            mirrored = False
        else:
            box, mirrored = _window(picture.size, self.crops[number].tolist())
        picture = picture.resize((self.size, self.size), 2, box=box)  # 2: bilinear
        pixels = torch.from_numpy(np.array(picture)).permute(2, 0, 1)  # (H, W, 3) -> (3, H, W)
        return pixels.flip(2) if mirrored else pixels, label


def read_picture(path):
    """A picture of the disk in RGB, upright as its file says; a transparent one without its transparency.

    Raises
    ------
    ValueError
        If it is no whole picture, too large a one, or of numbers of which black and white are not known: more
        than eight bits for a gray pixel.
    """
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            # Of PIL's two limits on pixels the lower one only warns.
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as file:
                mode = file.mode
                picture = ImageOps.exif_transpose(file).convert("RGB")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ValueError(f"{path} is too large a picture: {error}") from error
    except (OSError, ValueError, SyntaxError) as error:  # PIL's readers raise all three on damaged files
        raise ValueError(f"{path} is not a whole picture: {error}") from error
    if mode.partition(";")[0] in _NO_BYTES:
        raise ValueError(
            f"{path} holds numbers of more than eight bits (mode {mode}), and which of them are black and "
            "white is not known: save it with eight bits"
        )
    return picture


def _middle(size):
    """The middle square with 7/8 of the shorter side (224 of 256), as (left, top, right, bottom)."""
    width, height = size
    side = min(width, height) * 0.875
    return ((width - side) / 2, (height - side) / 2, (width + side) / 2, (height + side) / 2)


def _window(size, uniforms):
    width, height = size
    area, shape, top, left, mirror = uniforms
    pixels = (0.08 + 0.92 * area) * width * height
    aspect = math.exp((2 * shape - 1) * math.log(4 / 3))
    w, h = min(width, math.sqrt(pixels * aspect)), min(height, math.sqrt(pixels / aspect))
    x, y = left * (width - w), top * (height - h)
    return (x, y, x + w, y + h), mirror < 0.5
