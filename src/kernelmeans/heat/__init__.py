"""Heat kernels on graphs of nearest neighbours: clusters of any shape."""

from kernelmeans.heat.anchors import auto_anchors
from kernelmeans.heat.family import neighbour_family
from kernelmeans.heat.graph import DistinctRows
from kernelmeans.heat.kernel import HeatKernel
from kernelmeans.heat.neighbours import auto_neighbours

__all__ = ["DistinctRows", "HeatKernel", "auto_anchors", "auto_neighbours", "neighbour_family"]
