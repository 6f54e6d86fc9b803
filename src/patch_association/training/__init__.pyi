# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .empirical import (
    Descent as Descent,
    EmpiricalRun as EmpiricalRun,
    Start as Start,
    descend as descend,
    idealized_start as idealized_start,
    realistic_start as realistic_start,
)
from .evaluate import HeldOut as HeldOut
from .gradients import loss_and_gradients as loss_and_gradients
from .population import PopulationRun as PopulationRun, descend_population as descend_population
from .samples import Samples as Samples
from .steps import (
    Constant as Constant,
    Diverged as Diverged,
    recorded_steps as recorded_steps,
)
