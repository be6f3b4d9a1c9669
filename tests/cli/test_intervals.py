"""The numbers that options may be, beside the constraints that scikit-learn checks."""

import math

import pytest

from kernelmeans import ClusterSearch, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans._sklearn import Interval
from kernelmeans.cli.intervals import intervals

CONSTRAINTS = {
    name: ours
    for owner in (KernelPowerKMeans, MultiKernelPowerKMeans, ClusterSearch)
    for name, allowed in owner._parameter_constraints.items()
    if (ours := [one for one in allowed if isinstance(one, Interval)])
}
NUMBERS = [-math.inf, -1.5, -1, 0, 0.0, 0.5, 1, 1.0, 2, 100, 101.0, 2**31 - 1, 2**31, math.inf]


@pytest.mark.parametrize("name", sorted(set(CONSTRAINTS) - {"entropy_weight"}))
def test_intervals_are_those_of_scikit_learn(name):
    theirs, ours = CONSTRAINTS[name], intervals()[name]
    assert [*map(str, ours)] == [*map(str, theirs)]
    for number in [*NUMBERS, math.nan]:
        is_allowed = [one.is_satisfied_by(number) for one in theirs]
        assert [number in one for one in ours] == is_allowed, number
