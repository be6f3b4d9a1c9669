"""From kernels and rows to spaces, within the memory budget."""

from collections.abc import Sequence

import scipy.sparse

from kernelmeans._typing import Array, Data
from kernelmeans.engines import Threads
from kernelmeans.estimators.checks import check_memory
from kernelmeans.kernels import Kernel
from kernelmeans.spaces import CachedGramSpace, FeatureSpace, GramSpace, Space


def build_spaces(
    kernels: Sequence[Kernel],
    rows: Sequence[Data],
    weight: Array,
    n_clusters: int,
    budget: int,
    cache_kernel: bool,
    threads: Threads,
    names: Sequence[str] | None = None,
) -> list[Space]:
    """A space for each kernel: explicit features where it has them, else a kernel matrix.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels.
    rows : sequence of {ndarray, CSR matrix}
        What each kernel is of.
    weight : ndarray of shape (n_samples,)
        Sample weights.
    n_clusters : int
        Clusters, whose centroids take memory too.
    budget : int
        Bytes that all may take together.
    cache_kernel : bool
        Whether kernel matrices are kept.
    threads : Threads
        Where they are computed.
    names : sequence of str, default=None
        What messages call the kernels.

    Returns
    -------
    list of Space
        In the order of the kernels.

    Raises
    ------
    MemoryError
        If they would not fit into the budget.
    ValueError
        If a kernel is not finite on the rows, or cannot be normalised.
    """
    n, itemsize = weight.shape[0], weight.dtype.itemsize
    explicit = [kernel.has_features for kernel in kernels]
    working = GramSpace.working_bytes(n_clusters, n, itemsize) * explicit.count(False)
    features = sum(
        X.nbytes
        for X, has_features in zip(rows, explicit, strict=True)
        if has_features and not scipy.sparse.issparse(X)
    )
    n_matrices = explicit.count(False)
    # Rows are recomputed for one kernel at a time.
    matrices = n_matrices * n * n if cache_kernel else 8 * n * bool(n_matrices)
    what, remedies = _description(kernels, n, n_clusters, itemsize, cache_kernel)
    check_memory(features + working + matrices * itemsize, budget, what, remedies)
    row_budget = budget - features - working

    def build(kernel: Kernel, X: Data) -> Space:
        if kernel.has_features:
            return FeatureSpace(kernel, X, weight)
        if cache_kernel:
            return CachedGramSpace(kernel, X, weight, threads)
        return GramSpace(kernel, X, weight, threads, row_budget)

    spaces = []
    for index, (kernel, X) in enumerate(zip(kernels, rows, strict=True)):
        try:
            spaces.append(build(kernel, X))
        except ValueError as error:
            if names is None:
                raise
            raise ValueError(f"{names[index]}: {error}") from error
    return spaces


def _description(
    kernels: Sequence[Kernel], n: int, n_clusters: int, itemsize: int, cache_kernel: bool
) -> tuple[str, str]:
    """What takes the memory, and what to do about it."""
    half = "" if itemsize == 4 else ", pass float32 data (half the memory)"
    n_matrices = sum(not kernel.has_features for kernel in kernels)
    if not n_matrices:
        of = "X" if len(kernels) == 1 else f"the columns of {len(kernels)} kernels"
        return f"n_samples={n}: a centred copy of {of}", f"Use fewer columns or rows{half}"
    if not cache_kernel:
        what = f"n_samples={n}, n_clusters={n_clusters}: a step with recomputed rows"
        if n_matrices > 1:
            what += f" of {n_matrices} kernels"
        return what, f"Use fewer rows or clusters{half}"
    matrices = f"{n_matrices} kernel matrices" if n_matrices > 1 else "the kernel matrix"
    if all(kernel.precomputed for kernel in kernels):
        matrices = "a centred copy of X"
    remedies = (
        "Set cache_kernel=False (kernel rows are made anew at each step: slower, but little "
        f"memory){half}"
    )
    return f"n_samples={n}: {matrices}, with the centroids,", remedies
