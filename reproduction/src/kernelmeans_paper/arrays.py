"""The array types that annotations share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
#: Labels or row indices.
IntArray = NDArray[np.integer[Any]]
