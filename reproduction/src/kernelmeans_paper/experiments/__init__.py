"""The experiments, in the order of the report."""

from kernelmeans_paper.experiments.consistency import CONSISTENCY
from kernelmeans_paper.experiments.cost import COST
from kernelmeans_paper.experiments.critical import CRITICAL
from kernelmeans_paper.experiments.hull import HULL
from kernelmeans_paper.experiments.limit import LIMIT
from kernelmeans_paper.experiments.motivating import MOTIVATING
from kernelmeans_paper.experiments.multi import MULTI
from kernelmeans_paper.experiments.schedules import SCHEDULES
from kernelmeans_paper.experiments.single import SINGLE
from kernelmeans_paper.experiments.sphere import SPHERE
from kernelmeans_paper.grid import Experiment

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
