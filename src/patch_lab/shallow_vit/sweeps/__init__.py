"""The recorded sweeps of the second theory."""

#: The sweeps of each file, as its ``SWEEPS`` has them; it is imported when one is asked for.
FILES = {
    "shallow_vit": (
        "shallow-samples",
        "shallow-positions",
        "shallow-positions-rates",
        "shallow-start",
        "shallow-times",
        "shallow-attention",
        "shallow-variants",
        "shallow-variants-rates",
        "shallow-multinomial",
    ),
    "shallow_removal": ("shallow-removal", "shallow-removal-noisy"),
}
