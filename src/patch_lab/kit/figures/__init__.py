"""One look for every figure and table: the palettes, the style, and the drawings that recur.

``style``    palettes, lettering, labels where curves end
``patches``  patches, sets and matrices
``tables``   tables of a chapter

What draws the figures of one part is that part's ``figures``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
