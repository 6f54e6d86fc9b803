"""Real images: section 6 of Jelassi et al., from a laptop to many GPUs.

``data``          pictures, their sources and augmentation
``training``      long runs with records and checkpoints, short runs in double precision
``convolution``   convolutional networks for small images
``starts``        where training starts: heads that are shifts, values that subtract
``maps``, ``dissect``, ``exchange``, ``puzzle``  what is measured on trained models
``flops``, ``one_layer``  what layers cost
``backgrounds``   section 4.2 of Li et al. (2023) at a small size
"""

# Words that settings of a training run take. Here, where naming them imports nothing: --help lists settings.
AUGMENTATIONS = (
    "none", "shift", "shift-flip", "reflect-flip", "autoaugment-cifar10", "autoaugment-svhn", "randaugment",
)  # fmt: skip
STARTS = ("usual", "random", "sums", "shifts", "mimetic")
VALUES = ("usual", "minus", "plus", "random")
