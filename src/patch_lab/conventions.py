"""Each departure of a chapter from the one default setting, with its reason.

The page ``book/conventions.md`` is made from it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from patch_association.defaults import DEFAULT, ModelSetting


@dataclass(frozen=True)
class Departure:
    """Where the book leaves the default setting, for what, and why.

    Attributes
    ----------
    chapters : tuple of str
    setting : ModelSetting
        What holds there.
    reason : str
        In MyST.
    values : str
        What a setting cannot hold, in MyST: "several diagonals", another start.
    """

    chapters: tuple[str, ...]
    setting: ModelSetting
    reason: str
    values: str = ""

    def changed(self) -> dict:
        """What differs from the default, by name."""
        pairs = {f.name: getattr(self.setting, f.name) for f in fields(ModelSetting)}
        return {name: value for name, value in pairs.items() if value != getattr(DEFAULT, name)}


#: Section 4.1 is about a small start.
SMALL_START = replace(DEFAULT, linear=1e-4)
#: The theorems on the first move and on the end of runs.
NO_LINEAR_PART = replace(DEFAULT, linear=0.0)
#: One rate for everything, as the paper's (GD) prints it.
SINGLE_RATE = replace(DEFAULT, diagonal=1.5, init_std=0.001, rate=0.1, score_rate_power=0)
#: Section 5: the value vector on its own, and training from scratch beside it.
TRANSFER = replace(DEFAULT, linear=0.1, diagonal=4.0)
#: The learners of the Gaussian example.
GAUSSIAN = replace(DEFAULT, diagonal=4.0, init_std=0.1)

DEPARTURES = (
    Departure(
        ("setting/spatial_data",),
        DEFAULT,
        "beyond ten patches a set may miss one and still pass the threshold of $f^\\star$.",
        "$C = 11$ beside $4$",
    ),
    Departure(
        ("setting/attention",),
        DEFAULT,
        "there the subject is the factor $1/\\sqrt d$: a proposition says which rates and diagonals match.",
        "softmax with and without $1/\\sqrt d$; with it $\\sigma_A = \\sqrt d$ and $d$ times the rate of "
        "$\\mathbf A$; its long runs have $\\eta = 10^{-4}$ and $\\eta_{\\mathbf A} = 1$",
    ),
    Departure(
        ("setting/linear_models", "setting/without_structure"),
        DEFAULT,
        "their theorems are about sets that grow; hard attention to whole sets has no rates and no start.",
        "$C$ up to 32; $\\nu = 0$ with hard attention",
    ),
    Departure(
        ("setting/gaussian_patches",),
        GAUSSIAN,
        "learners of different kinds are trained by one recipe, so none can have the rates of (T). How the "
        "diagonal turns the first step is a result of that chapter.",
        "Adam on fresh inputs; $\\sigma_A = 0$, $2$ and $4$; the encodings of the ViT start at "
        "$\\mathcal N(0, 1)$",
    ),
    Departure(
        ("dynamics/three_scalars",),
        DEFAULT,
        "descent over every parameter sums over every input, which small sizes alone allow; a steeper "
        "activation bears smaller steps.",
        "$C = 2$ and $3$ at $D = 6$, $8$ and $9$; $\\eta = 0.02/2^{p - 3}$",
    ),
    Departure(
        ("dynamics/idealized",),
        SMALL_START,
        "section 4.1 begins at a small $\\alpha^{(0)}$. $0.1$ is near the best $\\alpha$ at the starting "
        "scores (beyond it at $\\sigma_A = 4$), and Event I would hardly be seen.",
        f"so $\\alpha^{{(0)}} = {SMALL_START.alpha:g}$; $\\sigma_A = 1$, $2$ and $4$; $\\eta = 0.1$ "
        "over the curvature, at most $0.08/D$",
    ),
    Departure(
        ("dynamics/companions",),
        NO_LINEAR_PART,
        "its theorems need $\\nu = 0$, where the first move depends on $D\\alpha^p$ alone; runs start at "
        "the best $\\alpha$ for their scores.",
        "a diagonal that tends to zero in the first half; several ratios of the rates",
    ),
    Departure(
        ("dynamics/certified",),
        SMALL_START,
        "its theorems are about the start of section 4.1, in exact fractions.",
        f"so $\\alpha^{{(0)}} = {SMALL_START.alpha:g}$; $\\eta = 1/200$ to $1/540$; the single rate $1/100$",
    ),
    Departure(
        ("dynamics/realistic",),
        DEFAULT,
        "rates and step counts were chosen on trial runs; larger sizes bear smaller steps.",
        "$\\eta = 0.015$ at $D = 64$, $0.01$ at $D = 196$",
    ),
    Departure(
        ("dynamics/realistic",),
        SINGLE_RATE,
        "the paper prints one rate for $\\mathbf v$ and $\\mathbf A$. The scores are then $D^2$ times "
        "slower: such a run takes thousands of steps.",
    ),
    Departure(
        ("dynamics/limits", "dynamics/longer"),
        DEFAULT,
        "the subject is where the default stops working.",
        "$\\sigma_A = 0$ to $3$; rates up to the edge of stability",
    ),
    Departure(
        ("transfer/fine_tuning", "transfer/sample_complexity", "transfer/mismatch"),
        TRANSFER,
        "near zero the linear part is the only slope that a value vector has, and fine-tuning is short. "
        "The diagonal is that of the attention that is transferred.",
        "$\\gamma = 4$ or $\\log D$; $\\mathbf v^{(0)} \\sim \\mathcal N(0, (\\omega/D)^2 \\mathbf I)$; "
        "clipped steps $\\min(0.5/D^2,\\ 0.1\\, \\lVert\\mathbf v\\rVert / \\lVert\\nabla\\rVert)$; "
        "from scratch $\\eta_{\\mathbf A}$ and "
        "$\\sigma_A$ that a validation set chose",
    ),
    Departure(
        ("beyond/two_theories", "beyond/deeper"),
        DEFAULT,
        "networks of many kinds are trained alike, so none can have the rates of (T); seeds are trained "
        "together.",
        "Adam on fresh inputs; $C = 3$ where places and keys are crossed",
    ),
)

#: Field of :class:`ModelSetting` -> how the page writes it.
LETTERS = {
    "degree": ("$p$", "degree of the activation $\\sigma(x) = x^p + \\nu x$"),
    "linear": ("$\\nu$", "its linear part"),
    "alpha": ("$\\alpha^{(0)} = \\nu^{1/(p-1)}$", "start of $\\mathbf v$ along $\\mathbf w^\\star$"),
    "set_size": ("$C$", "patches in a set"),
    "diagonal": ("$\\sigma_A = \\beta$", "the fixed diagonal of $\\mathbf A$"),
    "init_std": ("$\\omega$", "standard deviation of a random start"),
    "rate": ("$\\eta$", "rate of $\\mathbf v$"),
    "score_rate_power": ("$k$", "$\\eta_{\\mathbf A} = D^k \\eta$ is the rate of $\\mathbf A$"),
}


def default_table() -> str:
    """The default setting as a MyST table."""
    rows = ["| letter | what it is | name in the code | value |", "|---|---|---|---|"]
    for name, (letter, meaning) in LETTERS.items():
        rows.append(f"| {letter} | {meaning} | `{name}` | {_written(getattr(DEFAULT, name))} |")
    return "\n".join(rows)


def departures_table() -> str:
    """Every departure as a MyST table."""
    rows = ["| chapter | what differs | why |", "|---|---|---|"]
    for departure in DEPARTURES:
        values = [f"{LETTERS[name][0]} = {_written(value)}" for name, value in departure.changed().items()]
        values = [value.replace("$ = $", " = ") for value in values]
        said = "; ".join([*values, *([departure.values] if departure.values else [])])
        chapters = ", ".join(f"{{doc}}`/book/{chapter}`" for chapter in departure.chapters)
        rows.append(f"| {chapters} | {said} | {departure.reason} |")
    return "\n".join(rows)


def _written(value) -> str:
    return f"${round(value, 12):g}$"
