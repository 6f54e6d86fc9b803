"""The same question under different criteria: one table of numbers that seem to contradict each other.

Every number is read from the ledger's evidence or computed from a record while the book is built.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from patch_lab import records
from patch_lab.certify.runs import RUNS
from patch_lab.images.flops import attention_flops
from patch_lab.ledger import shipped
from patch_lab.prose import number, percent
from patch_lab.setting.costs import positional_attention_flops, self_attention_flops
from patch_lab.transfer.complexity import sample_complexity
from patch_lab.transfer.recorded import averaged_by_patches, by_patches

TARGET = 0.05  # the error at which the part on transfer counts samples


@dataclass(frozen=True)
class Answer:
    """One number with the criterion under which it is right, and the chapter that measures it."""

    value: str
    criterion: str
    chapter: str


def evidence(claim: str, key: str) -> str:
    """A number of the ledger as its card shows it."""
    found = shipped()[claim].evidence
    if key not in found:
        raise ValueError(f"claim {claim!r} has no evidence {key!r}; it has {', '.join(found)}")
    return found[key].show()


def single_rate() -> list[Answer]:
    """How many steps of the single rate."""
    recorded = records.load("realistic").config["settings"]["single-rate"]
    slow = records.load("idealized").one(part="single rate", diagonal=1.0)
    return [
        Answer(
            f"{recorded['steps']:,}",
            f"on {recorded['n']:,} inputs, $\\sigma_A = {recorded['diagonal']}$: where the runs were "
            "stopped, with exact association and small scores",
            "dynamics/realistic",
        ),
        Answer(
            evidence("ours-single-rate-time", "single_16"),
            "population: until $\\gamma - \\rho = 1$, at the largest rate that is stable all the way",
            "dynamics/limits",
        ),
        Answer(
            evidence("ours-single-rate-time", "integral"),
            "population: the same at half that rate",
            "dynamics/limits",
        ),
        Answer(
            f"{slow['T1']:,}",
            f"population, $\\eta = {slow['rate']}$: until $\\gamma$ exceeds the largest "
            "$\\lvert\\rho\\rvert$ of its run (Event II)",
            "dynamics/idealized",
        ),
        Answer(
            evidence("ours-certified-lead", "single"),
            f"population, $\\eta = {float(RUNS['single-rate'].rate):g}$: until the run is in a region that "
            "it provably never leaves",
            "dynamics/certified",
        ),
    ]


def samples_36() -> list[Answer]:
    """How many samples for a new task."""
    tuned = sample_complexity(*by_patches(records.load("transfer-scratch"))[36])
    thrice = averaged_by_patches(records.load("transfer-pretrained").where(steps=250), "pretraining")[36]
    return [
        Answer(
            evidence("jelassi2022-theorem-5.1", "learned_36"),
            "learned attention, one pre-training, run on the page",
            "transfer/fine_tuning",
        ),
        Answer(
            number(sample_complexity(*thrice).value, 2),
            "learned attention, mean error of three pre-trainings",
            "transfer/sample_complexity",
        ),
        Answer(
            evidence("ours-lower-bound", "samples_36"),
            "what any learner needs that does not know the sets (a bound)",
            "transfer/sample_complexity",
        ),
        Answer(
            evidence("jelassi2022-theorem-5.1", "scratch_36"),
            "from scratch, at the setting of the page, few seeds",
            "transfer/fine_tuning",
        ),
        Answer(
            number(tuned.value),
            "from scratch, at the setting that its validation seeds chose",
            "transfer/sample_complexity",
        ),
    ]


def positional_cost() -> list[Answer]:
    """What positional attention costs beside vanilla attention."""
    layer = 32, 197, 192  # inputs, patches, dimension
    positional, vanilla = (attention_flops(64, 64, kind).forward(128) for kind in (True, False))
    return [
        Answer(
            number(positional_attention_flops(*layer) / self_attention_flops(*layer), 2),
            "operations of one attention layer, patches of dimension 192, $D = 197$, batches of 32",
            "setting/attention",
        ),
        Answer(
            number(positional / vanilla, 2),
            "operations of the attention alone, in a batch of 128: $(B + 1)/2B$",
            "images/positional_vit",
        ),
        Answer(
            evidence("ours-cost-of-positional-vit", "formula_64"),
            "operations of the paper's whole model at 64 tokens, in batches of 64",
            "images/positional_vit",
        ),
        Answer(
            evidence("ours-cost-of-positional-vit", "time_64"),
            "measured time of a training step of that model",
            "images/positional_vit",
        ),
        Answer(
            evidence("jelassi2022-figure-6", "by_operations"),
            "operations of the model of Figure 6, whose MLPs weigh more",
            "images/large_scale",
        ),
    ]


def longer() -> list[Answer]:
    """Whether to train longer."""
    tries = records.load("transience")
    steps = tries.config["steps"]
    held = {}
    for q in (0.05, 0.4):
        margins = np.concatenate([cell["margin"] for cell in tries.where(q=q)])  # (runs, records)
        had = margins[(margins > 0).any(axis=1)]
        held[q] = f"{int((had[:, -1] > 0).sum())} of {len(had)}"
    far = {
        n: averaged_by_patches(records.load("transfer-pretrained").where(steps=n), "pretraining")[400]
        for n in (250, 1000)
    }
    (sizes, brief), needed = far[250], sample_complexity(*far[1000])
    return [
        Answer(
            "for ever", "association on the population, $q = 0.3$: proved by computer", "dynamics/certified"
        ),
        *(
            Answer(
                kept,
                f"runs that reached exact association on a sample, $D = 16$, $q = {q:g}$, and still have it "
                f"at step {steps:,}",
                "dynamics/longer",
            )
            for q, kept in held.items()
        ),
        Answer(
            percent(float(brief[:, -1].mean()), 0),
            f"error of a new task from {sizes[-1]} samples after 250 steps of pre-training, $D = 400$: too "
            "short",
            "transfer/sample_complexity",
        ),
        Answer(
            str(needed).split(" ")[0],
            f"samples to an error of {percent(TARGET, 0)} there after 1,000 steps: longer is better",
            "transfer/sample_complexity",
        ),
    ]


QUESTIONS = {
    "How many steps with the single rate, $D = 16$, $q = 0.3$?": single_rate,
    "How many samples for a new task, $D = 36$, error 5%?": samples_36,
    "What does positional attention cost, vanilla attention being one?": positional_cost,
    "Should one train longer?": longer,
}


def criteria_table() -> str:
    """The table in MyST."""
    rows = ["| question | answer | under which criterion | chapter |", "|---|---|---|---|"]
    for question, answers in QUESTIONS.items():
        for place, answer in enumerate(answers()):
            first = question if place == 0 else ""
            rows.append(
                f"| {first} | {answer.value} | {answer.criterion} | {{doc}}`/book/{answer.chapter}` |"
            )
    return "\n".join(rows)
