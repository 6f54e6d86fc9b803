"""Real images: section 6 of Jelassi et al., from a laptop to many GPUs.

``layers``, ``vit``, ``convolution``  the models: a ViT with either attention, CNNs for small images
``data``, ``embedded``, ``packed``, ``official``  images with a train, validation and test split
``permutation``, ``augment``, ``policies``  what is done to them before the model sees them
``locality``, ``flops``  what is measured on the models
``short``, ``study``, ``pretrained``  short runs in double precision, and what chapters ask of a model
``config``, ``presets``, ``feed``, ``step``, ``train``, ``seeds``  training them
``checkpoint``, ``parallel``, ``progress``, ``cli``  keeping, sharing, showing and starting it
"""
