"""The page on notation, held against the code: the names exist, and have the shapes that it says."""

from __future__ import annotations

import notation
import numpy as np
import pytest
import torch

from patch_association.data import SpatialData
from patch_association.defaults import DEFAULT
from patch_association.exact.risk import PopulationRisk
from patch_association.images.vit import ViT, ViTConfig
from patch_association.model import SimplifiedViT, polynomial_activation
from patch_association.shallow.data import PatternData
from patch_association.shallow.initial import initial_weights
from patch_association.structure import Partition
from patch_association.training import Constant, Samples, descend_population
from patch_lab.transfer.block_attention import BlockAttention

GROUPS = notation.load()
SYMBOLS = [(group.title, symbol) for group in GROUPS for symbol in group.symbols]

#: Sizes that all differ, so that no shape is right by accident.
SIZES = {"n": 5, "D": 12, "C": 3, "d": 7, "steps + 1": 3, "m": 4}
OTHER = {
    "The second theory": {"tokens": 10, "d": 6, "ma": 6, "mb": 6},
    "Images": {"N": 16, "width": 24},
}


@pytest.fixture(scope="module")
def small() -> dict:
    """One small run of everything, under the names that the table uses."""
    partition = Partition.blocks(4, 3, 1, 3)
    data = SpatialData(partition, dim=SIZES["d"], q=0.3)
    X, y = data.sample(SIZES["n"], seed=0)
    s, _, signal = data.sample_coefficients(SIZES["n"], seed=0)
    second = OTHER["The second theory"]
    patterned = PatternData(second["tokens"], 0.4, 0.2, num_patterns=4, dim=second["d"])
    config = ViTConfig(image_size=8, patch_size=2, depth=1, heads=2, width=24, mlp_width=24)
    return {
        "config": config, "vit": ViT(config),
        "partition": partition, "data": data, "X": X, "y": y, "s": s, "signal": signal, "DEFAULT": DEFAULT,
        "samples": Samples.draw(data, 8, [0]), "P": torch.zeros(SIZES["D"], SIZES["d"]),
        "model": SimplifiedViT(SIZES["D"], SIZES["d"]), "polynomial_activation": polynomial_activation,
        "run": descend_population(PopulationRisk(12, 3, 0.3), Constant(0.01), steps=2),
        "block": BlockAttention(partition, 1.0, 0.5), "patterned": patterned,
        "tokens": patterned.sample(SIZES["n"]), "weights": initial_weights(patterned, num_neurons=SIZES["m"]),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("group", "symbol"),
    [pytest.param(*one, id=f"{one[0]}: {one[1].tex}") for one in SYMBOLS if one[1].example],
)
def test_the_name_has_the_shape_that_the_table_says(small, group, symbol):
    value = eval(symbol.example, {"__builtins__": {}}, small)
    sizes = SIZES | OTHER.get(group, {})
    expected = tuple(sizes.get(size, size) for size in symbol.shape)
    assert tuple(np.shape(value.detach() if isinstance(value, torch.Tensor) else value)) == expected


def test_a_symbol_is_listed_once_where_it_is_meant():
    for group in GROUPS:
        seen = [notation.written(tex) for one in group.symbols for tex in (one.tex, *one.also)]
        assert len(seen) == len(set(seen)), group.title
    everywhere = [one.tex for group in GROUPS if not group.pages for one in group.symbols]
    assert len(everywhere) == len(set(everywhere))
