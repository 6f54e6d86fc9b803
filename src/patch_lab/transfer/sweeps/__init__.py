"""The recorded sweeps of section 5: transfer."""

#: The sweeps of each file, as its ``SWEEPS`` has them; it is imported when one is asked for.
FILES = {
    "transfer": (
        "transfer-fixed-attention",
        "transfer-pretrained",
        "transfer-dilution",
        "transfer-discovery",
        "transfer-uninformed",
        "transfer-logistic",
        "transfer-scratch-tuning",
        "transfer-scratch-large-tuning",
        "transfer-scratch",
        "transfer-scratch-large",
        "transfer-mismatch",
        "transfer-heads",
    ),
}
