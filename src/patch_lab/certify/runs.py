"""Certified runs: population descent from the paper's start, and the region that it ends in."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from patch_association.checks import divides, function, listed, made_of, odd_degree, positive_int
from patch_association.defaults import DEFAULT
from patch_lab.certify.cover import cover
from patch_lab.certify.descent import BallDescent, Undecided, ahead
from patch_lab.certify.ends import End
from patch_lab.certify.field import Field, decimal
from patch_lab.certify.law import atoms, exact_number
from patch_lab.certify.rounded import RoundedField
from patch_lab.certify.traps import Away, Towards

#: Bits of the ball arithmetic. 53 are enough for every statement here; 64 fill a machine word.
PRECISION = 64
ARITHMETICS = {"arb": Field, "double": RoundedField}


@dataclass
class Options:
    """How to prove: in which arithmetic the atoms are summed, where checkpoints go, and what to tell.

    Raises
    ------
    ValueError
        If there is no such arithmetic, or ``tell`` cannot be called.
    """

    arithmetic: str = "double"
    checkpoints: Path | None = None
    tell: Callable = lambda text: None

    def __post_init__(self):
        if self.arithmetic not in ARITHMETICS:
            raise ValueError(f"the arithmetic is one of {', '.join(ARITHMETICS)}, got {self.arithmetic!r}")
        function("tell", self.tell)


@dataclass(frozen=True)
class CertifiedRun:
    """Population descent from the paper's start, and the region that it ends in.

    ``expect`` lists pairs (step, sign): from that step on gamma - rho has this sign, up to the next pair.
    Where ``lemma`` names another run, that one has covered the trap: of the same setting, for rates that are
    not smaller. :meth:`prove` refuses any other.

    Raises
    ------
    ValueError
        If a number is not exact or out of range, or ``expect`` is no list of such pairs.
    """

    num_patches: int
    set_size: int
    q: Fraction
    rate: Fraction
    score_rate: Fraction
    alpha: Fraction
    steps: int
    expect: tuple
    degree: int = DEFAULT.degree
    diagonal: Fraction = Fraction(1)
    linear: Fraction = Fraction(1, 10_000)
    trap: Away | Towards | None = None
    trap_rates: tuple | None = None
    lemma: str | None = None
    errors_at: tuple = ()

    def __post_init__(self):
        divides(self.num_patches, self.set_size)
        odd_degree(self.degree)
        positive_int("steps", self.steps)
        for name in ("q", "rate", "score_rate", "alpha", "diagonal", "linear"):
            object.__setattr__(self, name, exact_number(name, getattr(self, name)))  # text is read here
        if not 0 <= self.q <= 1:
            raise ValueError(f"q must lie in [0, 1], got {self.q}")
        if min(self.rate, self.score_rate) <= 0:
            raise ValueError(f"rate must be positive, and score_rate, got {self.rate} and {self.score_rate}")
        for pair in listed("expect", self.expect, "pairs (step, sign)"):
            if len(listed("expect", pair, "pairs (step, sign)")) != 2 or pair[1] not in (1, -1):
                raise ValueError(f"expect must list pairs (step, 1 or -1), got {pair!r}")

    def _check_lemma(self, other: CertifiedRun | None) -> None:
        """Refuse a lemma that speaks of another risk, of another region, or of smaller rates."""
        if other is None or other.trap is None or other.lemma is not None:
            raise ValueError(f"lemma must name a run that covers its own trap, got {self.lemma!r}")
        for name in ("num_patches", "set_size", "q", "degree", "diagonal", "linear", "trap"):
            if getattr(self, name) != getattr(other, name):
                raise ValueError(
                    f"the lemma {self.lemma} must have the {name} of this run, {getattr(self, name)}, "
                    f"got {getattr(other, name)}"
                )
        covered = other.trap_rates or (other.rate, other.score_rate)
        if self.rate > covered[0] or self.score_rate > covered[1]:
            raise ValueError(
                f"the lemma {self.lemma} covers rates up to {covered[0]} and {covered[1]}, "
                f"got {self.rate} and {self.score_rate}"
            )

    def field(self, options: Options):
        """The risk in the arithmetic asked for."""
        law = atoms(self.num_patches, self.set_size, self.q, self.degree)
        return ARITHMETICS[options.arithmetic](law, self.diagonal, self.linear)

    def prove(self, options: Options) -> dict:
        """Follow it step by step, then cover the trap.

        Raises
        ------
        Undecided
            If a sign or the trap cannot be decided.
        ValueError
            If ``lemma`` is no run that covers this trap in this setting at rates like these.
        """
        if self.lemma is not None:
            self._check_lemma(RUNS.get(self.lemma))
        engine = self.field(options)
        report = {"arithmetic": options.arithmetic, "bits": PRECISION, "atoms": engine.atoms.size}
        start = last = time.perf_counter()
        descent = BallDescent(engine, self.rate, self.score_rate, (self.alpha, Fraction(0), Fraction(0)))
        changes = dict(self.expect)
        wanted = 0
        for state in descent:
            wanted = changes.get(state.step, wanted)
            if ahead(state.box) != wanted:
                raise Undecided(f"step {state.step}: gamma - rho has the sign {-wanted}, not {wanted}")
            if state.step in self.errors_at:
                report[f"error at {state.step}"] = decimal(engine.error(state.box))
            if state.step == self.steps:
                break
            if time.perf_counter() - last > 10:
                last = time.perf_counter()
                options.tell(f"step {state.step} of {self.steps}, radius {state.radius:.1e}")
        report |= {
            "steps": state.step,
            "radius": state.radius,
            "run seconds": time.perf_counter() - start,
        }
        report |= {name: decimal(x) for name, x in zip(("alpha", "gamma", "rho"), state.box)}
        if self.trap is not None:
            if not self.trap.holds(state.box):
                raise Undecided(f"step {state.step} does not lie in the trap")
            rates = self.trap_rates or (self.rate, self.score_rate)
        if self.trap is not None and self.lemma is None:
            report["covers"] = prove_trap(self.trap, engine, rates, options)
            report["boxes"] = sum(cover["boxes"] for cover in report["covers"].values())
        report["seconds"] = time.perf_counter() - start
        return report


def lead_run(q="3/10", rate="1/200", diagonal="1", steps: int = 150) -> CertifiedRun:
    """A run like "companions-lead" at a setting of one's own, to be followed for so many steps, no further.

    :meth:`CertifiedRun.prove` shows that gamma > rho at every step from 1 on, or raises ArithmeticError where
    it is not so or cannot be decided.

    Parameters
    ----------
    q, rate, diagonal : text, int or Fraction
        Exact: "3/10", not 0.3. The score rate is D^2 times ``rate``.
    steps : int

    Raises
    ------
    ValueError
        If a number is not exact or out of range.

    Examples
    --------
    >>> found = lead_run(q="1/5", steps=3).prove(Options())
    >>> found["steps"]
    3
    """
    rate = exact_number("rate", rate)
    start = RUNS["companions-lead"]
    return replace(
        start,
        q=q,
        rate=rate,
        score_rate=start.num_patches**2 * rate,
        diagonal=diagonal,
        steps=positive_int("steps", steps),
        trap=None,
        trap_rates=None,
        errors_at=(steps,),
    )


def prove_trap(trap, engine, rates, options: Options) -> dict:
    """Cover every inequality of a trap; {name: boxes, outside, least, seconds}.

    Raises
    ------
    Undecided
        If one of them cannot be covered.
    ValueError
        If these are no trap, Field, pair of exact rates and Options.
    """
    made_of("trap", trap, "region such as Towards", "inequalities")
    made_of("engine", engine, "Field", "D", "C", "enclose")
    made_of("options", options, "set of Options", "arithmetic", "checkpoints", "tell")
    rates = [exact_number("rates", rate) for rate in listed("rates", rates, "exact numbers")]
    if len(rates) != 2 or min(rates) <= 0:
        raise ValueError(f"rates must be two positive fractions, of alpha and of the scores, got {rates}")
    done = {}
    for name, problem in trap.inequalities(engine.D, engine.C, *rates).items():
        checkpoint = None
        if options.checkpoints is not None:
            checkpoint = (
                options.checkpoints / f"{options.arithmetic}-{abs(hash_of(problem, engine)):016x}.json"
            )

        def tell(state, name=name):
            return options.tell(
                f"{name}: {state['boxes']:,} boxes, {len(state['stack'])} left, {state['seconds']:.0f} s"
            )

        covered = cover(problem, engine, checkpoint=checkpoint, tell=tell)
        options.tell(f"{name}: {covered.boxes:,} boxes, least {covered.least:.1e}, {covered.seconds:.1f} s")
        done[name] = {
            "boxes": covered.boxes,
            "outside": covered.outside,
            "least": covered.least,
            "seconds": round(covered.seconds, 1),
        }
    return done


def hash_of(problem, engine) -> int:
    """A number that names a problem; Python's own hash differs from run to run."""
    return int(hashlib.sha256(f"{problem!r} {engine.name}".encode()).hexdigest()[:16], 16)


_TENTH = Fraction(1, 10)
_LEAD = {"num_patches": 16, "set_size": 4, "q": 3 * _TENTH, "alpha": Fraction(1, 100), "expect": ((1, 1),)}
_ASSOCIATED = Towards(
    (Fraction(5, 64), Fraction(13, 64)), Fraction(1, 128), Fraction(17, 32), Fraction(53, 64)
)
#: What both runs into this region come to.
END = End(_ASSOCIATED.alpha, _ASSOCIATED.Y, Fraction(1, 4), Fraction(7, 32), Fraction(1, 512))

RUNS = {
    "companions-lead": CertifiedRun(
        **_LEAD,
        rate=Fraction(1, 200),
        score_rate=Fraction(256, 200),
        steps=2003,
        trap=_ASSOCIATED,
        trap_rates=(Fraction(1, 100), Fraction(256, 200)),
        errors_at=(1, 710, 2003),
    ),
    "association-lost": CertifiedRun(
        num_patches=16,
        set_size=4,
        q=8 * _TENTH,
        rate=Fraction(1, 540),
        score_rate=Fraction(256, 540),
        alpha=Fraction(1, 100),
        steps=4683,
        expect=((1, 1), (77, -1)),
        trap=Away(
            (Fraction(259, 2048), Fraction(75, 512)),
            Fraction(1, 2048),
            Fraction(19, 64),
            Fraction(169, 256),
            Fraction(31, 32),
        ),
        errors_at=(4683,),
    ),
    "degree-five": CertifiedRun(
        **{**_LEAD, "alpha": _TENTH},
        degree=5,
        rate=Fraction(1, 200),
        score_rate=Fraction(256, 200),
        steps=2000,
        errors_at=(2000,),
    ),
    "single-rate": CertifiedRun(
        **_LEAD,
        rate=Fraction(1, 100),
        score_rate=Fraction(1, 100),
        steps=87_000,
        trap=_ASSOCIATED,
        lemma="companions-lead",
        errors_at=(1962,),
    ),
    "many-patches": CertifiedRun(
        num_patches=36,
        set_size=4,
        q=Fraction(13, 100),
        alpha=Fraction(1, 100),
        rate=Fraction(1, 100),
        score_rate=Fraction(1296, 100),
        steps=200,
        expect=((1, 1),),
        errors_at=(),
    ),
}
