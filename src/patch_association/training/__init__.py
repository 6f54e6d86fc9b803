"""Gradient descent on model (T), recorded: on the population risk and on the empirical risk.

``steps``       the rates as values
``population``  three scalars on the exact risk (the paper's idealized process)
``gradients``   hand-derived gradients of the empirical risk, many seeds at once
``samples``     the inputs, held in memory and read in chunks
``evaluate``    the test error, without test inputs of dimension d
``empirical``   all scores and the value vector on N samples (the realistic process)

Rates are those of (T): ``rate`` of v, ``score_rate`` of A.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
