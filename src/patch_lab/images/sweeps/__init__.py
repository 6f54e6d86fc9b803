"""The recorded sweeps of real images."""

#: The sweeps of each file, as its ``SWEEPS`` has them; it is imported when one is asked for.
FILES = {
    "images": ("cifar10_permuted",),
    "study": ("cifar10_study", "cifar10_study_unmirrored", "cifar10_study_rates", "cifar10_study_rates_wide"),
    "section_six": ("section-six", "cifar100_positional_185"),
    "second_moments": ("second-moments",),
    "study_swapped": ("cifar10_study_swapped",),
    "starts": (
        "cifar10_starts_rates",
        "cifar10_starts",
        "cifar10_starts_long",
        "cifar10_starts_every_rate",
        "cifar10_starts_wide",
        "tiny_imagenet_starts",
    ),
    "map_transfer": ("cifar10_map_transfer",),
    "study_larger": (
        "cifar10_study_cnn",
        "cifar10_controls",
        "cifar10_random_labels",
        "cifar10_labels_changed",
        "tiny_imagenet_study",
        "cifar10_paper_size",
    ),
    "backgrounds": ("background-classes", "background-spurious", "background-starts"),
    "vit_blocks": ("vit_steps", "vit_blocks", "vit_blocks_gpu"),
    "vit_attention": ("vit_encodings", "vit_attention"),
    "vit_interventions": ("vit_interventions",),
    "vit_recovery": ("vit_recovery",),
    "vit_gray": ("vit_gray",),
}
