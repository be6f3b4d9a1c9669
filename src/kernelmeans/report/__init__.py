"""A page on the clusters of a fitted model."""

from kernelmeans.report.report import ClusterReport

__all__ = ["ClusterReport"]
