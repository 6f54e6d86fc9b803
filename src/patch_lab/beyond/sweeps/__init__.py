"""The recorded sweeps of what lies beyond one layer and one theory."""

#: The sweeps of each file, as its ``SWEEPS`` has them; it is imported when one is asked for.
FILES = {
    "gaussian": ("gaussian", "gaussian-partial"),
    "two_theories": ("two-theories", "two-theories-turned", "two-theories-hot", "two-theories-rare"),
    "deeper": (
        "deeper-simple",
        "deeper-vit",
        "deeper-parts",
        "deeper-range",
        "deeper-slow",
        "deeper-rows",
        "deeper-hot",
        "deeper-gram",
        "deeper-gram-slow",
        "deeper-population",
    ),
}
