"""Array types for annotations."""

from typing import Any

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
