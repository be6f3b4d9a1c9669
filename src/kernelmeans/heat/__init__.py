"""Heat kernels on graphs of nearest neighbours: clusters of any shape."""

from kernelmeans.heat.anchors import auto_anchors
from kernelmeans.heat.diffusion import DiffusionKernel
from kernelmeans.heat.distinct import DistinctRows
from kernelmeans.heat.given import DistancesKernel, GraphKernel
from kernelmeans.heat.kernel import HeatKernel, neighbor_family
from kernelmeans.heat.neighbors import auto_neighbors

__all__ = [
    "DiffusionKernel",
    "DistancesKernel",
    "DistinctRows",
    "GraphKernel",
    "HeatKernel",
    "auto_anchors",
    "auto_neighbors",
    "neighbor_family",
]
