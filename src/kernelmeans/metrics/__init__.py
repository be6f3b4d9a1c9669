"""Measures of clusterings for which no true labels are known."""

from kernelmeans.metrics.agreement import jaccard_stability, prediction_strength, stability
from kernelmeans.metrics.feature_space import kernel_inertia, kernel_silhouette_samples
from kernelmeans.metrics.matching import match_clusters
from kernelmeans.metrics.neighbors import neighbor_consistency
from kernelmeans.metrics.spectrum import effective_clusters, eigengap

__all__ = [
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
