"""Every sweep by its name; the file of a sweep is imported when the sweep is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import ClassVar

from patch_lab.sweeps.outcomes import measure
from patch_lab.sweeps.sweep import Sweep

#: The sweeps of each file.
FILES = {
    "gaussian": ("gaussian", "gaussian-partial"),
    "idealized": ("idealized",),
    "large_lead": ("large-lead", "large-lead-wide"),
    "realistic": ("realistic",),
    "coupling": ("coupling", "coupling-turned"),
    "limits": ("limits", "zero-diagonal"),
    "transience": ("transience",),
    "reach": ("reach",),
    "lifetime": ("lifetime",),
    "certified": ("certified",),
    "transfer": (
        "transfer-fixed-attention",
        "transfer-pretrained",
        "transfer-dilution",
        "transfer-discovery",
        "transfer-uninformed",
        "transfer-logistic",
        "transfer-scratch-tuning",
        "transfer-scratch-large-tuning",
        "transfer-scratch",
        "transfer-scratch-large",
        "transfer-mismatch",
        "transfer-heads",
    ),
    "images": ("cifar10_permuted",),
    "study": (
        "cifar10_study",
        "cifar10_study_unmirrored",
        "cifar10_study_rates",
        "cifar10_study_rates_wide",
    ),
    "section_six": ("section-six", "cifar100_positional_185"),
    "second_moments": ("second-moments",),
    "study_swapped": ("cifar10_study_swapped",),
    "starts": (
        "cifar10_starts_rates",
        "cifar10_starts",
        "cifar10_starts_long",
        "cifar10_starts_every_rate",
        "cifar10_starts_wide",
        "tiny_imagenet_starts",
    ),
    "map_transfer": ("cifar10_map_transfer",),
    "study_larger": ("cifar10_study_cnn", "cifar10_controls", "tiny_imagenet_study", "cifar10_paper_size"),
    "shallow_vit": (
        "shallow-samples",
        "shallow-positions",
        "shallow-positions-rates",
        "shallow-start",
        "shallow-times",
        "shallow-attention",
        "shallow-variants",
        "shallow-variants-rates",
        "shallow-multinomial",
    ),
    "shallow_removal": ("shallow-removal", "shallow-removal-noisy"),
    "backgrounds": ("background-classes", "background-spurious", "background-starts"),
    "two_theories": ("two-theories", "two-theories-turned", "two-theories-hot", "two-theories-rare"),
    "deeper": (
        "deeper-simple",
        "deeper-vit",
        "deeper-parts",
        "deeper-range",
        "deeper-slow",
        "deeper-rows",
        "deeper-hot",
        "deeper-gram",
        "deeper-gram-slow",
        "deeper-population",
    ),
    "vit_blocks": ("vit_steps", "vit_blocks", "vit_blocks_gpu"),
    "vit_attention": ("vit_encodings", "vit_attention"),
    "vit_interventions": ("vit_interventions",),
    "vit_recovery": ("vit_recovery",),
    "vit_gray": ("vit_gray",),
}


class Registry(Mapping[str, Sweep]):
    """The sweeps by name, in the order of the book."""

    _file_of: ClassVar[dict[str, str]] = {name: file for file, names in FILES.items() for name in names}

    def __getitem__(self, name: str) -> Sweep:
        file = import_module(f"patch_lab.sweeps.{self._file_of[name]}")
        return next(sweep for sweep in file.SWEEPS if sweep.name == name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._file_of)

    def __len__(self) -> int:
        return len(self._file_of)


def registry() -> Mapping[str, Sweep]:
    """Every sweep by name."""
    return Registry()


def rerun(name: str, row: Mapping) -> dict:
    """A recorded cell, run again here: the cell of sweep ``name`` with the settings that ``row`` holds.

    Parameters
    ----------
    name : str
    row : dict
        A row of the record, or the settings that tell its cell from the others.

    Raises
    ------
    ValueError
        If no cell fits, or more than one does.
    """
    if name not in registry():
        raise ValueError(f"there is no sweep {name!r}; there are {', '.join(registry())}")
    sweep = registry()[name]
    fits = [cell for cell in sweep.cells if all(row.get(key, cell[key]) == cell[key] for key in cell)]
    if len(fits) != 1:
        raise ValueError(f"{len(fits)} cells of sweep {name!r} fit {dict(row)!r}, not one")
    return measure(sweep.run, dict(fits[0]))
