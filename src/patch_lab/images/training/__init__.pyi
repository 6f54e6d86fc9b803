# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .config import TrainConfig as TrainConfig, preset as preset
from .run import load_run as load_run, train as train
from .short import (
    coupled_runs as coupled_runs,
    guess as guess,
    in_double as in_double,
    train_short as train_short,
)
