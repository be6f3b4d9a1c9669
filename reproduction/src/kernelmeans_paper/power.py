"""Power means of distances, by their formulas: what the theorems are about."""

import numpy as np

from kernelmeans_paper.arrays import Array


def power_means(distances: Array, power: float) -> Array:
    """Power mean of each sample's distances to the centroids.

    Parameters
    ----------
    distances : ndarray of shape (k, n_samples)
        Squared distances, all positive.
    power : float
        The power s < 0.

    Returns
    -------
    ndarray of shape (n_samples,)
        M_s, never below the smallest distance.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans_paper.power import power_means
    >>> power_means(np.array([[1.0], [3.0]]), -1.0)
    array([1.5])
    """
    nearest = distances.min(axis=0)
    # Of ratios, which neither overflow nor bring the mean below the nearest by rounding.
    return np.asarray(nearest * np.mean((nearest / distances) ** -power, axis=0) ** (1 / power))


def power_weights(distances: Array, power: float) -> Array:
    """Derivatives (k, n_samples) of the power means by the distances: the weights of a step."""
    means = power_means(distances, power)
    return np.asarray((means / distances) ** (1 - power) / len(distances))
