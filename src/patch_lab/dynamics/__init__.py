"""The part on the dynamics: who wins the first move, where slow scores go, and how long association lasts.

``small_diagonal``, ``first_move``  which way scores first move, and the window of q
``score_rates``, ``draw_noise``     the rates of Lemma 4.3, and how noisy one draw is
``valley``, ``slow_scores``         v at its best, and the flow of two numbers that is left
``wrong_votes``                     what images with a wrong vote do to the lead
``events``, ``realistic``           the events of a run, and the setting of runs on samples
``lifetime``                        how far single scores stray on N inputs
``rows``                            how rows of one set come apart
``optimality``                      when block attention is best over all attention matrices
``every_size``, ``large_lead``      how a patch's own set wins at sizes no enumeration reaches
"""
