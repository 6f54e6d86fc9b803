"""Section 5 of Jelassi et al.: the structure is learned once and reused with a handful of samples."""
