"""The array types that annotations share."""

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

#: What of the second axis of input data belongs to one kernel: a slice, or indices; one index for
#: a stack of kernel matrices with its samples first.
Columns = slice | IntArray | int

#: Rows of data or of a kernel matrix: a NumPy array, or a CSR matrix where the kernel allows.
Data = Any
