"""Spaces: the samples' feature vectors in whatever form, and the predictors they export."""

from kernelmeans.spaces.base import Centroids, Space
from kernelmeans.spaces.features import FeaturePredictor, FeatureSpace
from kernelmeans.spaces.gram import CachedGramSpace, GramPredictor, GramSpace, Origin
from kernelmeans.spaces.predictor import Predictor

__all__ = [
    "CachedGramSpace",
    "Centroids",
    "FeaturePredictor",
    "FeatureSpace",
    "GramPredictor",
    "GramSpace",
    "Origin",
    "Predictor",
    "Space",
]
