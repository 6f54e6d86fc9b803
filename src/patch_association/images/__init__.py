"""Real images: section 6 of Jelassi et al., from a laptop to many GPUs.

``data``  pictures, their sources, grid shuffles and augmentation
``models``  a ViT with either attention, CNNs for small images
``training``  long runs with records and checkpoints, short runs in double precision
``locality``, ``maps``, ``flops``, ``pretrained``  what is measured on the models
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
