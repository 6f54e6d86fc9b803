"""Runs that are proofs: population descent in ball arithmetic, and statements about all time.

``law`` lists the inputs with exact probabilities, ``field`` evaluates the derivatives of the risk on balls,
``descent`` follows gradient descent step by step inside a parallelepiped that is sure to contain it,
``cover`` subdivides a region until an inequality holds on every piece, and ``statements`` puts them
together. What must be trusted: the mathematics in the text, this room, Python, and FLINT's ball arithmetic
(Arb). In the statements about runs and in the one about the quadrant the sums over the inputs are by default
taken by NumPy and its BLAS, in the double precision of the processor with error bounds (``rounded`` says what
of these is trusted); with the arithmetic "arb" they are FLINT's too.
Nothing here calls :mod:`patch_association.exact`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
