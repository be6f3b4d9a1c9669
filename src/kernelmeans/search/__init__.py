"""The number of clusters and the kernel, chosen without labels."""

from kernelmeans.search.scorer import stability_scorer
from kernelmeans.search.search import ClusterSearch

__all__ = ["ClusterSearch", "stability_scorer"]
