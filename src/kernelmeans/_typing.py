"""Types for annotations: arrays, and the names that parameters take."""

from collections.abc import Callable
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

#: A NumPy array of floats: float32 or float64, whichever the user's data has.
Array = NDArray[np.floating[Any]]

#: A NumPy array of integers: labels or row indices.
IntArray = NDArray[np.integer[Any]]

#: A NumPy array of truth values.
BoolArray = NDArray[np.bool_]

#: float32 or float64 as a dtype.
DType = np.dtype[np.floating[Any]]

#: The part of the second axis of the data that one kernel takes: a slice or indices; a single index
#: for a stack of kernel matrices with its samples first.
Columns = slice | IntArray | int

#: Rows of data or of a kernel matrix: a NumPy array, or a CSR matrix if the kernel takes one.
Data = Any


class HasShape(Protocol):
    """An array of any library."""

    @property
    def shape(self) -> Any:
        """The lengths of its axes."""


Auto = Literal["auto"]
#: Kernels by name, the keys of `kernelmeans.kernels.formulas.NAMED`.
KernelName = Literal[
    "heat",
    "rbf",
    "laplacian",
    "poly",
    "cosine",
    "linear",
    "sigmoid",
    "geodesic",
    "graph",
    "precomputed",
]
#: Families of kernels, and kernel matrices.
FamilyName = Literal["neighbors", "widths", "du2015", "precomputed"]
#: Rules for the width of a kernel.
WidthName = Literal["rms", "median", "scale"]
#: Metrics of the nearest neighbours.
MetricName = Literal[
    "euclidean",
    "l2",
    "manhattan",
    "l1",
    "cityblock",
    "chebyshev",
    "cosine",
    "correlation",
    "canberra",
    "braycurtis",
    "hamming",
    "jaccard",
    "dice",
    "rogerstanimoto",
    "sokalsneath",
    "precomputed",
]
#: Scales of several kernels.
ScalingName = Literal["unit-variance", "cosine", "min-max"]
#: Approximations of a kernel, those of `kernelmeans.lowrank.METHODS`.
ApproximationName = Literal["landmarks", "rpcholesky", "rff"]
#: Seedings of the centroids.
SeedingName = Literal["k-means++", "random"]
#: Starting centroids that the user gives.
GivenStarts = HasShape | list[Any] | tuple[Any, ...] | Callable[..., Any]
#: Scores of a search.
ScoreName = Literal["jaccard", "stability", "prediction_strength", "neighbor_consistency"]
#: What becomes of missing values.
MissingName = Literal["impute", "drop", "error"]
#: What becomes of numbers with a long tail.
SkewedName = Literal["log", "keep"]
#: Types of numbers.
DTypeName = Literal["float64", "float32"]
