"""Vision Transformers: the model of section 6 of Jelassi et al., and networks that others trained.

``layers``, ``vit``  self-attention and positional attention, layer against layer, and a ViT of either
``locality``, ``maps``  what encodings and attention know of the grid
``pretrained``, ``families``, ``weights``  networks that others trained: their encodings and attention
``looking``  what such a network knows of the grid, in one call
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
