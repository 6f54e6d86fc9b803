"""What the kernel of Coq is told, and its enclosures beside Python's."""

from __future__ import annotations

import math
import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb, ctx

from patch_association.exact.risk import PopulationRisk
from patch_lab.certify import coq, witnesses
from patch_lab.certify.blocks import OUTSIDE, two_inequalities
from patch_lab.certify.runs import RUNS
from patch_lab.certify.statements import BLOCKS, END_POINT, WINDOW
from patch_lab.kit.ledger import shipped

PROOFS = Path(__file__).resolve().parents[2] / "proofs"
needs_proofs = pytest.mark.skipif(
    not PROOFS.is_dir(), reason="not compared: an installed wheel has no proofs/"
)

pytestmark = pytest.mark.usefixtures("sixty_four_bits")


def read(name):
    return (PROOFS / name).read_text(encoding="utf-8")


@needs_proofs
@pytest.mark.parametrize("name", [name for name in witnesses.FILES if name != "WindowAt"])
def test_the_committed_witnesses_are_those_of_the_statements(name):
    assert read(f"{name}.v") == witnesses.FILES[name]()


@needs_proofs
def test_every_theorem_has_an_instance_and_its_axioms_are_those_of_the_reals():
    told = [
        f"{name}.{one}"
        for name in (*coq.BY_HAND, *witnesses.FILES)
        for one in coq.theorems(read(f"{name}.v"))
    ]
    for name in (*coq.BY_HAND, *witnesses.FILES):
        assert coq.without_instance(read(f"{name}.v")) == []
        assert not re.search(r"\b(Admitted|Axiom|Parameter|Conjecture|admit)\b", read(f"{name}.v"))
    assert coq.without_instance(read(f"{coq.REFUSED}.v")) == [coq.EMPTY]
    rows = {f"{row['file']}.{one}": axioms for row in coq.kernel() for one, axioms in row["theorems"].items()}
    assert sorted(rows) == sorted(told)
    for row in coq.kernel():
        text = read(f"{row['file']}.v")
        assert f"(** In the book: {row['in_book']}. *)" in text
        assert row["engine"] == coq.engine(row["file"], text)
    reals = {
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "Classical_Prop.classic",
        "FunctionalExtensionality.functional_extensionality_dep",
    }
    for name, axioms in rows.items():
        more = set(axioms.split()) - reals
        # The processor's integers and their laws, where Coq's own take too long.
        assert all(axiom.startswith(("PrimInt63.", "Uint63.")) for axiom in more)
        assert bool(more) == (name.partition(".")[0] == coq.FAST[-1]), name


def test_what_the_ledger_calls_checked_by_the_kernel_is_what_the_kernel_has():
    checked = {claim.id: claim.checked_by == "coq" for claim in shipped()}
    named = {row["in_book"] for row in coq.kernel()}
    assert named & checked.keys() == {name for name, by_kernel in checked.items() if by_kernel}


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Theorem t x : x < 0 -> 0 < x -> False.\nProof. lra. Qed.", ["t"]),
        (
            "Theorem t x : x -> P x.\nProof. lra. Qed.\nExample t_instance : P 1.\nProof. now apply t. Qed.",
            [],
        ),
        (
            "Theorem t x : 0 < x -> P x.\nProof. lra. Qed.\nExample t_instance : P 1.\nProof. easy. Qed.",
            ["t"],
        ),
        ("Section S.\nHypothesis h : 0 < 0.\nTheorem t : 0 < 1.\nProof. lra. Qed.\nEnd S.", ["t"]),
        ("Theorem t : 0 < 1.\nProof. lra. Qed.", []),
    ],
)
def test_an_empty_theorem_is_caught(text, missing):
    assert coq.without_instance(text) == missing


def test_a_wrong_statement_or_witness_stops_the_check(tmp_path, monkeypatch):
    """What was committed is not what is written now; and without coqc nothing is called proved."""
    for path in PROOFS.glob("*"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(coq, "FILES", {"BlocksAt": witnesses.blocks_file})
    (tmp_path / "BlocksAt.v").write_text(read("BlocksAt.v").replace("(3 / 10) 4 4", "(9 / 10) 4 4"))
    with pytest.raises(coq.Rejected, match="is not what is written now"):
        coq.check(tmp_path)
    monkeypatch.setattr(coq.shutil, "which", lambda name: None)
    shutil.copy(PROOFS / "BlocksAt.v", tmp_path)
    with pytest.raises(coq.Rejected, match="coqc is missing, and nothing was checked"):
        coq.check(tmp_path)


# -- Coq beside Python


@needs_proofs
def test_enclosures_of_coq_overlap_those_of_python():
    """What Coq printed when it last checked proofs/ (``make proofs`` compares it), against Arb."""
    printed = re.findall(r"Float (true|false) (\d+)\s*(?:\(?(-?\d+)\)?)", read("overlap.txt"))
    numbers = [(-1) ** (s == "true") * arb(int(m)) * arb(2) ** int(e) for s, m, e in printed]
    assert len(numbers) == 4 * 2 * 4
    for place, (D, C, q) in enumerate(BLOCKS[:4]):
        ctx.prec = 64
        found = two_inequalities(D, C, q)
        for name, low, high in zip(("one", *OUTSIDE), numbers[8 * place :: 2], numbers[8 * place + 1 :: 2]):
            assert low.union(high).overlaps(found[name]), (D, C, q, name)
            assert float(high - low) < 1e-6


def test_the_end_point_of_the_kernel_is_that_of_the_library():
    """Its bracket of alpha_inf and its k, from the risk whose softmax the library wrote."""
    run = RUNS["companions-lead"]
    risk = PopulationRisk(run.num_patches, run.set_size, float(run.q), linear=float(run.linear))
    _, *bracket, _ = witnesses.end_witness(run.num_patches, run.set_size, run.q, run.linear)
    alpha = [x / witnesses.ALONG for x in bracket]
    low, high = (risk.gradient(x, 1.0, 1.0, -40.0)[0] for x in alpha)
    assert low < 0 < high
    k = risk.gradient(alpha[0], 1.0, 1.0, -20.0)[2] / math.exp(-20)
    for x, (low, high) in zip((alpha[0], k), END_POINT.values()):
        assert float(low) < x < float(high)


def test_the_window_of_the_kernel_reaches_as_far_as_the_statement():
    ends = [Fraction(end) for low, high, _, _ in WINDOW.values() for end in (low, high)]
    assert ends == sorted(ends) and (ends[0], ends[-1]) == (Fraction(1, 200), 1)
    assert all(high - low < Fraction(1, 1000) for low, high in zip(ends[1::2], ends[2::2]))


@needs_proofs
@pytest.mark.slow
def test_a_false_statement_does_not_get_through(tmp_path):
    """A file of the kernel's own, with a statement that is false: coqc itself refuses."""
    if shutil.which("coqc") is None:
        pytest.skip("not compared: coqc is not installed here")
    for name in ("Ball", "Vote"):
        shutil.copy(PROOFS / f"{name}.v", tmp_path)
    (tmp_path / "False.v").write_text(FALSE)
    words = ("coqc", "-q", "-w", "-notation-overridden", "-Q", ".", "Book")
    for name in ("Ball", "Vote"):
        coq._run(str(tmp_path), *words, f"{name}.v")
    with pytest.raises(coq.Rejected, match="expected to have type|false"):
        coq._run(str(tmp_path), *words, "False.v")


FALSE = """From Coq Require Import Reals ZArith.
From Book Require Import Ball Vote.
Theorem wrong : Companions_win 1 (4 / 5) (16 - 4) 4.
Proof. apply (wins_right 4 5 eq_refl (bits 48) 1 (16 - 4) 4 255 4096); vm_cast_no_check (eq_refl true). Qed.
"""
