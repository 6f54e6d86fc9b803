"""Beyond one layer and beyond one theory.

``crossed``   a family of data with the positional and the content theory's at its two ends
``blind``     the least error of whoever does not see positions, or not what patches show, exactly
``bench``     five kinds of attention under one readout, trained alike, many seeds at a time
"""

from patch_association.beyond.bench import KINDS, Bench, follow_bench
from patch_association.beyond.blind import blind_error
from patch_association.beyond.crossed import CrossedData, Drawn, RarePatterns

__all__ = ["KINDS", "Bench", "CrossedData", "Drawn", "RarePatterns", "blind_error", "follow_bench"]
