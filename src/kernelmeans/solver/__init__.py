"""The solver: kernel k-means and power k-means in any space."""

from kernelmeans.solver.blockwise import partition_cost
from kernelmeans.solver.critical import coldest_start, critical_power, warn_unless_positive
from kernelmeans.solver.driver import Progress, solve
from kernelmeans.solver.methods import Alternating, Annealed, Constant, Hard, Method, annealed, hard
from kernelmeans.solver.pairs import EdgeWeights, divide_pairs
from kernelmeans.solver.result import Ending, Result, cost_rounding
from kernelmeans.solver.subsampled import anneal_subsamples, can_subsample
from kernelmeans.solver.swap import swap_moves

__all__ = [
    "Alternating",
    "Annealed",
    "Constant",
    "EdgeWeights",
    "Ending",
    "Hard",
    "Method",
    "Progress",
    "Result",
    "anneal_subsamples",
    "annealed",
    "can_subsample",
    "coldest_start",
    "cost_rounding",
    "critical_power",
    "divide_pairs",
    "hard",
    "partition_cost",
    "solve",
    "swap_moves",
    "warn_unless_positive",
]
