# The face of this room: each name and the module it lives in, for the importer and for type checkers.
from .cover import Covered as Covered, Inequality as Inequality
from .descent import BallDescent as BallDescent, State as State, Undecided as Undecided, ahead as ahead
from .ends import End as End
from .field import Field as Field
from .law import Atoms as Atoms, atoms as atoms
from .rounded import RoundedField as RoundedField
from .runs import (
    CertifiedRun as CertifiedRun,
    Options as Options,
    RUNS as RUNS,
    lead_run as lead_run,
    prove_trap as prove_trap,
)
from .statements import STATEMENTS as STATEMENTS, Statement as Statement, prove as prove, quick as quick
from .traps import Away as Away, Towards as Towards
