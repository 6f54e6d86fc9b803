"""The certified statements, by name: what is claimed, and the computation that proves it.

A proof returns what was found, or raises :class:`~patch_lab.certify.descent.Undecided`. Nothing is
taken from an earlier run: a statement that was proved before is proved again from nothing.
Except: single-rate and where-it-ends rely on companions-lead, the latter on single-rate too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import ctx

from patch_association.checks import made_of
from patch_lab.certify import signs
from patch_lab.certify.blocks import two_inequalities
from patch_lab.certify.descent import Undecided
from patch_lab.certify.field import ball, decimal
from patch_lab.certify.quadrant import quadrant
from patch_lab.certify.runs import END, PRECISION, RUNS, Options
from patch_lab.kit import records

#: Seconds that the statements proved by default may take together, as recorded.
QUICK = 120.0


@dataclass(frozen=True)
class Statement:
    """One certified statement.

    Attributes
    ----------
    text : str
        The statement, complete: every number that it depends on. Mathematics between dollar signs.
    prove : callable
        ``prove(options)`` returns a dict of what was found: steps, boxes, enclosures as text.
    """

    text: str
    prove: Callable[[Options], dict]


#: first-move-window, in intervals of q: low, high, the sign (1 where companions win), and a q inside.
WINDOW = {
    "below": ("1/200", "0.0753", -1, "1/20"),
    "inside": ("0.0758", "0.7360", 1, "3/10"),
    "above": ("0.7365", "1", -1, "4/5"),
}

#: (D, C, q, p) at which the kernel of Coq decides the first move one by one.
FIRST_MOVES = (
    *((16, 4, q, 3) for q in ("3/10", "4/5", "1/20", "1/2", "7/10", "3/4")),
    *((D, 4, "3/10", 3) for D in (12, 24, 32, 64, 128)),
    (12, 4, "1/10", 3),
    (12, 3, "3/10", 3),
    (64, 4, "69/100", 3),
    (16, 4, "3/10", 5),
    (32, 8, "3/10", 5),
)

#: (C, q) at which companions win at every number of sets, and the D - C from which on moments show it.
EVERY_SIZE = (4, "3/10")
BY_MOMENTS = 3256


def _window(options: Options) -> dict:
    pieces = signs.window(16, 4, 3, Fraction(1, 200), Fraction(1, 160_000))
    decided = [(sign, low, high) for low, high, sign in pieces if sign]
    wanted = [(sign, Fraction(low), Fraction(high)) for low, high, sign, _ in WINDOW.values()]
    if [sign for _, _, sign in pieces] != [-1, 0, 1, 0, -1] or any(
        not window[1] <= asked[1] <= asked[2] <= window[2] for window, asked in zip(decided, wanted)
    ):
        raise Undecided(f"the signs are {signs.describe(pieces)}")
    ends = [f"between {float(low):.6f} and {float(high):.6f}" for low, high, sign in pieces if sign == 0]
    return dict(zip(("lower change", "upper change"), ends))


def _quadrant(options: Options) -> dict:
    report = {"arithmetic": options.arithmetic}
    for q in (Fraction(3, 10), Fraction(1, 10), Fraction(1, 2)):
        for name, edge in quadrant(16, 4, q, 1, exact=options.arithmetic == "arb").items():
            report |= {
                f"pieces, q = {q}, {name}": edge.pieces,
                f"least bound, q = {q}, {name}": edge.least,
            }
    return report


#: (D, C, q) at which the condition of theorem "Block attention is optimal" is proved.
BLOCKS = (
    *((16, 4, q) for q in ("1/10", "3/10", "1/2", "4/5")),
    *((24, 4, q) for q in ("3/10", "4/5")),
    (15, 3, "1/2"),
    (8, 2, "3/10"),
    (16, 2, "3/10"),
    (12, 4, "3/10"),
    (9, 3, "3/10"),
)

#: (C, q) at which it is proved for every number of sets, and the L from which on moments show it to Coq.
EVERY = ((2, "3/10"),)
SETS_BY_MOMENTS = 116


def _blocks(options: Options) -> dict:
    spare = {f"({D}, {C}, {q})": two_inequalities(D, C, q)["spare"] for D, C, q in BLOCKS}
    return {f"-3 u - psi - (L - 2) t_d at {name}": decimal(x, 8) for name, x in spare.items()}


#: Where the runs of where-it-ends end: between which numbers alpha_inf and k lie.
END_POINT = {"alpha": ("0.090707", "0.090708"), "k": ("0.0038692", "0.0038693")}


def _end(options: Options) -> dict:
    run = RUNS["companions-lead"]
    assert run.trap_rates is not None
    report, alpha, k = END.prove(run.field(options), *run.trap_rates)
    for (name, (low, high)), x in zip(END_POINT.items(), (alpha, k)):
        if not ball(Fraction(low)) < x < ball(Fraction(high)):
            raise Undecided(f"{name} is {x} at the end")
    return {
        "arithmetic": options.arithmetic,
        **report,
        "alpha at the end": decimal(alpha),
        "k": decimal(k),
    }


_TEXTS = {
    "first-move-window": r"""
        $D = 16$, $C = 4$, $p = 3$, $\nu = 0$, diagonal tending to zero, $0.005 \le q \le 1$: but for two
        intervals of $q$ shorter than 0.001, companions lose at $\alpha^\star$ below the first, win at every
        $\alpha \le \alpha^\star$ between the two, and lose at $\alpha^\star$ above the second.""",
    "quadrant-keeps": r"""
        $D = 16$, $C = 4$, $p = 3$, $\nu = 0$, $\sigma_A = 1$, $q = 0.3$, 0.1 and 0.5: at the best $\alpha$,
        which is finite, $\partial\mathcal L/\partial\gamma < 0$ on all of $\gamma = 0 \ge \rho$ and
        $\partial\mathcal L/\partial\rho > 0$ on all of $\gamma \ge 0 = \rho$, infinite scores included (at
        $\gamma = \infty$ divided by $\Xi$).""",
    "blocks-are-best": r"""
        $p = 3$, $\nu = 0$, at $(D, C, q) = (16, 4, 0.1)$, $(16, 4, 0.3)$, $(16, 4, 0.5)$, $(16, 4, 0.8)$,
        $(24, 4, 0.3)$, $(24, 4, 0.8)$, $(15, 3, 0.5)$, $(8, 2, 0.3)$, $(16, 2, 0.3)$, $(12, 4, 0.3)$ and
        $(9, 3, 0.3)$: no $\mathbf A$, its diagonal included, and no $\mathbf v$ have a smaller population
        risk than attention $1/C$ to each patch of the own set with the best $\alpha$.""",
    "companions-lead": r"""
        $D = 16$, $C = 4$, $q = 0.3$, $p = 3$, $\nu = 10^{-4}$, $\sigma_A = 1$, from $\alpha = 0.01$,
        $\gamma = \rho = 0$, rates $\eta = 1/200$ and $\eta_A = D^2 \eta$: $\gamma > \rho$ after every step
        $t \ge 1$, forever. From step 2003 on $\gamma$ stays above 0.63, and $\rho$ falls at every step.""",
    "where-it-ends": r"""
        The two runs of companions-lead and of single-rate, $\eta_A$ their rate of the scores, end alike:
        $\rho \to -\infty$, $\gamma \to \sigma_A = 1$, $\alpha \to \alpha_\infty$ with $0.090707 <
        \alpha_\infty < 0.090708$, and $\rho + \log t \to \log(D(D - C)/(\eta_A k))$ with $0.0038692 < k <
        0.0038693$.""",
    "association-lost": r"""
        $D = 16$, $C = 4$, $q = 0.8$, $p = 3$, $\nu = 10^{-4}$, $\sigma_A = 1$, from $\alpha = 0.01$,
        $\gamma = \rho = 0$, rates $\eta = 1/540$ and $\eta_A = D^2 \eta$: $\gamma > \rho$ at the steps 1 to
        76, $\gamma < \rho$ at step 77 and at every step after it, forever.""",
    "degree-five": r"""
        $p = 5$, $D = 16$, $C = 4$, $q = 0.3$, $\nu = 10^{-4}$, $\sigma_A = 1$, from $\alpha = 0.1$,
        $\gamma = \rho = 0$, rates $\eta = 1/200$ and $\eta_A = D^2 \eta$: $\gamma > \rho$ at every step from
        1 to 2000, where the error is below 0.0021.""",
    "single-rate": r"""
        The paper's single rate: $D = 16$, $C = 4$, $q = 0.3$, $p = 3$, $\nu = 10^{-4}$, $\sigma_A = 1$, from
        $\alpha = 0.01$, $\gamma = \rho = 0$, $\eta = \eta_A = 1/100$: $\gamma > \rho$ after every step
        $t \ge 1$, forever. (After 87,000 steps it is in the region that companions-lead covers.)""",
    "many-patches": r"""
        $D = 36$, $C = 4$, $q = 0.13$, $p = 3$, $\nu = 10^{-4}$, $\sigma_A = 1$, from $\alpha = 0.01$,
        $\gamma = \rho = 0$, rates $\eta = 1/100$ and $\eta_A = D^2 \eta$: $\gamma > \rho$ at every step from
        1 to 200.""",
}
_PROOFS = {
    "first-move-window": _window,
    "quadrant-keeps": _quadrant,
    "blocks-are-best": _blocks,
    "where-it-ends": _end,
}

STATEMENTS = {
    name: Statement(" ".join(text.split()), _PROOFS[name] if name in _PROOFS else RUNS[name].prove)
    for name, text in _TEXTS.items()
}


def quick() -> tuple:
    """The names of the statements that are proved by default: the fastest, :data:`QUICK` seconds in all.

    Seconds are those of the record ``certified``. A statement that is not recorded yet is not quick.
    """
    seconds = {
        row["statement"]: row["seconds"] for row in records.load("certified").where(arithmetic="double")
    }
    chosen = set()
    total = 0.0
    for name in sorted(STATEMENTS.keys() & seconds.keys(), key=lambda name: seconds[name]):
        total += seconds[name]
        if total >= QUICK:
            break
        chosen.add(name)
    return tuple(name for name in STATEMENTS if name in chosen)


def prove(name: str, options: Options | None = None) -> dict:
    """Prove a statement anew; what was found, with its seconds.

    Raises
    ------
    ValueError
        If there is no statement of this name, or ``options`` are none.
    Undecided
        If it cannot be certified.
    """
    if name not in STATEMENTS:
        raise ValueError(f"there is no certified statement {name!r}; there are {', '.join(STATEMENTS)}")
    options = Options() if options is None else options
    made_of("options", options, "set of Options", "arithmetic", "checkpoints", "tell")
    before = ctx.prec
    ctx.prec = PRECISION
    start = time.perf_counter()
    try:
        certificate = STATEMENTS[name].prove(options)
    finally:
        ctx.prec = before
    return certificate | {"seconds": round(time.perf_counter() - start, 1)}
