"""Section 6 at the paper's size: the rules of its verdicts on made-up numbers, and its cells made small."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from training import toy_set

from patch_lab.images import registered
from patch_lab.images.data.permutation import GridPermutation
from patch_lab.images.sweeps import section_six
from patch_lab.images.sweeps.section_six import SWEEPS, answers, cells, packed_bits, rates, settings
from patch_lab.kit.records import decode, read
from patch_lab.kit.sweeps import registry, run_sweep


def answered(share, seeds=3, n=10_000, seed=0, spread=0.0):
    """Right answers of several seeds: those of hard pictures differ, and seeds differ by ``spread``."""
    g = np.random.default_rng(seed)
    return np.array([g.random(n) < share + spread * g.standard_normal() for _ in range(seeds)])


def test_a_difference_covers_what_it_should():
    """Networks that are alike but for 2 points: 95% intervals of 400 repeats cover it in 95%, +- 4 errors."""
    covered = []
    for k in range(400):
        a, b = (answered(share, n=1000, seed=2 * k + i, spread=0.01) for i, share in enumerate((0.62, 0.60)))
        found = registered.difference(a, b)
        covered.append(found.bound(0.025) < 2 < found.bound(0.975))
    # The pictures' noise counts twice, as the rule says: somewhat more than 95%, and never less.
    assert 0.95 - 4 * 0.011 < np.mean(covered)
    one = registered.difference([[1, 1, 0, 0]], [[1, 0, 0, 0]])
    assert one.mean == 25 and one.error == pytest.approx(25) and one.freedom == 3
    with pytest.raises(ValueError, match="two arrays"):
        registered.difference([1, 0], [1, 0])


def apart(mean, error=0.5, freedom=4.0):
    return registered.Difference(mean, error, freedom)


def test_the_rules():
    """At four degrees of freedom 97.5% is 2.776 errors, 95% is 2.132: here 1.388 and 1.066 points."""
    assert registered.judge_competitive([apart(-1.6), apart(0.5)]) == "held"
    assert registered.judge_competitive([apart(-1.7), apart(0.5)]) == "undecided"
    assert registered.judge_competitive([apart(-4.5), apart(0.5)]) == "failed"
    few = registered.Difference(0.0, 0.1, 100.0, seeds=2)
    assert (
        registered.judge_competitive([])
        == registered.judge_competitive([few])
        == registered.judge_nearly(few)
        == "undecided"
    )
    assert (
        registered.judge_nearly(apart(-0.6)) == "held" and registered.judge_nearly(apart(-0.7)) == "undecided"
    )
    assert registered.judge_nearly(apart(-3.5)) == registered.judge_nearly(apart(3.5)) == "failed"
    assert registered.judge_sensitive([apart(6.5), apart(9)], [0.009, 0.001]) == "held"
    assert registered.judge_sensitive([], []) == registered.judge_sensitive([apart(9)], []) == "undecided"
    assert registered.judge_sensitive([apart(6.5), apart(9)], [0.011, 0.001]) == "undecided"
    assert registered.judge_sensitive([apart(6.3), apart(9)], [0.001, 0.001]) == "undecided"
    assert registered.judge_sensitive([apart(3), apart(9)], [0.001, 0.001]) == "failed"
    assert registered.judge_performs_equally(apart(-1.9), apart(10)) == "held"
    assert registered.judge_performs_equally(apart(-1.9), apart(9)) == "undecided"  # more than a fifth
    assert registered.judge_performs_equally(apart(-2), apart(30)) == "undecided"
    assert registered.judge_performs_equally(apart(-4.1), apart(30)) == "failed"


@pytest.mark.parametrize("sizes", [(2, 2), (1, 2, 3), (2, 2, 2), (3, 1, 2)])
def test_jonckheeres_level_is_that_of_all_orders(sizes):
    ends = np.cumsum((0, *sizes))

    def of(order):
        return [order[a:b] for a, b in itertools.pairwise(ends)]

    def statistic(groups):
        return sum(
            y > x for k, later in enumerate(groups) for earlier in groups[:k] for x in earlier for y in later
        )

    every = [statistic(of(order)) for order in itertools.permutations(range(ends[-1]))]
    for order in list(itertools.permutations(range(ends[-1])))[::7]:
        expected = np.mean(np.array(every) >= statistic(of(order)))
        assert registered.jonckheere(of(order)) == pytest.approx(expected)
    assert registered.jonckheere([[1, 1], [1, 1]]) == 1.0  # ties are no trend


def test_encodings_that_are_shuffled_are_scattered_and_undone_local():
    side, permutation = 16, GridPermutation(32, 2, seed=3)
    row, column = np.divmod(np.arange(side**2), side)
    ways = np.stack([np.cos(k * np.pi * (x + 0.5) / side) for x in (row, column) for k in range(4)], axis=1)
    learned = ways[permutation.patch_order(2)]
    seen, undone = registered.places(learned), registered.places(learned, permutation)
    assert seen.scattered and not seen.local and undone.local and not undone.scattered
    assert undone.recall == registered.places(ways).recall and seen.chance == 4 / 255


def test_the_order_is_the_registered_one():
    made = cells()
    parts = [(c["part"], c["data"], c.get("recipe") or c.get("model")) for c in made]
    order = [key for key, _ in itertools.groupby(parts)]
    assert order[:6] == [
        ("rates", "cifar100", None), ("pair", "cifar100", "book"), ("rates", "cifar10", None),
        ("pair", "cifar10", "book"), ("pair", "cifar100", "vit-cifar"), ("pair", "cifar10", "vit-cifar"),
    ]  # fmt: skip
    seeds = [
        c["seed"] for c in made if c["part"] == "pair" and c["recipe"] == "book" and c["data"] == "cifar10"
    ]
    assert seeds == [0, 1, 2, 3, 4] and len(made) == 20 + 3 + 3 + 2 + 4 + 20 + 4 + 6 + 3
    assert registry()["section-six"].cells == SWEEPS[0].cells


PILOT = [
    dict(part="rates", data="cifar100", kind=kind, lr=lr, failed=None, val_accuracy=[0.9, right])
    for kind, shares in (("vanilla", (0.1, 0.3, 0.3, 0.25)), ("positional", (0.1, 0.2, 0.2, 0.25)))
    for lr, right in zip((2.5e-4, 5e-4, 1e-3, 2e-3), shares)
]


def test_what_a_cell_trains():
    worst = PILOT[0] | dict(lr=4e-3, failed="NaN", val_accuracy=[1.0, 1.0])
    assert rates([*PILOT, worst], "cifar100") == {"vanilla": 5e-4, "positional": 2e-3}
    with pytest.raises(
        ValueError, match="the pilot on cifar10 with vanilla attention comes before its pairs"
    ):
        rates(PILOT, "cifar10")
    book = settings(dict(part="pair", data="cifar100", recipe="book", seed=2), PILOT)
    assert {kind: own["lr"] for kind, own in book.items()} == {"vanilla": 5e-4, "positional": 2e-3}
    assert all((own["epochs"], own["seed"], own["val_size"]) == (300, 2, 5000) for own in book.values())
    public = settings(dict(part="pair", data="cifar10", recipe="vit-cifar", seed=0), PILOT)
    assert public["positional"]["optimizer"] == "adam" and public["vanilla"]["dataset"] == "cifar10"
    vit = settings(dict(part="figure-5", data="cifar100", epochs=300, seed=1, tile=2, model="vit"), PILOT)[
        "run"
    ]
    assert (vit["patch_size"], vit["tile"], vit["tile_seed"], vit["lr"]) == (2, 2, 1, 5e-4)


def test_answers_are_kept_to_the_bit():
    right = answered(0.6, seeds=1)[0]
    text = packed_bits(right)
    assert len(text) == 2500 and np.array_equal(answers(text), right)


@pytest.fixture
def small(monkeypatch):
    """Ninety-six made-up pictures, tiny networks, two epochs; three cells of each part."""
    tiny = dict(
        device="cpu", precision="float32", compile=False, depth=1, heads=2, width=8, mlp_width=8, epochs=2
    )
    tiny |= dict(warmup_epochs=0.5, batch_size=16, threads=1)
    monkeypatch.setattr(section_six, "MACHINE", tiny)
    held = {"book": 32, "P from N(0, 1)": 32}
    monkeypatch.setattr(
        section_six,
        "settings",
        lambda cell, done: {
            name: own | {"val_size": held.get(cell.get("recipe", "book"), 0)}
            for name, own in settings(cell, done).items()
        },
    )
    monkeypatch.setattr(section_six, "pictures", lambda name: toy_set(96, size=32))
    chosen = [c for c in cells() if c["data"] == "cifar100" and c.get("lr", 1e-3) in (5e-4, 1e-3)]

    def keep(c):
        return c["part"] == "rates" or c.get("seed") == 0 or (c["part"], c.get("recipe")) == ("pair", "book")

    chosen = [
        c for c in chosen if keep(c) and c.get("model") not in section_six.CNNS and c.get("tile", 2) == 2
    ]
    return replace(SWEEPS[0], cells=tuple(chosen), data="made up", device="cpu")


def test_cells_made_small(small, tmp_path, monkeypatch):
    """The pilot comes first, pairs follow side by side, and a second call goes on from the record."""
    out, sets = tmp_path / "six.json", []
    real = section_six.ready

    def noted(chosen, done):
        return sets.append(len(chosen)) or real(chosen, done)

    scheduler = replace(small.scheduler, ready=noted, most=3)
    sweep = replace(small, scheduler=scheduler)
    pilots_fit = replace(scheduler, least_seconds=lambda chosen: 61 * (chosen[0]["part"] != "rates"))
    first = run_sweep(replace(sweep, scheduler=pilots_fit), out, minutes=1, progress=False)
    assert [row["part"] for row in first] == 4 * ["rates"] and sets == [3, 1]
    whole = run_sweep(sweep, out, minutes=60, progress=False)
    assert sets == [3, 1, 3, 1, 2, 1, 1] and len(whole) == len(small.cells) and read(out) == whole
    pair = next(row for row in whole if row.get("recipe") == "book")
    for kind in ("vanilla", "positional"):
        found = pair[kind]
        assert found["failed"] is None and len(found["train_loss"]) == 2
        assert len(found["val_accuracy"]) == 1  # an epoch of five, and the last
        assert answers(found["right"], 96).mean() == pytest.approx(found["test_accuracy"])
        assert decode(found["positions"]).shape == (64, 8) and found["locality"]["as_seen"]["chance"] < 0.2
    public = next(row for row in whole if row.get("recipe") == "vit-cifar")
    assert "val_accuracy" not in public["vanilla"] and decode(public["vanilla"]["positions"]).shape == (65, 8)
    shuffled = next(row for row in whole if row["part"] == "figure-5")
    assert set(shuffled["locality"]) == {"as_seen", "undone"} and decode(shuffled["positions"]).shape == (
        256,
        8,
    )


def test_another_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PATCH_ASSOCIATION_DATA", str(tmp_path))
    with pytest.raises(
        ValueError, match=r"must name the folder with that file, and .* holds 0 files cifar100\*"
    ):
        section_six.data()
    (tmp_path / "cifar100_jpeg.npz").write_bytes(b"x")
    with pytest.raises(ValueError, match="has the sha256"):
        section_six.data()


def test_a_run_that_failed_is_kept_as_such():
    cell = dict(part="pair", data="cifar100", recipe="book", seed=0)
    metrics, right = [{"train_loss": float("nan")}], np.zeros(8, bool)
    row = SimpleNamespace(failed="the loss is nan", metrics=metrics, right=right, test_accuracy=0.0)
    found = section_six._result(cell, SimpleNamespace(lr=1e-3, model="vit", tile=0), row)
    assert found["failed"] == "the loss is nan" and found["train_loss"] == [None] and "locality" not in found
