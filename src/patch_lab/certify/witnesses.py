"""The numbers that ``proofs/`` needs so that the kernel of Coq accepts this room's statements.

A proof there is a definition and one verified checker, both written by hand, and for each statement a few
numbers at which the checker says yes. This module finds and writes them. Nothing here is trusted: a wrong
number, or a wrong claim, does not get through the kernel (:mod:`~patch_lab.certify.coq`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from scipy.special import expit

from patch_lab.certify import signs
from patch_lab.certify.descent import Undecided
from patch_lab.certify.field import ball
from patch_lab.certify.runs import RUNS
from patch_lab.certify.statements import (
    BLOCKS,
    BY_MOMENTS,
    END_POINT,
    EVERY,
    EVERY_SIZE,
    FIRST_MOVES,
    SETS_BY_MOMENTS,
    WINDOW,
)

_BITS = {"first move": 48, "window": 53, "blocks": 48, "ends": 53}
_STEP = 1e-9  # of log u, where the zero of f is looked for
ALONG = 2**40  # the denominator of alpha where a run ends
_CONVEX = 13  # bits: how far around alpha_inf the face is shown to be convex


@dataclass(frozen=True)
class VoteLaw:
    """What the signs of a first move need: (M, chance, weighted chance) as floats, and the degree."""

    votes: tuple
    degree: int

    def f(self, u: float) -> float:
        """The mean E[w M^p] at value ``u``."""
        return self._mean(u, 1, self.degree)

    def delta(self, u: float) -> float:
        """E[w M^(p-2) (1 - s_a)(1 - s_b)]."""
        return self._mean(u, 2, self.degree - 2)

    def zero(self) -> float:
        """u*, where f changes its sign."""
        low, high = -70.0, 7.0
        while high - low > _STEP:
            middle = (low + high) / 2
            if self.f(math.exp(middle)) > 0:
                low = middle
            else:
                high = middle
        return math.exp(low)

    def _mean(self, u, column, power):
        def weigh(m):
            return 1 / (1 + math.exp(max(-700.0, min(700.0, u * float(m) ** self.degree))))

        return math.fsum(vote[column] * weigh(vote[0]) * float(vote[0]) ** power for vote in self.votes)


def first_move_witness(num_patches: int, set_size: int, q: Fraction, degree: int) -> tuple[bool, Fraction]:
    """Whether companions win, and a short u at which both signs show it.

    Raises
    ------
    Undecided
        If no u was found.
    """
    n = num_patches - set_size
    law = VoteLaw(
        tuple((M, *map(float, (P.mid(), W.mid()))) for M, P, W in _law(n, set_size, ball(q))), degree
    )
    start = law.zero()
    win = law.delta(start) > 0

    def away(off):
        return start * (1 + off if win else 1 / (1 + off))

    def right(u):
        return law.f(u) < 0 < law.delta(u) if win else law.delta(u) < 0 < law.f(u)

    for off in (2.0**-k for k in range(1, 24)):  # as far as the signs allow, then half of it: a short number
        if right(away(off)):
            u = _short(away(off / 2), abs(away(off / 2) - start))
            if right(float(u)):
                return win, u
    raise Undecided(f"no witness at D = {num_patches}, C = {set_size}, q = {q}, p = {degree}")


def window_witnesses(
    num_patches: int, set_size: int, degree: int, low: Fraction, high: Fraction, sign: int
) -> list:
    """[(end, u)]: pieces of q from ``low`` to ``high``, one after the other, with a u that shows the sign."""
    pieces = []
    stack = [(low, high)]
    while stack:
        a, b = stack.pop()
        q = ball((a + b) / 2) + ball((b - a) / 2) * arb(0, 1)
        u = _on_piece(_law(num_patches - set_size, set_size, q), degree, sign)
        if u is not None:
            pieces.append((b, u))
        elif b - a < Fraction(1, 10**7):
            raise Undecided(f"no witness near q = {float(a):.7f}")
        else:
            stack += [((a + b) / 2, b), (a, (a + b) / 2)]
    return pieces


def _on_piece(law, degree: int, sign: int) -> Fraction | None:
    rough = VoteLaw(tuple((M, float(P.mid()), float(W.mid())) for M, P, W in law), degree)
    start = rough.zero()

    def certain(x, sign):
        return sign * float(x.mid()) > 1.5 * float(x.rad())  # with room for the other arithmetic

    for off in (1e-4, 1e-3, 0.01, 0.05, 0.2):
        u = _short(start * (1 + sign * off), start / 2**23)
        f = delta = arb(0)
        for M, P, W in law:
            w = 1 / (1 + (ball(u) * M**degree).exp())
            f += P * w * M**degree
            delta += W * w * M ** (degree - 2)
        if certain(f, -sign) and certain(delta, sign):
            return u
    return None


def every_size_witnesses(set_size: int, q: float, below: int) -> list[int]:
    """For n = 2 C, 3 C, ... < ``below`` random patches a Y, for which u = log(1 + 64 / Y) shows a win.

    Raises
    ------
    Undecided
        If companions do not win at some n.
    """
    one, turned = np.array([q / 2, 1 - q, q / 2]), np.array([q, 1 - q, 0])
    law = np.ones(1)
    reach = 0
    witnesses = []
    for _ in range(2 * set_size - 2):
        law = np.convolve(law, one)
        reach = reach + 1
    for n in range(2 * set_size, below, set_size):
        votes = np.arange(-reach - 2, reach + 3) + float(set_size)
        unweighted = np.convolve(np.convolve(law, one), one) * votes**3
        weighted = np.convolve(np.convolve(law, turned), turned) * votes
        low, high = (_change(sums, votes**3) for sums in (unweighted, weighted))
        exact = 64 / math.expm1(math.sqrt(low * high))
        digits = max(0, len(str(int(exact))) - 2)
        Y = round(exact / 10**digits) * 10**digits
        if not low < math.log1p(64 / Y) < high:
            raise Undecided(f"no witness at n = {n}, q = {q}")
        witnesses.append(Y)
        for _ in range(set_size):
            law = np.convolve(law, one)
            reach = reach + 1
        far = int(np.argmax(law > 1e-25))
        law = law[far : len(law) - far]
        reach = reach - far
    return witnesses


def _change(sums, cubes) -> float:
    """The u at which the sum of ``sums`` times 1 / (1 + exp(u cubes)) changes its sign."""
    low, high = -30.0, 3.0
    for _ in range(60):
        middle = (low + high) / 2
        positive = sums @ (1 / (1 + np.exp(np.clip(math.exp(middle) * cubes, -700, 700)))) > 0
        if positive:
            low = middle
        else:
            high = middle
    return math.exp(low)


def blocks_witness(num_patches: int, set_size: int, q: Fraction) -> tuple[int, int, int]:
    """Numerators x < x' and a denominator y with v* between x / y and x' / y."""
    law = _law_of_sums(set_size, num_patches // set_size, float(q), lambda n: n**3)

    def pull(v):
        return math.fsum(p * k / (1 + math.exp(max(-700.0, min(700.0, v * k)))) for k, p in law.items())

    low, high = 0.0, 1.0
    while pull(high) > 0:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if pull(middle) > 0:
            low = middle
        else:
            high = middle
    y = 2 ** (30 - math.floor(math.log2(low)))
    x = math.floor(low * y)
    return x - 2, x + 3, y


def every_blocks_witnesses(set_size: int, q: float, below: int) -> list[int]:
    """For L = 4, 5, ... < ``below`` sets the whole number nearest to 2^14 exp(-v*)."""
    law = np.ones(1)
    most = set_size**3
    one = np.zeros(2 * most + 1)
    for cubes, chance in _law_of_sums(set_size, 2, q, lambda n: n**3).items():
        one[cubes] = chance
    witnesses = []
    for others in range(1, below - 1):
        law = np.convolve(law, one)
        sums = np.arange(-others * most, others * most + 1) + float(most)
        if others > 2:
            witnesses.append(round(2**14 * math.exp(-_change(law * sums, sums))))
    return witnesses


def _law_of_sums(C: int, L: int, q: float, of: Callable) -> dict:
    """{x: chance} of the sum of of(n) over the sets, n the sum of a set's signs, in doubles."""
    one: dict = {}
    for plus in range(C + 1):
        for minus in range(C + 1 - plus):
            ways = math.comb(C, plus) * math.comb(C - plus, minus)
            chance = ways * (q / 2) ** (plus + minus) * (1 - q) ** (C - plus - minus)
            one[of(plus - minus)] = one.get(of(plus - minus), 0.0) + chance
    total = {of(C): 1.0}
    for _ in range(L - 1):
        after: dict = {}
        for x, s in total.items():
            for y, t in one.items():
                after[x + y] = after.get(x + y, 0.0) + s * t
        total = after
    return total


def end_witness(num_patches: int, set_size: int, q: Fraction, linear: Fraction) -> tuple[list, int, int, int]:
    """Ends of pieces of alpha, a bracket of alpha_inf and a point above it, all over :data:`ALONG`.

    On each piece, from zero on, the risk on the face falls in alpha; around alpha_inf it is convex up to the
    point, and above it rises.

    Raises
    ------
    Undecided
        If the pieces do not come near alpha_inf.
    """
    law = _law_of_sums(set_size, num_patches // set_size, float(q), lambda n: complex(n**3, n))
    P, M = (np.array([getattr(k, part) for k in law]) for part in ("real", "imag"))
    chance = np.array(list(law.values()))
    K = num_patches**3 / set_size**2
    line = float(linear) * num_patches

    def ends(low, high, X):
        return np.sort(np.outer((low, high), X), axis=0)  # (2, n)

    def lift(low, high):
        """The least -dL/dalpha = E[w (3 K alpha^2 P + nu D M)] that two ends of alpha allow."""
        y = ends(low**3, high**3, K * P) + ends(low, high, line * M)
        most, least = chance * expit(-y)
        cubes, votes = (float(np.where(X > 0, X * least, X * most).sum()) for X in (P, M))
        return 3 * K * min(low**2 * cubes, high**2 * cubes) + line * votes

    low, high = 0, ALONG
    while high - low > 1:
        middle = (low + high) // 2
        if lift(middle / ALONG, middle / ALONG) > 0:
            low = middle
        else:
            high = middle
    near = ALONG >> _CONVEX
    alphas = [0]
    while alphas[-1] < low - near:
        here = alphas[-1]
        tried = [min(here + (low - here) * share // 16, low - near) for share in range(15, 0, -1)]
        alphas += [there for there in tried if lift(here / ALONG, there / ALONG) > 1e-6][:1]
        if alphas[-1] == here:
            raise Undecided(f"no piece from alpha = {here / ALONG:g} on")
    return alphas[1:], low - 2, low + 3, low + near


def _law(n: int, set_size: int, q: arb) -> list:
    before = ctx.prec
    ctx.prec = 53
    try:
        return signs.law_at(n, set_size, q)
    finally:
        ctx.prec = before


def _short(x: float, width: float) -> Fraction:
    """A fraction near ``x``, no finer than a quarter of ``width``, over a power of two."""
    scale = 2 ** max(0, 2 - math.floor(math.log2(width)))
    return Fraction(round(x * scale), scale)


# -- the files
# ---------------------------------------------------------------------------------------------------------


def first_move_file() -> str:
    """The text of ``FirstMoveAt.v``."""
    lines = _head("Ball Vote", book="ours-certified-window")
    for D, C, q, p in FIRST_MOVES:
        win, u = first_move_witness(D, C, Fraction(q), p)
        kind = "win" if win else "lose"
        k = (p - 1) // 2
        a, b = Fraction(q).as_integer_ratio()
        lines += [
            f"Theorem {kind}_D{D}_C{C}_q{a}_{b}_p{p} : Companions_{kind} {k} ({a} / {b}) ({D} - {C}) {C}.",
            f"Proof. apply ({kind}s_right {a} {b} eq_refl (bits {_BITS['first move']}) {k} ({D} - {C}) {C} "
            f"{u.numerator} {u.denominator}); vm_cast_no_check (eq_refl true). Qed.",
        ]
    return "\n".join([*lines, ""])


def window_file() -> str:
    """The text of ``WindowAt.v``."""
    lines = [
        *_head("Ball Vote Window", " List Lra", "ours-certified-window"),
        "Import ListNotations.",
        "Open Scope R_scope.",
        "",
    ]
    for name, (low, high, sign, inside) in WINDOW.items():
        a = Fraction(low)
        b = Fraction(high)
        c = Fraction(inside)
        witnesses = window_witnesses(16, 4, 3, a, b, sign)
        d = math.lcm(a.denominator, *(end.denominator for end, _ in witnesses))
        y = math.lcm(*(u.denominator for _, u in witnesses))
        rows = ";".join(f"({int(end * d)},{int(u * y)})" for end, u in witnesses)
        if sign == 1:
            kind = "win"
            win = "true"
        else:
            kind = "lose"
            win = "false"
        between = f"{a.numerator} / {a.denominator} <= q <= {b.numerator} / {b.denominator}"
        at = f"({c.numerator} / {c.denominator})"
        lines += [
            f"Definition pieces_{name} : list (Z * Z) := [{rows}]%Z.",
            f"Theorem {kind}_{name} : forall q, {between} -> Companions_{kind} 1 q (16 - 4) 4.",
            "Proof.",
            f"  intros q Q. apply (pieces_right (bits {_BITS['window']}) {win} 1 (16 - 4) 4 {d} {y} "
            f"pieces_{name} {int(a * d)} {int(b * d)});",
            "  [vm_cast_no_check (eq_refl true) | lra | lra].",
            "Qed.",
            f"Example {kind}_{name}_instance : Companions_{kind} 1 {at} (16 - 4) 4.",
            f"Proof. apply {kind}_{name}. lra. Qed.",
            "",
        ]
    return "\n".join(lines)


def every_size_file() -> str:
    """The text of ``EverySizeAt.v``."""
    C, q = EVERY_SIZE
    a, b = Fraction(q).as_integer_ratio()
    witnesses = every_size_witnesses(C, float(Fraction(q)), BY_MOMENTS)
    claim = f"Companions_win 1 ({a} / {b})"
    decided = f"run_from_right {a} {b} ltac:(lia) ltac:(lia) {C} {2 * C} witnesses"
    lines = [
        *_head("Vote Moments Sizes", " List Lia", "ours-certified-first-move"),
        "Import ListNotations.",
        "",
        f"Definition witnesses : list Z := [{';'.join(map(str, witnesses))}]%Z.",
        f"Theorem first_move_every_size : forall L, (3 <= L)%nat -> {claim} ((L - 1) * {C}) {C}.",
        "Proof.",
        f"  intros L H. destruct (Nat.lt_ge_cases ((L - 1) * {C}) {BY_MOMENTS}) as [few | many].",
        f"  - replace ((L - 1) * {C})%nat with ({2 * C} + (L - 3) * {C})%nat by lia.",
        f"    apply ({decided}); [lia | vm_cast_no_check (eq_refl true) |].",
        f"    assert (E : length witnesses = {len(witnesses)}%nat) by reflexivity. lia.",
        "  - apply by_moments_from. lia.",
        "Qed.",
        f"Example first_move_every_size_instance : {claim} ((1000 - 1) * {C}) {C}.",
        "Proof. apply (first_move_every_size 1000). lia. Qed.",
    ]
    return "\n".join([*lines, ""])


def blocks_file() -> str:
    """The text of ``BlocksAt.v``."""
    lines = _head("Ball Best", book="ours-certified-blocks")
    for D, C, q in BLOCKS:
        a, b = Fraction(q).as_integer_ratio()
        x, z, y = blocks_witness(D, C, Fraction(q))
        size = "ltac:(repeat constructor)"
        lines += [
            f"Theorem blocks_D{D}_C{C}_q{a}_{b} : Best ({a} / {b}) {C} {D // C}.",
            f"Proof. apply (best_right {a} {b} eq_refl {C} {D // C} (bits {_BITS['blocks']}) {size} {size} "
            f"{x} {z} {y}); vm_cast_no_check (eq_refl true). Qed.",
        ]
    return "\n".join([*lines, ""])


def every_blocks_file() -> str:
    """The text of ``EveryBlocksAt.v``."""
    ((C, q),) = EVERY
    a, b = Fraction(q).as_integer_ratio()
    witnesses = every_blocks_witnesses(C, float(Fraction(q)), SETS_BY_MOMENTS)
    x, z, y = blocks_witness(3 * C, C, Fraction(q))
    claim = f"Best ({a} / {b}) {C}"
    size = "ltac:(repeat constructor)"
    three = f"best_right {a} {b} eq_refl {C} 3 (bits {_BITS['blocks']}) {size} {size} {x} {z} {y}"
    lines = [
        *_head("Ball Best BlocksSizes", " List Lia", "ours-certified-blocks"),
        "Import ListNotations.",
        "",
        f"Definition witnesses : list Z := [{';'.join(map(str, witnesses))}]%Z.",
        f"Theorem blocks_every_size : forall L, (3 <= L)%nat -> {claim} L.",
        "Proof.",
        f"  intros L H. destruct (Nat.lt_ge_cases L {SETS_BY_MOMENTS}) as [few | many].",
        "  - destruct (Nat.eq_dec L 3) as [-> | more].",
        f"    + apply ({three}); vm_cast_no_check (eq_refl true).",
        "    + replace L with (4 + (L - 4))%nat by lia.",
        "      apply (all_from_four_right witnesses); [vm_cast_no_check (eq_refl true) |].",
        f"      assert (E : length witnesses = {len(witnesses)}%nat) by reflexivity. lia.",
        "  - now apply optimal_from_moments.",
        "Qed.",
        f"Example blocks_every_size_instance : {claim} 1000.",
        "Proof. apply (blocks_every_size 1000). lia. Qed.",
    ]
    return "\n".join([*lines, ""])


def ends_file() -> str:
    """The text of ``EndsAt.v``."""
    run = RUNS["companions-lead"]
    D = run.num_patches
    C = run.set_size
    L = run.num_patches // run.set_size
    a, b = run.q.as_integer_ratio()
    n, d = run.linear.as_integer_ratio()
    pieces, x, z, far = end_witness(D, C, run.q, run.linear)
    bounds = []
    for low, high in END_POINT.values():
        unit = 10 ** (len(low) - 2)
        bounds.append((int(Fraction(low) * unit), int(Fraction(high) * unit), unit))
    (low, high, unit), (under, over, part) = bounds
    setting = f"({a} / {b}) {C} {L} ({n} / {d}) {run.diagonal}"
    between = f"({low} / {unit}) ({high} / {unit}) ({under} / {part}) ({over} / {part})"
    name = f"ends_D{D}_C{C}_q{a}_{b}"
    size = "ltac:(repeat constructor)"
    numbers = f"{x} {z} {far} {low} {high} {unit} {under} {over} {part}"
    lines = [
        *_head("Ball Ends", " List Lra", "ours-certified-end-point")[:-1],
        "From Coquelicot Require Import Coquelicot.",
        "Import ListNotations.",
        "Open Scope R_scope.",
        "",
        f"Definition falling : list Z := [{'; '.join(map(str, pieces))}]%Z.",
        f"Theorem {name} : Ends {setting} {between}.",
        f"Proof. apply (ends_right {a} {b} {n} {d} {run.diagonal} {C} {L} (bits {_BITS['ends']}) "
        f"eq_refl eq_refl {size} {size}",
        f"  {ALONG} falling {numbers}); vm_cast_no_check (eq_refl true). Qed.",
        "(** There are runs of rho that come to this point, and this is how. *)",
        f"Example {name}_instance : exists alpha k rh,",
        f"  {low} / {unit} < alpha < {high} / {unit} /\\ {under} / {part} < k < {over} / {part} /\\",
        f"  descends {setting} 1 (fun _ => alpha) (fun _ => {run.diagonal}) rh /\\",
        "  is_lim_seq (fun t => rh t + ln (INR t)) "
        f"(ln (INR ({L} * {C}) * (INR ({L} * {C}) - INR {C}) / (1 * k))).",
        f"Proof. apply run_met; [repeat constructor | repeat constructor | lra | exact {name}]. Qed.",
    ]
    return "\n".join([*lines, ""])


def overlap_file() -> str:
    """``Overlap.v``: prints Coq's enclosures of four of the six expectations over E[w*], at some settings."""
    lines = [*_head("Ball Blocks"), _SHOW]
    for D, C, q in BLOCKS[:4]:
        a, b = Fraction(q).as_integer_ratio()
        x, z, y = blocks_witness(D, C, Fraction(q))
        lines.append(f"Eval vm_compute in shown {a} {b} {C} {D // C} {x} {z} {y}.")
    return "\n".join([*lines, ""])


_SHOW = """From Interval Require Import Float Basic.
Open Scope Z_scope.
Definition ends (X : I.type) := match X with Float.Ibnd l u => (F.toF l, F.toF u) | _ => (Fnan, Fnan) end.
Definition shown a b C L x z y :=
  let p := bits 48 in let t := table a b C L p (between p x z y) in
  let over X := ends (I.div p X (mean_ball a b C p (free (L - 1)) t)) in
  (over (T1 a b C L p t), over (T4 a b C L p t), over (T5 a b C L p t), over (Td a b C L p t)).
"""

#: The written files, and what writes them.
FILES: dict[str, Callable[[], str]] = {
    "FirstMoveAt": first_move_file,
    "EverySizeAt": every_size_file,
    "WindowAt": window_file,
    "BlocksAt": blocks_file,
    "EveryBlocksAt": every_blocks_file,
    "EndsAt": ends_file,
    "Overlap": overlap_file,
}


def _head(needs: str, more: str = "", book: str = "") -> list:
    return [
        "(* Written by patch_lab.certify.witnesses. *)",
        *([f"(** In the book: {book}. *)"] if book else []),
        f"From Coq Require Import Reals ZArith{more}.",
        f"From Book Require Import {needs}.",
        "",
    ]
