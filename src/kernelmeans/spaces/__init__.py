"""Spaces: the samples' feature vectors in whatever form, and the predictors they export."""

from kernelmeans.spaces.base import Space
from kernelmeans.spaces.centroids import Centroids, Memory, PartialSum
from kernelmeans.spaces.features import FeaturePredictor, FeatureSpace
from kernelmeans.spaces.gram import GramPredictor, GramSpace
from kernelmeans.spaces.kernel_rows import Origin
from kernelmeans.spaces.predictor import Comparison, Predictor
from kernelmeans.spaces.product import EntropyRule, ProductPredictor, ProductSpace, WeightRule
from kernelmeans.spaces.streamed import stream, stream_on_cluster

__all__ = [
    "Centroids",
    "Comparison",
    "EntropyRule",
    "FeaturePredictor",
    "FeatureSpace",
    "GramPredictor",
    "GramSpace",
    "Origin",
    "Memory",
    "PartialSum",
    "Predictor",
    "ProductPredictor",
    "ProductSpace",
    "Space",
    "WeightRule",
    "stream",
    "stream_on_cluster",
]
