"""Beyond one layer and beyond one theory.

``crossed_data``     a family of data with the positional and the content theory's at its two ends
``blind_error``      the least error of whoever does not see positions, or not what patches show, exactly
``attentions``       five kinds of attention under one readout, trained alike, many seeds at a time
``deeper_networks``  from model (T) to an ordinary Vision Transformer, one switch at a time
``readers``          what single rows of attention read: specialists and blank rows
``set_knowledge``    what a function, or a row of scores, knows of the sets
``gaussian_data``    the example of section 2: patches without structure, a label that knows the sets
"""

from patch_lab.beyond.attentions import KINDS, Bench, error_of_each, follow_bench, gathered, train_together
from patch_lab.beyond.blind_error import blind_error
from patch_lab.beyond.crossed_data import CrossedData, RarePatterns
from patch_lab.beyond.deeper_networks import Design, Network
from patch_lab.beyond.readers import blank_rows, hard_ends, set_masses, sets_read
from patch_lab.beyond.set_knowledge import (
    PartlyInformed,
    examine,
    interactions,
    null_recall,
    p_value,
    row_separation,
    shuffled_inputs,
)

__all__ = [
    "KINDS",
    "Bench",
    "CrossedData",
    "Design",
    "Network",
    "PartlyInformed",
    "RarePatterns",
    "blank_rows",
    "blind_error",
    "error_of_each",
    "examine",
    "follow_bench",
    "gathered",
    "hard_ends",
    "interactions",
    "null_recall",
    "p_value",
    "row_separation",
    "set_masses",
    "sets_read",
    "shuffled_inputs",
    "train_together",
]
