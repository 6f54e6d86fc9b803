"""Arguments that work for the public functions of the room ``exact``; see ``public_calls``."""

import math

import numpy as np
from spoilers import arrays, functions, not_negative, positive, things

import patch_association as pa
from patch_association import exact
from patch_lab.dynamics.score_rates import score_rates

SETS = pa.Partition([0, 0, 1, 1])
PAIR = dict(num_patches=4, set_size=2)
RISK = pa.PopulationRisk(4, 2, 0.5)
LAW = exact.trinomial(3, 0.5).shift(1)
POINT = dict(risk=RISK, alpha=0.5, beta=1.0, gamma=0.1, rho=0.0)
LAYER = dict(num_inputs=2, num_patches=4, dim=3)
LIMIT = dict(set_size=2, ratio=1.0, per_set=0.5)
DRAWN = dict(draws=10, seed=0)

CALLS = {
    exact.BlockAttention: dict(partition=SETS, beta=1.0, gamma=1.0, rho=0.0),
    exact.DenseAttention: dict(scores=np.eye(4), scale=1.0),
    exact.exact_error: dict(
        attention=exact.BlockAttention.uniform(SETS),
        q=0.5,
        alpha=1.0,
        noise=0.1,
        degree=3,
        linear=0.1,
        fineness=1.0,
    ),
    exact.association_scores: dict(partition=SETS, strength=1.0),
    exact.chain_encodings: dict(partition=SETS, growth=4.5, gap=0.05),
    exact.derangement_scores: dict(partition=SETS, strength=1.0, shift=1),
    exact.hard_attention_bound: dict(**PAIR, q=0.5, degree=3, pooled_sets=1),
    exact.hard_attention_error: dict(**PAIR, q=0.5, degree=3, pooled_sets=1, ties="half"),
    exact.paired_encodings: dict(partition=SETS, share=12.0, repel=0.25, lift=1.0),
    exact.query_key_for: dict(scores=np.eye(4), encodings=np.eye(4)),
    exact.violations: dict(scores=np.eye(4), partition=SETS, ties="kind"),
    exact.descent_cost: dict(**LAYER, steps=3, seeds=1, element_size=4),
    exact.positional_attention_flops: LAYER,
    exact.self_attention_flops: LAYER,
    exact.simplified_flops: LAYER,
    exact.broken_set_error: dict(**PAIR, q=0.5, moved=1, degree=3),
    exact.diluted_error: dict(**PAIR, q=0.5, gamma=1.0, linear_weight=0.1, degree=3, **DRAWN),
    exact.diluted_limit: dict(set_size=2, chi=1.0, strength=1.0, linear_weight=0.1, degree=3),
    exact.in_set_mass: dict(**PAIR, gamma=1.0),
    exact.linear_weight: dict(**PAIR, gamma=1.0, linear=0.1, response=1.0, degree=3),
    exact.mismatch_forecast: dict(num_patches=6, set_size=2, q=0.5, fraction=0.2, degree=3),
    exact.draw_moments: POINT,
    exact.draws_needed: dict(moments={"loss": (0.5, 0.1)}, relative=0.1),
    exact.small_diagonal_drift: dict(**PAIR, q=0.5, alpha=0.5, degree=3, linear=0.1),
    exact.critical_diagonal: dict(num_sets=3, set_size=2),
    exact.critical_ratio: dict(num_sets=5, n=5, seed=0),
    exact.linear_disagreement: dict(num_sets=3, nodes=20),
    exact.proved_excess: dict(angle=0.3, num_sets=3),
    exact.sample_excess: dict(weights=[[1.0, 2.0]], n=5, seed=0),
    exact.sample_linear_disagreement: dict(num_sets=5, n=5, seed=0),
    exact.bayes_error: dict(**PAIR, q=0.5),
    exact.labeling_bounds: dict(**PAIR, q=0.5),
    exact.mimic_probability: dict(set_size=2, q=0.5),
    exact.trinomial: dict(n=3, q=0.5),
    exact.ScoreNoise: dict(**PAIR, q=0.5, degree=3, linear=0.1, diagonal=1.0),
    exact.best_arbitrary_error: dict(law=LAW),
    exact.best_monotone_error: dict(law=LAW),
    exact.critical_q: dict(num_patches=64, set_size=2, error=0.1, ties="half"),
    exact.decode: dict(score=3, num_sets=2, set_size=2),
    exact.decoding_weights: dict(num_sets=2, set_size=2),
    exact.labeling_error: dict(**PAIR, q=0.5),
    exact.labeling_law: dict(**PAIR, q=0.5),
    exact.linear_error: dict(**PAIR, q=0.5, ties="half"),
    exact.search_weights: dict(num_sets=2, set_size=1, q=0.5, largest=1),
    exact.weighted_law: dict(weights=[1, 2], set_size=2, q=0.5),
    exact.any_weights_bound: dict(**PAIR, q=0.5),
    exact.any_weights_boundary: dict(set_size=2, q=0.5, error=0.1),
    exact.any_weights_limit: dict(chi=1.0),
    exact.rademacher_tail: dict(s=0.1),
    exact.spread_weights_bound: dict(weights=[[1.0, 2.0], [3.0, 4.0]], q=0.5),
    exact.noisy_association: dict(**PAIR, noise=0.5),
    exact.cubic_form: dict(num_patches=9, set_size=3, q=0.5),
    exact.PopulationRisk: dict(**PAIR, q=0.5, degree=3, linear=0.1, prune=1e-9, max_atoms=1000),
    exact.known_sets_error: dict(**PAIR, q=0.5),
    exact.lower_bound: dict(num_patches=8, set_size=2, q=0.1, error=0.2),
    exact.set_mean_cosine: dict(set_size=2, samples=3, dim=4, noise_std=0.5),
    exact.wrong_sign: dict(**PAIR, q=0.5, samples=3),
    exact.all_sets_told: LIMIT,
    exact.equal_weights: LIMIT,
    exact.far_sets_told: dict(**LIMIT, **DRAWN),
    exact.samples_per_set: dict(error=lambda t: math.exp(-t), target=0.5, most=20.0, accuracy=1e-2),
    exact.weights_by_count: dict(**LIMIT, **DRAWN),
    score_rates: POINT,
    exact.blind_errors: dict(num_sets=2, set_size=2, n=5, seed=0, most=5),
    exact.num_partitions: dict(num_sets=2, set_size=2),
    exact.FirstMove: dict(num_patches=16, set_size=4, q=0.5, degree=3),
    exact.best_strengths: dict(num_patches=9, set_size=3, q=0.5, degree=3),
    exact.lower_edge: dict(set_size=2, degree=3),
    exact.upper_edge: dict(set_size=2, degree=3),
    exact.window: dict(num_patches=64, set_size=4, degree=3, points=12),
    exact.law_of_set_sums: dict(**PAIR, q=0.5, degree=3, prune=1e-9, max_atoms=1000),
    exact.support_bound: dict(**PAIR, q=0.5),
}

#: Where a name means something else than in other functions.
SPECIAL = {
    exact.weighted_law: dict(weights=arrays),
    exact.sample_excess: dict(weights=arrays),
    exact.spread_weights_bound: dict(weights=arrays),
    exact.samples_per_set: dict(error=functions, most=not_negative),
    exact.exact_error: dict(attention=things),
    exact.paired_encodings: dict(share=not_negative),
    exact.descent_cost: dict(seeds=positive),
    exact.set_mean_cosine: dict(samples=positive),
    exact.wrong_sign: dict(samples=positive),
    exact.diluted_limit: dict(strength=not_negative.filter(lambda value: value != math.inf)),
}
