"""Every public function, of the front door and of the rooms' ``__all__``, refuses what it cannot use.

``CALLS`` holds arguments that work; each is replaced in turn by what its name does not allow. A refusal is a
ValueError or TypeError that the library itself raises, in a sentence of one line. A public function that is
neither here nor in ``REASONS`` fails the last test, so that none is forgotten.
"""

import importlib
import inspect
import pkgutil
import traceback
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from public_calls import CALLS, PACKAGE, SPECIAL
from spoilers import SPOILERS

import patch_association as pa
from patch_association import exact, images, training
from patch_association import images as models
from patch_association import shallow as shallow_vit
from patch_lab import beyond, certify, figures, records, sweeps, transfer
from patch_lab import ledger as claims
from patch_lab.images import data as pictures
from patch_lab.images import training as runs

#: Why a public name is not called here.
DRAWS = "draws on given axes what other rooms computed and checked; test_drawings.py draws with each"
RESULT = "holds results: other functions of its room make it"
ELSEWHERE = "its refusals have a file of their own: "
REASONS = {
    **{
        getattr(figures, name): DRAWS for name in figures.__all__ if inspect.isroutine(getattr(figures, name))
    },
    **dict.fromkeys(
        (beyond.Drawn, claims.Card, claims.Claim, figures.Table, records.Record, records.Table), RESULT
    ),
    **dict.fromkeys(
        (runs.Run, runs.ShortRun, shallow_vit.Tokens, shallow_vit.Weights, pa.training.Start), RESULT
    ),
    **dict.fromkeys((exact.SupportTooLarge,), "an error that other functions of its room raise"),
    **dict.fromkeys(
        (training.EmpiricalRun, training.PopulationRun, training.Diverged, sweeps.CellError), RESULT
    ),
    **dict.fromkeys(
        (
            transfer.FineTuned,
            transfer.FixedAttention,
            transfer.FoundSets,
            transfer.GrowthFit,
            transfer.Outcome,
            transfer.OverlapRule,
            transfer.SampleComplexity,
        ),
        RESULT,
    ),
    **dict.fromkeys((certify.Atoms, certify.Covered, certify.State, certify.Statement), RESULT),
    **dict.fromkeys((images.Assembly, images.AttentionMaps, images.Locality), RESULT),
    certify.Undecided: "an error that other functions of its room raise",
    images.read_weights: ELSEWHERE + "test_pretrained.py",
    claims.Ledger: ELSEWHERE + "test_claim_files.py",
    claims.escaped: "takes any text",
    **dict.fromkeys((claims.shipped, records.names, sweeps.registry, figures.use_style), "takes nothing"),
    **dict.fromkeys((records.rounded, records.fingerprint, sweeps.grid), "takes any values"),
    **dict.fromkeys(
        (records.provenance, records.hardware, records.drawn), "describes; it is called by sweeps alone"
    ),
    **dict.fromkeys((sweeps.Sweep, sweeps.finished), ELSEWHERE + "test_sweeps.py"),
    **dict.fromkeys((pictures.ImageSet, pictures.data_root), ELSEWHERE + "test_image_data.py"),
    **dict.fromkeys((runs.train, runs.load_run), ELSEWHERE + "test_training_safety.py"),
    **dict.fromkeys(
        (runs.train_short, runs.coupled_runs, runs.guess, runs.in_double), ELSEWHERE + "test_short_runs.py"
    ),
    **dict.fromkeys(
        (models.ViT, models.resnet18, models.small_cnn, models.vgg19), ELSEWHERE + "test_image_models.py"
    ),
    **dict.fromkeys(
        (
            beyond.error_of_each,
            beyond.follow_bench,
            beyond.gathered,
            beyond.examine,
            beyond.interactions,
            beyond.train_together,
        ),
        ELSEWHERE + "test_beyond.py",
    ),
    **dict.fromkeys(
        (
            shallow_vit.attention_map,
            shallow_vit.check_assumption,
            shallow_vit.mean_fractions,
            shallow_vit.mixture,
            shallow_vit.noise_gain,
            shallow_vit.stack,
        ),
        "takes what PatternData and initial_weights made, and checked",
    ),
}

#: Public methods whose arguments no class passes on.
EXTRA = {
    claims.Number: {"name": "x"},
    claims.exact: {"name": "x"},
    claims.sampled: {"name": "x", "n": 5},
    records.parse: {"origin": "here"},
    sweeps.rerun: {"row": {}},
    claims.check: {"evidence": {}},
}
#: What stops a file that is not there before the library can: its own sentence names the file.
SYSTEM = (FileNotFoundError,)


def called(function, arguments, tmp_path="unused.json"):
    if function is sweeps.run_sweep:
        return function(**arguments, out=tmp_path, progress=False)
    if function is claims.chapter:
        return function(arguments["name"])
    return function(**arguments, **EXTRA.get(function, {}))


def test_the_arguments_of_the_table_work(tmp_path):
    for function, valid in CALLS.items():
        if function not in (sweeps.rerun, claims.check):  # a cell of a sweep; a chapter is run
            called(function, valid, tmp_path / "record.json")
        elif function is sweeps.rerun:
            assert valid["name"] in sweeps.registry()


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__qualname__)
@settings(max_examples=12, phases=[Phase.generate])
@given(data=st.data())
def test_what_cannot_be_used_is_refused_in_a_sentence(function, data):
    valid, spoilers = CALLS[function], {**SPOILERS, **SPECIAL.get(function, {})}
    name = data.draw(st.sampled_from(sorted(valid.keys() & spoilers.keys())))
    spoiled = {**valid, name: data.draw(spoilers[name])}
    with pytest.raises((ValueError, TypeError, *SYSTEM)) as refusal:
        called(function, spoiled)
    message, last = str(refusal.value), traceback.extract_tb(refusal.value.__traceback__)[-1]
    assert len(message.split()) >= 4 and len(message.splitlines()) == 1, message
    if not isinstance(refusal.value, SYSTEM):
        assert PACKAGE in Path(last.filename).parents, f"{last.filename}:{last.lineno} said {message!r}"
        source = Path(last.filename).read_text(encoding="utf-8").splitlines()
        assert "raise" in "".join(source[max(0, last.lineno - 4) : last.lineno]), f"{last}: {message!r}"


def public():
    """Every callable of the front door and of the rooms' ``__all__``, by its full name."""
    rooms = [info.name for info in pkgutil.walk_packages(pa.__path__, "patch_association.") if info.ispkg]
    for module in map(importlib.import_module, ["patch_association", *rooms]):
        for name in getattr(module, "__all__", ()):
            if inspect.isroutine(getattr(module, name)) or inspect.isclass(getattr(module, name)):
                yield f"{module.__name__}.{name}", getattr(module, name)


def test_no_public_function_is_forgotten():
    named = dict(public())
    assert len(named) > 100 and images.__name__ == "patch_association.images"
    forgotten = [name for name, one in named.items() if one not in CALLS and one not in REASONS]
    assert forgotten == []
