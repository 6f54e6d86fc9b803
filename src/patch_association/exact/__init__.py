"""What needs no sampling: laws of sums, linear predictors, constructions, the population risk, limits.

The names below are the room's face; each is imported from its module when it is first used.

``laws``, ``types_law``  laws of integer sums, and of the set sums of Assumption 1
``labels``  the least error of any predictor, and what the labeling function does
``linear``, ``linear_bounds``  generalized linear predictors (Theorem 3.1), and bounds for all weights
``constructions``, ``optimality``  attention built by hand (Theorem 3.2), and when none is better
``risk``, ``draw_noise``, ``score_rates``  the population risk of (T), its noise, and the rates of Lemma 4.3
``drift``, ``sign``  which way the scores first move, and for which q
``lifetime``  how far single scores stray on N inputs, to first order
``block_attention``, ``block_error``, ``dilution``, ``noisy_scores``  attention held fixed, and its errors
``sample_bounds``, ``sample_limits``  what no learner can do better, at N samples and in the limit
``gaussian``, ``set_blind``  the cubic label on Gaussian patches
``costs``  operations and bytes
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
