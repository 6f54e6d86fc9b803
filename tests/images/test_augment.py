"""Augmentation of batches, against PIL picture by picture."""

import numpy as np
import pytest
import torch
from PIL import Image, ImageEnhance, ImageOps

from patch_lab.images import AUGMENTATIONS
from patch_lab.images.data import policies
from patch_lab.images.data.augment import augment, draw
from patch_lab.images.data.embedded import photographs

NAMES = policies.OPERATIONS


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def affine(matrix):
    return lambda picture: picture.transform(
        picture.size, Image.Transform.AFFINE, matrix, Image.Resampling.NEAREST
    )


REFERENCE = {
    "Identity": lambda v: lambda picture: picture,
    "ShearX": lambda v: affine((1, v, 0, 0, 1, 0)),
    "ShearY": lambda v: affine((1, 0, 0, v, 1, 0)),
    "TranslateX": lambda v: affine((1, 0, -v, 0, 1, 0)),
    "TranslateY": lambda v: affine((1, 0, 0, 0, 1, -v)),
    "Rotate": lambda v: lambda picture: picture.rotate(v),
    "Brightness": lambda v: lambda picture: ImageEnhance.Brightness(picture).enhance(1 + v),
    "Color": lambda v: lambda picture: ImageEnhance.Color(picture).enhance(1 + v),
    "Contrast": lambda v: lambda picture: ImageEnhance.Contrast(picture).enhance(1 + v),
    "Sharpness": lambda v: lambda picture: ImageEnhance.Sharpness(picture).enhance(1 + v),
    "Posterize": lambda v: lambda picture: ImageOps.posterize(picture, int(v)),
    "Solarize": lambda v: lambda picture: ImageOps.solarize(picture, v),
    "AutoContrast": lambda v: ImageOps.autocontrast,
    "Equalize": lambda v: ImageOps.equalize,
    "Invert": lambda v: ImageOps.invert,
}


@pytest.mark.parametrize("name", NAMES)
def test_each_operation_is_pils(name):
    """Blends and stretches may be one level apart (rounding); shears and turns sample a few other pixels."""
    rounded = ("Brightness", "Color", "Contrast", "Sharpness", "AutoContrast")
    images = photographs().train_images[:6].float()
    number = torch.full((6,), NAMES.index(name))
    for level in (0.0, 0.3, 0.7, 1.0):
        for sign in (1, -1) if 1 <= NAMES.index(name) <= 9 else (1,):
            value = sign * policies.strength(number, torch.tensor(level), 32)
            got = policies.apply(images, number, value)
            change = REFERENCE[name](float(value[0]))
            pictures = [Image.fromarray(image.permute(1, 2, 0).byte().numpy()) for image in images]
            want = torch.from_numpy(np.stack([np.asarray(change(picture)) for picture in pictures])).permute(
                0, 3, 1, 2
            )
            far = (got - want).abs() > (1 if name in rounded else 0)
            assert far.float().mean() <= (0.01 if name in ("ShearX", "ShearY", "Rotate") else 0), (
                name,
                level,
                sign,
            )


def test_draws_follow_the_policy():
    """Frequencies within 6 standard errors: a false alarm less than once in 10^8."""
    n = 40_000
    operation, value = policies.draw_auto_augment(n, 32, "cifar10", seeded())
    chances = policies.policy("cifar10")
    for k, name in enumerate(NAMES[1:], 1):
        p = (chances[..., 1] * (chances[..., 0] == k)).sum() / 25  # expected number of times per picture
        assert abs((operation == k).sum() / n - p) < 6 * (2 * p / n) ** 0.5 + 1e-9, name
    moved = value[operation == NAMES.index("TranslateX")]
    assert abs((moved > 0).float().mean() - 0.5) < 6 * 0.5 / len(moved) ** 0.5
    operation, value = policies.draw_rand_augment(n, 32, seeded())
    shares = operation.flatten().bincount(minlength=15) / (2 * n)
    assert shares[14] == 0 and (abs(shares[:14] - 1 / 14) < 6 * (1 / 14 / (2 * n)) ** 0.5).all()
    assert torch.allclose(value[operation == NAMES.index("Rotate")].abs(), torch.tensor(9.0))


def test_shift_and_flip_are_windows_of_the_padded_picture():
    images = torch.randint(256, (60, 3, 16, 16), generator=seeded(), dtype=torch.uint8)
    draws = draw("shift-flip", 60, 16, seeded(1))
    out = augment(images, draws)
    padded = torch.nn.functional.pad(images, (2, 2, 2, 2))
    for i in range(60):
        top, left = int(draws.top[i]), int(draws.left[i])
        window = padded[i, :, top : top + 16, left : left + 16]
        assert torch.equal(out[i], window.flip(2) if draws.flipped[i] else window)
    assert set(draws.top.tolist()) == set(range(5)) and 0 < draws.flipped.sum() < 60
    assert (
        draw("shift", 9, 16, seeded()).flipped is None
        and draw("autoaugment-svhn", 9, 16, seeded()).flipped is None
    )


@pytest.mark.parametrize("wrong", [torch.zeros(2, 3, 8, 8), torch.zeros(3, 8, 8, dtype=torch.uint8)])
def test_what_are_no_pictures_in_bytes_is_refused(wrong):
    with pytest.raises(ValueError, match=r"images must be uint8 of shape \(B, c, H, W\), got torch"):
        augment(wrong, draw("shift", len(wrong), 8, seeded()))


@pytest.mark.parametrize("choice", AUGMENTATIONS)
def test_augmentation_is_seeded_and_by_picture(choice):
    """The same draws for a whole and for its parts: what several processes and a resumed run rely on."""
    images = photographs().train_images[:24]
    draws = draw(choice, 24, 32, seeded(3))
    whole = augment(images, draws)
    assert whole.dtype == torch.uint8 and whole.shape == images.shape
    odd = torch.arange(1, 24, 2)
    assert torch.equal(augment(images[odd], draws[odd]), whole[odd])
    assert torch.equal(augment(images, draw(choice, 24, 32, seeded(3))), whole)
    assert torch.equal(whole, images) == (choice == "none")
