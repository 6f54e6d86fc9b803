"""Section 5 of Jelassi et al.: the structure is learned once and reused with a handful of samples.

``learners``                          every learner, from samples and a seed to a test error
``block_attention``, ``fine_tuning``  attention held fixed while the value vector is trained
``clipped``, ``pulls``                steps cut short, and what pulls at the value vector
``discovery``, ``overlap``            learners that are not given the sets
``logistic``                          one that knows of no sets at all
``block_error``, ``many_values``      test errors under a fixed attention
``dilution``, ``mismatch``            attention that is imperfect, and sets shared only in part
``complexity``                        the smallest number of samples that reaches an error
``sample_bounds``, ``sample_limits``  what no learner can do better, and limits of many patches
``recorded``                          from the cells of the sweeps to tables of errors
"""
