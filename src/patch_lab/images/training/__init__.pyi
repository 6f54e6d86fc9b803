# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .config import (
    PRESETS as PRESETS,
    TrainConfig as TrainConfig,
    preset as preset,
    with_settings as with_settings,
)
from .run import ImageRun as ImageRun, load_run as load_run, train as train
from .short import (
    ShortRun as ShortRun,
    coupled_runs as coupled_runs,
    guess as guess,
    in_double as in_double,
    train_short as train_short,
)
from .together import Row as Row, train_together as train_together
