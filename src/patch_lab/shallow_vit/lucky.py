"""Lucky neurons (Definition 2 of Li et al.), as defined and as far as they matter."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch

from patch_association.checks import finite, positive_int
from patch_association.shallow import PatternData, Weights, population, train
from patch_lab.shallow_vit.assumption import nearest_frame


def mechanism(design: PatternData, then: Weights, now: Weights) -> dict[str, float]:
    """What training did to neurons whose gate is open at mu_1 and whose a_i is positive, and to the images.

    ``open``, ``nearest``: the share of such neurons, and of rows to which W_V mu_1 is the nearest image;
    ``stay``: the share of them still open; ``before``, ``after``: their median angle to W_V mu_1, degrees;
    ``rows``, ``value``, ``value_other``, ``key``, ``key_other``: growth factors.
    """
    values = [w.value @ design.patterns.T for w in (then, now)]  # (R, a, M)
    gates = [torch.einsum("rma,raj->rmj", w.output, v) for w, v in zip((then, now), values)]  # (R, m, M)
    lucky = (then.head > 0) & (gates[0][..., 0] > 0)
    # (R, m)
    cosine = [
        torch.nn.functional.cosine_similarity(w.output, v[:, None, :, 0], dim=-1)
        for w, v in zip((then, now), values)
    ]
    angle = [float(torch.rad2deg(torch.acos(c.clamp(-1, 1)))[lucky].median()) for c in cosine]
    # (M,)
    grown = {
        name: (
            (getattr(now, name) @ design.patterns.T).norm(dim=1)
            / (getattr(then, name) @ design.patterns.T).norm(dim=1)
        ).mean(dim=0)
        for name in ("value", "key", "query")
    }
    rows = now.output.norm(dim=-1) / then.output.norm(dim=-1)
    return {
        "open": float(lucky.double().mean()),
        "nearest": float((gates[0].argmax(-1) == 0).double().mean()),
        "stay": float((gates[1][..., 0] > 0)[lucky].double().mean()),
        "before": angle[0],
        "after": angle[1],
        "rows": float(rows[lucky].mean()),
        "value": float(grown["value"][:2].mean()),
        "value_other": float(grown["value"][2:].mean()),
        "key": min(float(grown[name][:2].mean()) for name in ("key", "query")),
        "key_other": max(float(grown[name][2:].mean()) for name in ("key", "query")),
    }


def query_scores(design: PatternData, weights: Weights, query: int = 0) -> torch.Tensor:
    """(R, M) scores that the patterns get, as keys, from one pattern: mu_j^T W_K^T W_Q mu_query."""
    asked = (weights.query @ design.patterns.T)[..., query]  # (R, b)
    return torch.einsum("rbj,rb->rj", weights.key @ design.patterns.T, asked)


def own_mass(design: PatternData, weights: Weights) -> float:
    """What mu_1 pays the tokens that show it in an input of the class +1; a mean over networks."""
    fractions = torch.tensor(design.class_counts()[0] / design.num_tokens)  # (M,)
    scores = query_scores(design, weights)
    return float(torch.softmax(scores + fractions.log(), dim=-1)[:, 0].mean())


@dataclass(frozen=True)
class Planted:
    """How many rows were turned to be lucky with either sign of a_i, and how many of them still are."""

    planted: int
    positive: int
    negative: int
    fitted: bool


def planted_lucky(design: PatternData, weights: Weights, cone: float, rows: int = 20) -> Weights:
    """The weights with the first ``rows`` rows turned to within ``cone`` radians of p_1, their lengths kept.

    Every other one of them gets a positive a_i, the others a negative one. p_1 is the first of the
    orthonormal vectors nearest to the values of the patterns.

    Raises
    ------
    ValueError
        If the cone is not between 0 and pi / 2, or there are fewer rows.
    """
    if not 0 < finite("cone", cone) < np.pi / 2:
        raise ValueError(f"cone must lie between 0 and pi / 2, got {cone}")
    if positive_int("rows", rows, minimum=2) > weights.output.shape[1]:
        raise ValueError(f"rows must be at most {weights.output.shape[1]}, all that there are, got {rows}")
    p = first_direction(design, weights)[:, None]  # (R, 1, a)
    drawn = np.random.default_rng(0)
    output = weights.output.clone()
    head = weights.head.clone()
    aside = torch.from_numpy(drawn.standard_normal((len(p), rows, p.shape[-1]))).to(p)
    aside -= (aside * p).sum(-1, keepdim=True) * p
    theta = torch.from_numpy(drawn.uniform(0, cone, (len(p), rows, 1))).to(p)
    toward = theta.cos() * p + theta.sin() * aside / aside.norm(dim=-1, keepdim=True)
    output[:, :rows] = output[:, :rows].norm(dim=-1, keepdim=True) * toward
    head[:, :rows:2], head[:, 1:rows:2] = head[:, :rows:2].abs(), -head[:, 1:rows:2].abs()
    return replace(weights, output=output, head=head)


def first_direction(design: PatternData, weights: Weights) -> torch.Tensor:
    """The image p_1 of the first pattern in the nearest frame, of shape (R, a)."""
    return nearest_frame(weights.value @ design.patterns.T)[..., 0]


def still_lucky(
    design: PatternData, start: Weights, rate: float, cone: float, rows: int = 20, steps: int = 8000
) -> Planted:
    """Plant lucky rows, train on the population until every hinge is zero, and count who is lucky still."""
    p = first_direction(design, start)[:, None]  # (R, 1, a)
    run = train(population(design), planted_lucky(design, start, cone, rows), steps=steps, rate=rate)
    cosine = torch.nn.functional.cosine_similarity(run.weights.output[:, :rows], p, dim=-1)  # (R, rows)
    inside = cosine >= np.cos(cone)
    positive = inside[:, ::2]
    negative = inside[:, 1::2]
    fitted = bool((run.fitted_at >= 0).all())
    return Planted(positive.numel(), int(positive.sum()), int(negative.sum()), fitted)
