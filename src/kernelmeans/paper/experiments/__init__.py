"""The experiments, in the order of the report."""

from kernelmeans.paper.experiments.consistency import CONSISTENCY
from kernelmeans.paper.experiments.cost import COST
from kernelmeans.paper.experiments.critical import CRITICAL
from kernelmeans.paper.experiments.hull import HULL
from kernelmeans.paper.experiments.limit import LIMIT
from kernelmeans.paper.experiments.motivating import MOTIVATING
from kernelmeans.paper.experiments.multi import MULTI
from kernelmeans.paper.experiments.schedules import SCHEDULES
from kernelmeans.paper.experiments.single import SINGLE
from kernelmeans.paper.experiments.sphere import SPHERE
from kernelmeans.paper.grid import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        MOTIVATING,
        SPHERE,
        SINGLE,
        MULTI,
        LIMIT,
        HULL,
        CONSISTENCY,
        COST,
        CRITICAL,
        SCHEDULES,
    )
}
