"""Spaces: the samples' feature vectors in whatever form, and the predictors they export."""

from kernelmeans.spaces.base import Space
from kernelmeans.spaces.centroids import Centroids, PartialSum
from kernelmeans.spaces.features import FeaturePredictor, FeatureSpace
from kernelmeans.spaces.gram import GramSpace
from kernelmeans.spaces.predictor import Predictor
from kernelmeans.spaces.product import EntropyRule, ProductPredictor, ProductSpace, WeightRule
from kernelmeans.spaces.streamed import stream, stream_on_cluster

__all__ = [
    "Centroids",
    "EntropyRule",
    "FeaturePredictor",
    "FeatureSpace",
    "GramSpace",
    "PartialSum",
    "Predictor",
    "ProductPredictor",
    "ProductSpace",
    "Space",
    "WeightRule",
    "stream",
    "stream_on_cluster",
]
