"""The models: a ViT with either attention, and convolutional networks for small images."""

from patch_association.images.models.convolution import residual_cnn, resnet18, small_cnn, vgg19
from patch_association.images.models.vit import ViT, ViTConfig

__all__ = ["ViT", "ViTConfig", "residual_cnn", "resnet18", "small_cnn", "vgg19"]
