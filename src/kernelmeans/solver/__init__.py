"""The solver: annealed power k-means in any space."""

from kernelmeans.solver.blockwise import partition_cost
from kernelmeans.solver.critical import critical_power, warn_unless_positive
from kernelmeans.solver.driver import Listener, Progress, solve
from kernelmeans.solver.methods import alternating, annealed, hard
from kernelmeans.solver.power import shares
from kernelmeans.solver.rehearsal import can_rehearse, rehearse
from kernelmeans.solver.result import Result, cost_rounding
from kernelmeans.solver.schedule import Schedule
from kernelmeans.solver.start import automatic_start, coldest_start
from kernelmeans.solver.swap import swap_moves

__all__ = [
    "Listener",
    "Progress",
    "Result",
    "Schedule",
    "alternating",
    "annealed",
    "automatic_start",
    "can_rehearse",
    "coldest_start",
    "cost_rounding",
    "critical_power",
    "hard",
    "partition_cost",
    "rehearse",
    "shares",
    "solve",
    "swap_moves",
    "warn_unless_positive",
]
