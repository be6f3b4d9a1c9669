"""Measures of clusterings for which no true labels are known."""

from kernelmeans._matching import ClusterChange, cluster_changes, match_clusters
from kernelmeans.metrics.agreement import jaccard_stability, prediction_strength, stability
from kernelmeans.metrics.feature_space import kernel_inertia, kernel_silhouette_samples
from kernelmeans.metrics.neighbors import neighbor_consistency
from kernelmeans.metrics.spectrum import effective_clusters, eigengap

__all__ = [
    "ClusterChange",
    "cluster_changes",
    "effective_clusters",
    "eigengap",
    "jaccard_stability",
    "kernel_inertia",
    "kernel_silhouette_samples",
    "match_clusters",
    "neighbor_consistency",
    "prediction_strength",
    "stability",
]
