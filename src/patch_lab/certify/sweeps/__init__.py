"""The recorded sweeps of certified runs."""

#: The sweeps of each file, as its ``SWEEPS`` has them; it is imported when one is asked for.
FILES = {
    "certified": ("certified",),
}
