"""What needs no sampling: the population risk, laws of sums, linear predictors, labels.

The names below are the room's face; each is imported from its module when it is first used.

``integer_sums``, ``set_sums``  laws of integer sums, and of the set sums of Assumption 1
``labels``   the least error of any predictor
``linear``   the symmetric sum of Theorem 3.1, and the labeling function
``risk``     the population risk of (T), its gradient and its error
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
