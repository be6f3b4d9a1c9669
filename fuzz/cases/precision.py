"""Groups in float32 that lie close together, far from a row, or at very small numbers."""

from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from fuzz import Case, Refused, Rng
from fuzz.draw import pick
from fuzz.judge import heard, is_refusal, require
from kernelmeans import KernelKMeans, KernelPowerKMeans, PowerKMeans

WEIGHT = 1
#: What a fit says of rows that are alike, which no two are here.
ALIKE = "duplicate points"


def case(rng: Rng) -> Case:
    X, groups = pick(rng, pairs, outlier, small)(rng)
    # Rows that float32 makes equal are no matter of a fit.
    X, kept = np.unique(X.astype(np.float32), axis=0, return_index=True)
    groups, k = groups[kept], len(np.unique(groups))
    given: dict[str, Any] = {"random_state": int(rng.integers(99))}
    model: Any = pick(
        rng,
        lambda: PowerKMeans(k, **given),
        lambda: KernelPowerKMeans(k, kernel=pick(rng, "linear", "rbf"), **given),
        lambda: KernelKMeans(k, kernel="linear", n_init=10, **given),
    )()
    return Case(f"{model!r}\nX = {X!r}\n{groups!r}", lambda: check(model, X, groups))


def clouds(rng: Rng, k: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows about the corners of a cube, and their groups."""
    groups = np.repeat(np.arange(k), rng.integers(5, 20, k))
    corners = np.indices((2,) * p).reshape(p, -1).T[:k]
    return corners[groups] + 0.03 * rng.uniform(-1, 1, (len(groups), p)), groups


def pairs(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Clouds far from each other, in each of which two groups lie close together."""
    near = 10.0 ** pick(rng, -1, -2, -3, -4)
    X, groups = clouds(rng, 2, int(rng.integers(1, 4)))
    places = np.arange(pick(rng, 1, 2, 3))[:, None, None] * np.ones(X.shape)
    return (places + near * X).reshape(-1, X.shape[1]), (2 * places[..., 0] + groups).ravel()


def outlier(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Clouds, and one row far away."""
    X, groups = clouds(rng, 3, 2)
    return np.r_[X, [[10.0 ** pick(rng, 2, 3, 4, 5, 6), 0]]], np.r_[groups, 3]


def small(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Clouds in another unit."""
    X, groups = clouds(rng, 3, 2)
    return X * 10.0 ** pick(rng, -10, -18, -20, -22, -25), groups


def check(model: Any, X: np.ndarray, groups: np.ndarray) -> None:
    """A fit in float32 finds the groups that one in float64 finds, or says that it is float32."""
    with heard(ALIKE) as alike:
        if adjusted_rand_score(groups, model.fit(X.astype(float)).labels_) < 1:
            raise Refused("float64 does not find the groups either")
        with heard("float32") as said:
            try:
                labels = model.fit(X).labels_
            except ValueError as error:
                require(is_refusal(error) and "float32" in str(error), f"{error!r}")
                return
    require(not alike, f"no two rows are equal, but {alike}")
    found = adjusted_rand_score(groups, labels)
    require(found == 1 or said, f"{labels} are not the groups ({found:.2f}), without a word")
