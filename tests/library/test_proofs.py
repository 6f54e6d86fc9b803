"""What the kernel of Coq is told, a second engine beside FLINT, and Coq's enclosures beside Python's."""

from __future__ import annotations

import math
import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb, ctx, fmpz_poly
from mpmath import iv

from patch_association.exact.risk import PopulationRisk
from patch_lab.certify import coq, witnesses
from patch_lab.certify.blocks import OUTSIDE, two_inequalities
from patch_lab.certify.runs import RUNS
from patch_lab.certify.statements import BLOCKS, END_POINT, FIRST_MOVES, WINDOW
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


# -- a second engine, and Coq beside Python
# ---------------------------------------------------------------------------------------------------------


def interval(x):
    x = Fraction(x)
    return iv.mpf(x.numerator) / x.denominator


def sign(x):
    return 1 if x.a > 0 else -1 if x.b < 0 else 0


@pytest.mark.parametrize(("D", "C", "q", "p"), FIRST_MOVES)
def test_a_second_engine_finds_the_same_signs(D, C, q, p):
    """mpmath's intervals, and integers of its own, at the witness that Coq is given."""
    win, u = witnesses.first_move_witness(D, C, Fraction(q), p)
    (a, b), n = Fraction(q).as_integer_ratio(), D - C
    fewer = fmpz_poly([a, 2 * (b - a), a]) ** (n - 2)
    plain = (fewer * fmpz_poly([a, 2 * (b - a), a]) ** 2).coeffs()
    turned = (fewer * fmpz_poly([2 * a, 2 * (b - a)]) ** 2).coeffs()
    iv.prec = 100
    f = delta = iv.mpf(0)
    for k, ways in enumerate(plain):
        m = C - n + k
        w = 1 / (1 + iv.exp(interval(u) * m**p))
        f += w * int(ways) * m**p
        delta += w * int(turned[k] if k < len(turned) else 0) * m ** (p - 2)
    assert (sign(f), sign(delta)) == ((-1, 1) if win else (1, -1))


@pytest.mark.parametrize(("D", "C", "q"), BLOCKS)
def test_a_second_engine_finds_the_same_inequalities(D, C, q):
    """The six expectations anew, by a walk over the sets, in mpmath's intervals at the enclosure of v*."""
    iv.prec = 80
    L, Q = D // C, interval(q)
    x, z, y = witnesses.blocks_witness(D, C, Fraction(q))
    v = iv.mpf([interval(Fraction(x, y)).a, interval(Fraction(z, y)).b])
    sets: dict = {}
    for plus in range(C + 1):
        for minus in range(C + 1 - plus):
            ways = math.comb(C, plus) * math.comb(C - plus, minus)
            sets[plus - minus, plus + minus] = (
                ways * (Q / 2) ** (plus + minus) * (1 - Q) ** (C - plus - minus)
            )

    def over(number, n, r):
        return {
            "": Fraction(1), "s": Fraction(n, C), "ss": Fraction(r, C),
            "st": Fraction(n * n - r, C * (C - 1)),
            "sst": Fraction(r * n - n, C * (C - 1)),
            "stu": Fraction(n**3 - 3 * n * r + 2 * n, max(1, C * (C - 1) * (C - 2))),
        }[number]  # fmt: skip

    def mean(*products, slope=None):
        law = {C**3: iv.mpf(1)}
        for one in (*products, *[""] * (L - 1 - len(products))):
            after: dict = {}
            for k, chance in law.items():
                for (n, r), other in sets.items():
                    after[k + n**3] = after.get(k + n**3, 0) + chance * other * interval(over(one, n, r))
            law = after
        slope = slope or (lambda k: 1 / (1 + iv.exp(v * k)))
        return sum(chance * slope(k) for k, chance in law.items())

    for end, expected in ((Fraction(x, y), 1), (Fraction(z, y), -1)):
        at = interval(end)
        assert sign(mean(slope=lambda k, at=at: k / (1 + iv.exp(at * k)))) == expected
    whole = mean()
    t1, t2 = (whole + (L - 1) * mean("s")) / L, (whole + (L - 1) * mean("sst")) / L
    t4 = (mean("s") + mean("ss") + (L - 2) * mean("ss", "s")) / L
    t5 = (mean("s") + mean("st") + (L - 2) * mean("st", "s")) / L
    td = (3 * mean("s", "s") + ((L - 3) * mean("s", "s", "s") if L > 3 else 0)) / L
    parts = [-t1]
    if C > 2:
        t3 = (whole + (L - 1) * mean("stu")) / L
        parts.append((3 * (t3 - t2) - 2 * (t1 - 3 * t2 + 2 * t3) / C) * (C - 1) / C)
    u = (t4 + (C - 1) * t5) / C
    a = 3 * iv.mpf([max(0, (t4 - u).a), max(0, (t4 - u).b)])
    spare = []
    for b in parts:  # psi falls as b grows: both candidates for the smaller one have to do
        assert sign(b) == 1
        many = (L - 1) ** 2 * (a + b) - L**2 * b
        assert sign(many)
        psi = a - b / (L - 1) if sign(many) == 1 else L * (iv.sqrt(a + b) - iv.sqrt(b)) ** 2
        spare.append(-3 * u - psi - (L - 2) * iv.mpf([max(0, td.a), max(0, td.b)]))
    assert all(sign(one) == 1 for one in spare)


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
