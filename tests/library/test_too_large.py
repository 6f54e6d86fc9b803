"""Sizes that no machine holds are refused before memory is used, in a sentence; so is work without end."""

import importlib
import resource
import time

import numpy as np
import pytest

import patch_association as pa
from patch_association import images as models
from patch_association import training
from patch_association.data import GaussianData, random_feature
from patch_association.exact import linear
from patch_association.exact.linear import labeling_law
from patch_association.exact.linear_bounds import any_weights_bound
from patch_association.exact.set_sums import SupportTooLarge, set_types
from patch_association.intervals import power_law
from patch_association.shallow import PatternData, initial_weights, pattern_sets
from patch_lab import beyond
from patch_lab.beyond import gaussian
from patch_lab.beyond import known_filter as set_blind
from patch_lab.beyond.gaussian_learners import RECIPES, make_learner
from patch_lab.dynamics.events import spread_steps
from patch_lab.dynamics.first_move import window
from patch_lab.dynamics.lifetime import ScoreNoise
from patch_lab.dynamics.small_diagonal import small_diagonal_drift
from patch_lab.images import data as pictures
from patch_lab.images.backgrounds import backgrounds
from patch_lab.images.flops import counted_flops
from patch_lab.setting import constructions
from patch_lab.setting.noisy_scores import noisy_association
from patch_lab.setting.optimality import cubic_form
from patch_lab.shallow_vit.extensions import ExtendedViT
from patch_lab.transfer import dilution, sample_bounds
from patch_lab.transfer import sample_limits as limits
from patch_lab.transfer.block_attention import BlockAttention
from patch_lab.transfer.block_error import exact_error
from patch_lab.transfer.complexity import sample_complexity
from patch_lab.transfer.mismatch import SeveralFeatures

HUGE = 10**12
SMALL = pa.Partition.random(16, 4)
FIFTEEN = pa.Partition.random(15, 3)
SMALL_LAW = pa.SpatialData(FIFTEEN, 7, 0.5)
PATTERNS = PatternData(50, 0.4, 0.2)
DATA = pa.SpatialData(SMALL, 16, 0.3)
MANY = pa.Partition.random(10**6, 4)
SEVERAL = SeveralFeatures([SMALL, SMALL], 16, 0.3)
CROSSED = beyond.CrossedData(2, 2, 2, 0.3)
HARD = BlockAttention.hard(SMALL)
NEURONS = initial_weights(PatternData(6, 0.5, 1 / 6, num_patterns=3, dim=4), num_neurons=4)
CONFIG = models.ViTConfig(image_size=8, patch_size=4, depth=1, heads=1, width=4, mlp_width=4, num_classes=2)
FORM = cubic_form(9, 3, 0.3)
NO_MEMORY = r"would take [\d.e+]+ GB, and this machine has [\d.e+]+ GB of memory"

REFUSED = {
    "a partition": (lambda: pa.Partition.random(HUGE, 4), NO_MEMORY),
    "blocks": (lambda: pa.Partition.blocks(10**6, 10**6, 2, 2), NO_MEMORY),
    "a feature": (lambda: random_feature(HUGE), NO_MEMORY),
    "a dimension": (lambda: pa.SpatialData(SMALL, HUGE, 0.3), NO_MEMORY),
    "a dimension of filters": (lambda: GaussianData(SMALL, HUGE), NO_MEMORY),
    "inputs": (lambda: DATA.sample(HUGE), NO_MEMORY),
    "coefficients": (lambda: DATA.sample_coefficients(HUGE), NO_MEMORY),
    "Gaussian inputs": (lambda: GaussianData(SMALL, 16).sample(HUGE), NO_MEMORY),
    "samples": (lambda: pa.Samples.draw(DATA, HUGE, seeds=[0]), NO_MEMORY),
    "test inputs": (lambda: pa.HeldOut(DATA, HUGE, seed=1), NO_MEMORY),
    "a model of many patches": (lambda: pa.SimplifiedViT(HUGE, 4), NO_MEMORY),
    "a model of many dimensions": (lambda: pa.SimplifiedViT(4, HUGE), NO_MEMORY),
    "recorded steps": (lambda: training.recorded_steps(HUGE), NO_MEMORY),
    "a chunk of inputs": (lambda: training.StreamedSamples(DATA, HUGE, [0], chunk=HUGE), NO_MEMORY),
    "resamples": (lambda: power_law([1, 2], [[1.0, 2.0], [3.0, 4.0]], resamples=HUGE), NO_MEMORY),
    "inputs of patterns": (lambda: PATTERNS.sample(HUGE), NO_MEMORY),
    "neurons": (lambda: initial_weights(PATTERNS, [0], num_neurons=HUGE), NO_MEMORY),
    "neurons of many positions": (
        lambda: initial_weights(PatternData(10**6, 0.4, 0.2), [0], num_neurons=10**6, head="per position"),
        NO_MEMORY,
    ),
    "pairs of patches": (lambda: MANY.same_set, NO_MEMORY),
    "sets against patches": (lambda: MANY.indicator, NO_MEMORY),
    "coefficients of several features": (lambda: SEVERAL.sample_coefficients(HUGE), NO_MEMORY),
    "inputs of several features": (
        lambda: SeveralFeatures([SMALL, SMALL], HUGE, 0.3).sample_folded(5),
        NO_MEMORY,
    ),
    "crossed inputs": (lambda: CROSSED.draw(HUGE), NO_MEMORY),
    "crossed sets": (lambda: CROSSED.draw_sets(HUGE), NO_MEMORY),
    "crossed inputs of many sets": (lambda: beyond.CrossedData(10**4, 10**4, 2, 0.3).draw(5), NO_MEMORY),
    "resamples of seeds": (
        lambda: sample_complexity([1, 2], [[0.5, 0.0], [0.5, 0.0]], resamples=HUGE),
        NO_MEMORY,
    ),
    "starts": (lambda: training.idealized_start(DATA, HUGE), NO_MEMORY),
    "a start of many patches": (
        lambda: training.perturbed_start(pa.SpatialData(MANY, 4, 0.3), 0, 0.1),
        NO_MEMORY,
    ),
    **{
        f"{kind} on large patches": (lambda kind=kind: make_learner(kind, 4, HUGE), NO_MEMORY)
        for kind in RECIPES
    },
    **{
        f"{kind} on many patches": (lambda kind=kind: make_learner(kind, HUGE, 4), NO_MEMORY)
        for kind in RECIPES
    },
    "a bench": (lambda: beyond.Bench("content", 1, num_patches=4, dim=10**6), NO_MEMORY),
    "networks": (lambda: beyond.Network(beyond.Design(), seeds=HUGE, num_patches=4, dim=2), NO_MEMORY),
    "drawn partitions": (lambda: beyond.null_recall(np.eye(16), SMALL, draws=HUGE), NO_MEMORY),
    "units": (lambda: beyond.PartlyInformed(SMALL, 0.5, units=HUGE), NO_MEMORY),
    "shapes": (lambda: gaussian.sample_linear_disagreement(5, n=HUGE), NO_MEMORY),
    "shapes of many sets": (lambda: gaussian.critical_ratio(HUGE), NO_MEMORY),
    "shapes of three sets": (lambda: gaussian.sample_excess([[1.0, 1.0, 2.0]], n=HUGE), NO_MEMORY),
    "nodes": (lambda: gaussian.linear_disagreement(3, nodes=10**6), NO_MEMORY),
    "ranks": (lambda: noisy_association(HUGE, HUGE // 2, 0.3), NO_MEMORY),
    "weights of large sets": (lambda: linear.weighted_law([1, 2], HUGE, 0.3), NO_MEMORY),
    "weights of many sets": (lambda: linear.search_weights(HUGE, 4, 0.3, 2), NO_MEMORY),
    "long weights": (lambda: linear.decoding_weights(HUGE, 4), NO_MEMORY),
    "many digits": (lambda: linear.decode(3, HUGE, 4), NO_MEMORY),
    "a bound on weights": (lambda: any_weights_bound(HUGE, 4, 0.3), NO_MEMORY),
    "a drift": (lambda: small_diagonal_drift(HUGE, 4, 0.3, 0.1), NO_MEMORY),
    "a cubic form": (lambda: cubic_form(HUGE, 4, 0.3), NO_MEMORY),
    "a grid of masses": (lambda: FORM.largest(HUGE), NO_MEMORY),
    "draws of set sums": (lambda: dilution.diluted_error(16, 4, 0.3, 1.0, draws=HUGE), NO_MEMORY),
    "a diluted limit": (lambda: dilution.diluted_limit(HUGE, 1.0, 1.0), NO_MEMORY),
    "unseen sets": (lambda: sample_bounds.unseen_sets(HUGE, 3), NO_MEMORY),
    "two large sets": (lambda: sample_bounds.genie_error(HUGE, HUGE // 2, 0.3, 5), NO_MEMORY),
    "limits by draws": (lambda: limits.weights_by_count(4, 1.0, 0.5, draws=HUGE), NO_MEMORY),
    "limits with much clutter": (lambda: limits.far_sets_told(4, 1e12, 0.5), NO_MEMORY),
    "chances": (lambda: window(16, 4, points=HUGE), NO_MEMORY),
    "a number of partitions": (lambda: set_blind.num_partitions(HUGE, 4), NO_MEMORY),
    "all partitions": (lambda: set_blind.partitions(5, 5), NO_MEMORY),
    "a vote of many": (lambda: set_blind.blind_errors(8, 8, most=HUGE), NO_MEMORY),
    "a vote on many": (lambda: set_blind.blind_errors(4, 4, n=HUGE), NO_MEMORY),
    "a bound on hard attention": (
        lambda: constructions.hard_attention_bound(HUGE, HUGE // 2, 0.3),
        NO_MEMORY,
    ),
    "scores by hand": (lambda: constructions.derangement_scores(MANY, 1.0), NO_MEMORY),
    "encodings in a chain": (lambda: constructions.chain_encodings(MANY), NO_MEMORY),
    "encodings in pairs": (lambda: constructions.paired_encodings(MANY), NO_MEMORY),
    "a fine quadrature": (lambda: exact_error(HARD, 0.3, 1.0, 0.1, fineness=1e12), NO_MEMORY),
    "types of large sets": (lambda: set_types(1000, 0.3), "leave 64-bit floats"),
    "classes of many sets": (lambda: ScoreNoise(HUGE, 4, 0.3), "classes or more"),
    "classes of large sets": (lambda: ScoreNoise(10**4, 10**4, 0.3), "classes or more"),
    "patterns": (lambda: PatternData(50, 0.4, 0.2, dim=HUGE), NO_MEMORY),
    "many patterns": (lambda: PatternData(50, 0.4, 0.2, num_patterns=10**6, dim=10**6), NO_MEMORY),
    "sets of patterns": (lambda: pattern_sets([HUGE, 2], 8, 0.3), NO_MEMORY),
    "outputs": (lambda: ExtendedViT([NEURONS], num_outputs=HUGE), NO_MEMORY),
    "tiles": (lambda: pictures.GridPermutation(10**7, 1), NO_MEMORY),
    "a batch of pictures": (lambda: counted_flops(CONFIG, HUGE), NO_MEMORY),
    "pictures without objects": (lambda: backgrounds("noise", HUGE, 0), NO_MEMORY),
    **{
        f"classes of {make.__name__}": (lambda make=make: make(HUGE), NO_MEMORY)
        for make in (models.small_cnn, models.residual_cnn, models.resnet18, models.vgg19)
    },
    "recorded times": (lambda: spread_steps(HUGE, HUGE), NO_MEMORY),
    "a linear error": (lambda: pa.linear_error(HUGE, 4, 0.3), "a law must range over at most"),
    "large sets": (lambda: pa.linear_error(HUGE, HUGE // 2, 0.3), "a law must range over at most"),
    "a labeling law": (lambda: labeling_law(HUGE, 4, 0.3), "a law must range over at most"),
    "a risk of many sets": (lambda: pa.PopulationRisk(HUGE, 4, 0.3), "at most 2,097,152 sets"),
    "a risk of large sets": (lambda: pa.PopulationRisk(HUGE, HUGE, 0.3), "than the 16,777,216 types allowed"),
    "a risk of high degree": (lambda: pa.PopulationRisk(16, 4, 0.3, HUGE + 1), "leave 64-bit integers"),
    "one-patch sets of high degree": (lambda: pa.PopulationRisk(16, 1, 0.3, HUGE + 1), "leave 64-bit"),
}


@pytest.mark.parametrize("ask", REFUSED.values(), ids=REFUSED)
def test_what_no_machine_holds_is_refused_at_once(ask):
    """Under a second and 200 MB above what the process had, for sizes of 10^12."""
    function, words = ask
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(ValueError, match=words):
        function()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("module", "ask", "numbers"),
    [
        # labels, their sorted copy, an order and the counts
        ("structure", lambda: pa.Partition.random(15, 3), 4 * 15),
        ("structure", lambda: pa.Partition.blocks(6, 5, 2, 5), 4 * 6 * 5),
        # a draw and the same at length one; a filter a place in the set, twice
        ("data", lambda: random_feature(7), 2 * 7),
        ("data", lambda: GaussianData(FIFTEEN, 7), 2 * 3 * 7),
        ("data", lambda: pa.SpatialData(FIFTEEN, 7, 0.5), 7),
        ("data", lambda: pa.SpatialData(FIFTEEN, 7, 0.5).sample_coefficients(11), 11 * 15 * 3),
        ("data", lambda: GaussianData(FIFTEEN, 7).sample(11), 11 * 15 * 7),
        # scores and their draw, and v
        ("model", lambda: pa.SimplifiedViT(15, 7), 2 * 15**2 + 7),
        ("training.samples", lambda: pa.Samples.draw(SMALL_LAW, 11, [0, 1]), 2 * 11 * 15 * 7),
        # one chunk: a block of 500, or all there is
        ("training.samples", lambda: training.StreamedSamples(SMALL_LAW, 11, [0, 1]), 2 * 11 * 15 * 7),
        ("training.samples", lambda: training.StreamedSamples(SMALL_LAW, 900, [0]), 500 * 15 * 7),
        ("training.steps", lambda: training.recorded_steps(10, 3), 16 * 4),
        # noise and tokens, counts and chances
        ("shallow_vit.data", lambda: PATTERNS.sample(11), 11 * (2 * 50 * 10 + 2 * 5)),
        # W_O and a, drawn and scaled; a for each position
        ("shallow_vit.initial", lambda: initial_weights(PATTERNS, [0, 1, 2], num_neurons=7), 2 * 3 * 7 * 11),
        (
            "shallow_vit.initial",
            lambda: initial_weights(PATTERNS, [0], num_neurons=7, head="per position"),
            2 * 7 * (10 + 50),
        ),
    ],
)
def test_the_memory_that_is_asked_for_is_that_of_the_arrays(monkeypatch, module, ask, numbers):
    asked = []
    where = importlib.import_module(f"patch_association.{module}")
    monkeypatch.setattr(where, "fits_memory", lambda what, numbers, size=8: asked.append(numbers))
    ask()
    assert numbers in asked


def test_the_bounds_leave_in_what_can_be_computed():
    assert len(training.recorded_steps(HUGE, record=HUGE // 4)) == 5
    assert pa.linear_error(4096, 4, 0.0) == 0.0
    assert pa.PopulationRisk(16, 2, 0.3, degree=47).degree == 47  # 2^47 is below 2^50, the last of 2^51 not
    with pytest.raises(SupportTooLarge):
        pa.PopulationRisk(16, 2, 0.3, degree=51)
    assert np.isclose(set_types(100, 0.3)[2].sum(), 1.0)


@pytest.mark.parametrize("kind", RECIPES)
def test_a_seed_is_as_large_as_a_generator_takes(kind):
    """A learner's seed names several streams of PyTorch's generator, and none of them may overflow."""
    make_learner(kind, 4, 4, 2**53 - 1)
    with pytest.raises(ValueError, match=rf"seed must be (below|less than) 2\^(53|64), got {2**64}"):
        make_learner(kind, 4, 4, 2**64)


def test_a_sweep_refuses_thousands_of_workers(tmp_path):
    from small_sweeps import run_quietly, sweep

    for backend in ("loky", "threading"):
        with pytest.raises(ValueError, match=r"jobs must be at most \d+ here, got 100000"):
            run_quietly(sweep(), tmp_path / "a.json", jobs=100_000, backend=backend)
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_says_that_memory_ran_out(monkeypatch, capsys):
    """Where a bound was not known beforehand: one line all the same."""
    from patch_lab import cli, sweeps

    def too_much():
        raise MemoryError("Unable to allocate 7.28 TiB")

    monkeypatch.setattr(sweeps, "registry", too_much)
    assert cli.main(["sweep"]) == 2
    assert capsys.readouterr().err == "patch-association: not enough memory: Unable to allocate 7.28 TiB\n"
