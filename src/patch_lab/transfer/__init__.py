"""Section 5 of Jelassi et al.: the structure is learned once and reused with a handful of samples."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
