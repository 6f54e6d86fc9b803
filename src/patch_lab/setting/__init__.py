"""The part on the setting: attention built by hand, what noise and layers cost.

``constructions``  transformers that generalize with and without the structure (Theorem 3.2)
``noisy_scores``   what each score of association expects of the truth plus noise
``weighted``       generalized linear predictors with any weights (Theorem 3.1)
``linear_bounds``  lower bounds on their error, for all weights
``labels``         bounds on what the labeling function does
``costs``          floating-point operations of one layer
"""
