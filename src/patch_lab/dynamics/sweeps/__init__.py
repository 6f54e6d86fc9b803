"""The recorded sweeps of the dynamics."""

#: The sweeps of each file, as its ``SWEEPS`` has them; it is imported when one is asked for.
FILES = {
    "idealized": ("idealized", "idealized-degree"),
    "large_lead": ("large-lead", "large-lead-wide"),
    "realistic": ("realistic",),
    "coupling": ("coupling", "coupling-turned"),
    "limits": ("limits", "zero-diagonal", "zero-diagonal-turned"),
    "transience": ("transience",),
    "reach": ("reach",),
    "lifetime": ("lifetime",),
}
