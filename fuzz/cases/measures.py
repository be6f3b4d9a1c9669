"""`kernelmeans.metrics` against their definitions, pair by pair and row by row."""

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from fuzz import Case, Rng
from fuzz.definitions import Long, close, distances, kernel, means, silhouettes
from fuzz.draw import canonical, pick, plain_rows, rarely, sparse_form, weights
from fuzz.judge import promised, require
from kernelmeans import KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.metrics import (
    effective_clusters,
    eigengap,
    jaccard_stability,
    kernel_inertia,
    kernel_silhouette_samples,
    match_clusters,
    neighbor_consistency,
    prediction_strength,
    stability,
)

WEIGHT = 1


def case(rng: Rng) -> Case:
    n = int(rng.integers(1, 30))
    check, given = pick(rng, *CHECKS.items())
    arguments = given(rng, n)
    return Case(f"{check.__name__} {arguments!r}", lambda: check(*arguments))


def labels(rng: Rng, n: int) -> Any:
    """Labels of rows: numbers, texts, few or many, sometimes not as many as rows."""
    n += pick(rng, -1, 1) * rarely(rng, 40)
    found = rng.integers(0, pick(rng, 1, 2, 4, 30), n)
    words = np.array(["b", "a", "", "ä"])[found % 4]
    return pick(rng, found, found, found - 1, words, words.astype(object), found.tolist())


def two(rng: Rng, n: int) -> tuple[Any, ...]:
    """Two clusterings."""
    return labels(rng, n), labels(rng, n)


def check_pairs(one: Any, other: Any) -> None:
    """Compare with counts of pairs."""
    found, index = stability(one, other), stability(one, other, corrected=False)
    strength = prediction_strength(one, other)
    with promised():
        a, b = np.asarray(one), np.asarray(other)
        pairs = [(a[i] == a[j], b[i] == b[j]) for i, j in combinations(range(len(a)), 2)]
        if pairs:
            agreed, (a_same, b_same) = np.mean([x == y for x, y in pairs]), np.mean(pairs, axis=0)
            equal(index, agreed, "Rand index")
            expected = a_same * (1 - b_same) + (1 - a_same) * b_same
            equal(found, 1 - (1 - agreed) / expected if agreed < 1 else 1, "stability")
        kept = [
            [b[i] == b[j] for i, j in combinations(np.flatnonzero(a == name), 2)] or [1]
            for name in set(a.tolist())
        ]
        equal(strength, min(np.mean(each) for each in kept), "prediction_strength")
        equal(found, stability(other, one), "symmetry")
        require(-1 <= found <= 1, f"stability {found}")
        equal(stability(one, one), 1.0, "stability of a copy")


def check_clusters(one: Any, other: Any) -> None:
    """Compare with overlaps of sets of rows."""
    matches, (jaccard) = match_clusters(one, other), jaccard_stability(one, [other])
    with promised():
        a, b = np.asarray(one), np.asarray(other)
        sets = [{name: set(np.flatnonzero(x == name)) for name in x.tolist()} for x in (a, b)]
        ours, theirs = sets
        seen = set(range(len(b))) if b.dtype.kind not in "iu" else set(np.flatnonzero(b >= 0))
        for name, value in zip(sorted(ours), jaccard, strict=True):
            own = ours[name] & seen
            overlaps = [
                len(own & rows) / len(own | rows)
                for key, rows in theirs.items()
                if isinstance(key, str) or key >= 0
            ]
            require(not own or abs(max(overlaps) - value) < 1e-9, f"jaccard {jaccard}")
        for name, reference in matches.items():
            common = len(ours[name] & theirs[reference])
            # -1 is no cluster.
            most = [len(ours[name] & rows) for key, rows in theirs.items() if key != -1]
            most += [len(rows & theirs[reference]) for key, rows in ours.items() if key != -1]
            require(common == max(most) and -1 not in (name, reference), f"matches {matches}")


def check_neighbors(X: Any, own: Any, count: int) -> None:
    """Compare with sorted distances, where no two are alike."""
    found = neighbor_consistency(X, own, n_neighbors=count)
    with promised():
        D = np.linalg.norm(X[:, None] - X[None], axis=-1)
        np.fill_diagonal(D, np.inf)
        near, own = np.sort(D, axis=1), np.asarray(own)
        m = min(count, len(X) - 1)
        if m == len(X) - 1 or (near[:, m] > near[:, m - 1] * (1 + 1e-6)).all():
            rows = np.argsort(D, axis=1)[:, :m]
            equal(found, np.mean([own[i] == own[j] for i, row in enumerate(rows) for j in row]),
                  "neighbor_consistency")  # fmt: skip
        require(0 <= found <= 1, f"neighbor_consistency {found}")


def check_spectrum(values: Any, t: Any) -> None:
    """Compare with the definitions of the numbers of clusters of a spectrum."""
    gap = eigengap(values)
    effective = effective_clusters(values, t=t)
    with promised():
        falling = np.sort(values)[::-1]
        require(falling[gap - 1] - falling[gap] == -np.diff(falling).min(), f"eigengap {gap}")
        weight = falling if t is None else np.exp(-2 * t * (falling[0] - falling))
        equal(effective, weight.sum() ** 2 / (weight**2).sum(), "effective_clusters")


def check_fitted(model: Any, X: Any, own: Any, weight: Any) -> None:
    """Compare with distances between all rows in the feature space."""
    model.fit(X)
    inertia = kernel_inertia(model, X, own, weight)
    found = kernel_silhouette_samples(model, X, own)
    with promised():
        K, small = between_rows(model, X)
        v = np.ones(len(X), Long) if weight is None else weight.astype(Long)
        codes = np.unique(np.asarray(own), return_inverse=True)[1]
        heavy = v > 0
        _, kept = np.unique(codes[heavy], return_inverse=True)
        d = distances(K[np.ix_(heavy, heavy)], means(kept, v[heavy], kept.max() + 1))
        close("kernel_inertia", inertia, v[heavy] @ d[range(len(kept)), kept], v.sum() * small)
        require(inertia >= 0, f"kernel_inertia {inertia}")
        exact, allowed = silhouettes(K, codes, small)
        require(np.isfinite(found).all(), f"silhouettes {found}")
        near = np.abs(found - exact) <= allowed + 1e-9
        require(near.all(), f"silhouettes {found} are not {exact}, but for {allowed}")
        require((np.abs(found) <= 1 + 1e-9).all(), f"silhouettes {found}")


def check_sparse(model: Any, X: Any, own: Any, weight: Any) -> None:
    """Sparse rows in any form say what they say in the usual one."""
    usual = canonical(X)
    model.fit(usual)
    for measure, given in (
        (neighbor_consistency, (own,)),
        (partial(kernel_inertia, model), (own, weight)),
        (partial(kernel_silhouette_samples, model), (own,)),
    ):
        found = measure(usual, *given)
        with promised():
            np.testing.assert_array_equal(measure(X, *given), found, f"{measure} of {X!r}")


def between_rows(model: Any, X: Any) -> tuple[Any, Any]:
    """The kernel of a model between all rows, by its definition if it is one of one line.

    The second value is the rounding of squared distances.
    """
    kernels = getattr(model.kernel_, "kernels", [model.kernel_])
    name, gamma = kernels[0].given_name, [one.parameters.get("gamma", 0) for one in kernels]
    if len(kernels) == 1 and name in ("rbf", "linear", "poly"):
        K = kernel(name, X.astype(Long), **kernels[0].parameters)
    else:
        K = model.kernel_(X, X).astype(Long)
    exponent = max(gamma) * ((X - X.mean(axis=0)) ** 2).sum(axis=1).max()
    scale = np.diagonal(K).max()
    return K, 200 * np.finfo(float).eps * scale * max(1, exponent)


def fitted(rng: Rng, n: int) -> tuple[Any, ...]:
    """An estimator, rows, labels and weights."""
    given: dict[str, Any] = {"n_swaps": 0, "random_state": 0}
    model: Any = pick(
        rng,
        KernelPowerKMeans(1, kernel=pick(rng, "heat", "rbf", "linear"), **given),
        MultiKernelPowerKMeans(1, kernels=pick(rng, "widths", "neighbors"), **given),
        KernelKMeans(1, kernel=pick(rng, "linear", "poly"), **given),
        PowerKMeans(1, **given),
    )
    return model, plain_rows(rng, n, int(rng.integers(1, 4))), labels(rng, n), weights(rng, n)


def sparsely(rng: Rng, n: int) -> tuple[Any, ...]:
    """The same with sparse rows."""
    model, X, own, weight = fitted(rng, n)
    return model, sparse_form(rng, X), own, weight


def equal(value: float, exact: float, name: str) -> None:
    """Fail unless both numbers are the same up to rounding."""
    require(abs(value - exact) <= 1e-9 * max(1, abs(exact)), f"{name}: {value} is not {exact}")


#: The checks, and what each takes.
CHECKS: dict[Callable[..., None], Callable[[Rng, int], tuple[Any, ...]]] = {
    check_pairs: two,
    check_clusters: two,
    check_neighbors: lambda rng, n: (
        plain_rows(rng, n, 2),
        labels(rng, n),
        int(pick(rng, 1, 2, 5, 25, 0)),
    ),
    check_spectrum: lambda rng, n: (
        rng.uniform(-0.1 if rarely(rng) else 0, 1, n) * pick(rng, 1, 1, 0),
        pick(rng, None, None, 0.0, 1.0, 1e3, -1.0, np.nan),
    ),
    check_fitted: fitted,
    check_sparse: sparsely,
}
