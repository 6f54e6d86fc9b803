"""What needs no sampling: linear predictors, constructions, the population risk."""
