"""Measures of clusterings for which no true labels are known."""

from kernelmeans.metrics.agreement import jaccard_stability, prediction_strength, stability

__all__ = ["jaccard_stability", "prediction_strength", "stability"]
