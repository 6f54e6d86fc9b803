# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .attentions import (
    KINDS as KINDS,
    Bench as Bench,
    error_of_each as error_of_each,
    follow_bench as follow_bench,
    gathered as gathered,
    train_together as train_together,
)
from .least_errors import (
    blind_error as blind_error,
)
from .crossed_data import (
    CrossedData as CrossedData,
    RarePatterns as RarePatterns,
)
from .deeper_networks import (
    Design as Design,
    Network as Network,
)
from .readers import (
    blank_rows as blank_rows,
    count_specialists as count_specialists,
    hard_ends as hard_ends,
    over_heads as over_heads,
    set_masses as set_masses,
    sets_read as sets_read,
)
from .set_knowledge import (
    PartlyInformed as PartlyInformed,
    probe_functions as probe_functions,
    interactions as interactions,
    null_recall as null_recall,
    p_value as p_value,
    row_separation as row_separation,
    shuffled_inputs as shuffled_inputs,
)
