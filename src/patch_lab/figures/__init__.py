"""One look for every figure and table: the palettes, the style, the drawings that recur, a file a part."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
