"""Random Fourier features: rows of sines and cosines whose inner products estimate a kernel."""

import math

import numpy as np

from kernelmeans._arrays import namespace, on_host, write
from kernelmeans._typing import Array, Data, DType
from kernelmeans.kernels import Kernel
from kernelmeans.kernels.kernel import floating


def frequencies(kernel: Kernel, n_features: int, count: int, seed: int, dtype: DType) -> Array:
    """Draw from the spectral measure of a shift-invariant kernel.

    Parameters
    ----------
    kernel : Kernel
        ``rbf`` or ``laplacian``.
    n_features : int
        Columns of the data.
    count : int
        Features wanted; they come in pairs, so an odd count is rounded up.
    seed : int
        Of the draw.
    dtype : dtype
        Of the result.

    Returns
    -------
    ndarray of shape (n_features, ceil(count / 2))
        A frequency in each column, for `fourier_features`.

    Raises
    ------
    ValueError
        If the kernel is another one.

    References
    ----------
    Rahimi and Recht (2007), Random features for large-scale kernel machines.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import Kernel
    >>> from kernelmeans.lowrank.fourier import frequencies
    >>> frequencies(Kernel("rbf", {"gamma": 0.5}), 3, 100, 0, np.dtype("float32")).shape
    (3, 50)
    """
    rng, shape = np.random.default_rng(seed), (n_features, (count + 1) // 2)
    if kernel.given_name == "rbf":
        drawn = np.sqrt(2 * kernel.parameters["gamma"]) * rng.standard_normal(shape)
    elif kernel.given_name == "laplacian":
        drawn = kernel.parameters["gamma"] * rng.standard_cauchy(shape)
    else:
        raise ValueError(
            f"approximation='rff' is only for kernel='rbf' and kernel='laplacian', got "
            f"kernel={kernel.name!r}; use one of these, or approximation='landmarks'."
        )
    return np.asarray(drawn, dtype=dtype)


def fourier_features(X: Data, frequencies: Array) -> Array:
    """Cosines and sines of the rows at these frequencies, each row of length one.

    Parameters
    ----------
    X : {array, CSR matrix} of shape (n_samples, n_features)
        Rows of data.
    frequencies : ndarray of shape (n_features, count // 2)
        From `frequencies`.

    Returns
    -------
    ndarray of shape (n_samples, count)
        Features, all cosines first; their inner products are the kernel's in expectation.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.kernels import Kernel
    >>> from kernelmeans.lowrank.fourier import fourier_features, frequencies
    >>> X = np.array([[0.0], [1.0]])
    >>> Z = fourier_features(X, frequencies(Kernel("rbf", {"gamma": 0.5}), 1, 4000, 0, X.dtype))
    >>> (Z @ Z.T).round(1)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """
    half = frequencies.shape[1]
    angles = floating(X) @ frequencies
    xp = namespace(angles)
    Z: Array = xp.empty((angles.shape[0], 2 * half), dtype=angles.dtype, device=angles.device)
    write(Z[:, :half], xp.cos, angles)
    write(Z[:, half:], xp.sin, angles)
    # In float64 what NumPy divides by its own numbers.
    Z /= np.sqrt(half) if on_host(Z) else math.sqrt(half)
    return Z
