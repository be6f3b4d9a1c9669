"""The solver: annealed power k-means in any space."""

from kernelmeans.solver.blockwise import partition_cost
from kernelmeans.solver.critical import (
    automatic_start,
    coldest_start,
    critical_power,
    warn_unless_positive,
)
from kernelmeans.solver.driver import Listener, Progress, solve
from kernelmeans.solver.methods import Alternating, Annealed, Constant, Hard, Method, annealed, hard
from kernelmeans.solver.power import memberships
from kernelmeans.solver.rehearsal import can_rehearse, rehearse
from kernelmeans.solver.result import Ending, Result, cost_rounding
from kernelmeans.solver.swap import swap_moves

__all__ = [
    "Alternating",
    "Annealed",
    "Constant",
    "Ending",
    "Hard",
    "Method",
    "Listener",
    "Progress",
    "Result",
    "annealed",
    "automatic_start",
    "can_rehearse",
    "coldest_start",
    "cost_rounding",
    "critical_power",
    "hard",
    "memberships",
    "partition_cost",
    "rehearse",
    "solve",
    "swap_moves",
    "warn_unless_positive",
]
