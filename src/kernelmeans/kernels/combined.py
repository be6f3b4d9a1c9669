"""Several kernels as one."""

from collections.abc import Sequence

import numpy as np

from kernelmeans._devices import HOST, Device
from kernelmeans._typing import Array, Columns, Data
from kernelmeans.kernels.kernel import Kernel, floating


class CombinedKernel:
    """Sum of kernels, each of its own columns, multiplied by weights.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels.
    columns : sequence of slice, ndarray or int
        What of the second axis of input data each of them sees.
    multipliers : ndarray of shape (L,), default=None
        Their weights; ones when None.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import CombinedKernel, Kernel
    >>> linear = Kernel("linear", {})
    >>> both = CombinedKernel([linear, linear], [slice(0, 1), slice(1, 2)], np.array([1.0, 10.0]))
    >>> both(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[83.]])
    """

    name = "combined"

    def __init__(
        self,
        kernels: Sequence[Kernel],
        columns: Sequence[Columns],
        multipliers: Array | None = None,
    ) -> None:
        self.kernels = list(kernels)
        self.columns = list(columns)
        self.multipliers = np.ones(len(self.kernels)) if multipliers is None else multipliers

    @property
    def precomputed(self) -> bool:
        """Whether rows of data are already rows of kernel matrices."""
        return all(kernel.precomputed for kernel in self.kernels)

    def __call__(self, X: Data, Y: Data) -> Array:
        """Kernel matrix between the rows of X and those of Y, shape (n_X, n_Y)."""
        X, Y = floating(X), floating(Y)
        total = np.zeros((X.shape[0], Y.shape[0]), X.dtype)
        for kernel, columns, multiplier in zip(
            self.kernels, self.columns, self.multipliers, strict=True
        ):
            total += X.dtype.type(multiplier) * kernel(X[:, columns], Y[:, columns])
        return total

    def squared_lengths(self, X: Data, device: Device = HOST) -> Array:
        """K(x, x) of each kernel before its normalisation and weight, shape (n, L)."""
        parts = zip(self.kernels, self.columns, strict=True)
        lengths = [kernel.squared_lengths(X[:, columns], device) for kernel, columns in parts]
        return np.stack(lengths, axis=1)
