"""What must hold of a fitted model, whatever it was fitted to."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.utils.extmath import safe_sparse_dot

from fuzz import Failure, Rng
from fuzz.draw import canonical
from fuzz.judge import LOST, heard, is_refusal, promised, require
from kernelmeans.baselines import RKKM, RMKKM
from kernelmeans.solver import Ending, Result

#: Kernels whose matrices are positive semi-definite with any parameters: costs cannot rise.
POSITIVE = ("rbf", "laplacian", "geodesic", "linear", "cosine", "heat", "graph")
FAMILIES = ("neighbors", "widths", "du2015")
FLOATS = (np.float32, np.float64)


def product(A: Any, B: Any, power: int = 1) -> np.ndarray:
    """A kernel that is a callable; named, so that it can be pickled."""
    return np.asarray(safe_sparse_dot(A, B.T, dense_output=True)) ** power


def check_fit(model: Any, X: Any, weight: Any, rng: Rng, new: Any = None) -> None:
    """Fit a model and check all that is promised of it; errors of the fit come through."""
    # Where a fit says that squared distances lose their digits, they are not compared.
    with unchanged(model, X, weight), heard("X is sparse, and the mean of its rows is") as said:
        try:
            model.fit(X, sample_weight=weight)
        except ValueError as error:
            require(LOST not in str(error) or not ordinary(X, weight), str(error))
            raise
    if new is not None:
        check_new(model, new)
    with promised():
        check_finite(model)
        check_labels(model, X, weight)
        if not said and exact(X, weight):
            check_distances(model, X, rng)
            if positive(model, X):
                check_history(model, weight)
        check_copies(model, X, weight)


def ordinary(X: Any, weight: Any) -> bool:
    """Whether numbers could be measurements: no very large or very small ones."""
    sizes = np.abs(X.tocsr().data if scipy.sparse.issparse(X) else X).max(initial=0)
    most = 1 if weight is None else np.max(weight)
    return bool(1e-3 <= sizes <= 1e6 and 1e-3 <= most <= 1e3)


@contextmanager
def unchanged(model: Any, *data: Any) -> Iterator[None]:
    """Check that a fit changes no parameter and no data, and if it fails, nothing at all."""
    own, before = dict(vars(model)), bits(model, data)
    try:
        yield
    except Exception:
        now = vars(model)
        same = own.keys() == now.keys() and all(own[name] is now[name] for name in own)
        require(same, f"a failed fit leaves {now.keys() - own.keys()} behind")
        raise
    finally:
        require(before == bits(model, data), "parameters or data are others after the fit")


def bits(model: Any, data: Any) -> bytes:
    """The parameters of a model, and data."""
    parameters = {} if callable(model.init) else model.get_params(deep=False)
    if not is_repeatable(model):
        parameters.pop("random_state", None)
    return pickle.dumps([parameters, *map(held, data)])


def held(data: Any) -> Any:
    """The arrays of data; sparse ones also note of themselves whether they are sorted."""
    if not scipy.sparse.issparse(data):
        return np.array(data)
    parts = [value for name, value in vars(data).items() if "has_" not in name]
    return pickle.dumps(parts)  # for its own, as arrays may be shared


def is_repeatable(model: Any) -> bool:
    """Whether two fits are the same: a generator goes on, and none is another each time."""
    return isinstance(model.random_state, int)


def check_new(model: Any, new: Any) -> None:
    """New rows have labels and distances that are finite, or are refused."""
    try:
        labels, distances = model.predict(new), model.transform(new)
    except Exception as error:
        if not is_refusal(error):
            raise
        return
    require(are_labels(labels, model), f"labels of new rows: {labels}")
    require(np.isfinite(distances).all() and (distances >= 0).all(), f"of new rows: {distances}")
    own = distances[np.arange(len(labels)), labels]
    near = distances.min(axis=1) * (1 + 1e-3) + 2 * np.sqrt(floor_of(model))
    require((own <= near)[labels >= 0].all(), f"labels of new rows: {labels} {distances}")


def are_labels(labels: Any, model: Any) -> bool:
    """Whether these are numbers of clusters, or -1 where rows may be in none."""
    least = 0 if getattr(model, "outliers", None) is None else -1
    return bool(((labels >= least) & (labels < model.n_clusters)).all())


def check_finite(model: Any) -> None:
    """All fitted attributes are finite, but for powers."""
    for name, value in not_finite(model):
        raise Failure(f"{name} is not finite: {value}")
    bounds = model.inertia_bounds_
    require(bounds is None or 0 <= bounds[0] <= bounds[1], f"inertia_bounds_ {bounds}")


def not_finite(model: Any) -> Iterator[tuple[str, Any]]:
    """Public fitted attributes with numbers that are not finite; powers may be -inf too."""
    for name, value in numbers(fitted(model)):
        held = value.data if scipy.sparse.issparse(value) else value
        allowed = np.isneginf(held) if "power" in name else False
        if not (np.isfinite(held) | allowed).all():
            yield name, value


def fitted(model: Any) -> dict[str, Any]:
    """Fitted attributes of a model: its own, properties of its class, and parts of its result."""
    found = dict(vars(model))
    for name in dir(type(model)):
        if name.endswith("_") and isinstance(getattr(type(model), name), property):
            with suppress(AttributeError):
                found[name] = getattr(model, name)
    if isinstance(result := found.get("result_"), Result):
        # Nobody asks for the cost of a restart that is given up.
        costs = {
            name: getattr(result, name)[result.endings != Ending.GIVEN_UP]
            for name in ("inertia", "cost")
        }
        found |= {f"result_{name}_": value for name, value in (vars(result) | costs).items()}
    return found


def numbers(attributes: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Public fitted attributes that hold numbers."""
    for name, value in attributes.items():
        if name.endswith("_") and not name.startswith("_"):
            for one in value if isinstance(value, list | tuple) else [value]:
                if isinstance(one, float) or getattr(one, "dtype", np.intp) in FLOATS:
                    yield name, one


def check_labels(model: Any, X: Any, weight: Any) -> None:
    """Labels, distances, memberships and costs agree with each other."""
    labels = model.labels_
    require(are_labels(labels, model), f"labels_ {labels}")
    if getattr(model, "outlier_score_", None) is not None:
        scores = model.outlier_score(X)
        np.testing.assert_array_equal(scores, model.outlier_score_, "outlier_score(X)")
    np.testing.assert_array_equal(labels, model.predict(X), "labels_ and predict(X)")
    cost = -model.score(X, sample_weight=weight)
    require(model.inertia_ == cost, f"inertia_ {model.inertia_!r} and -score(X) {cost!r}")
    if (memberships := model.memberships_) is not None:
        require((memberships >= 0).all(), "memberships_ are negative")
        np.testing.assert_allclose(memberships.sum(axis=1), 1, rtol=1e-4, err_msg="memberships_")
        np.testing.assert_allclose(memberships.max(axis=1), model.certainty_, rtol=1e-4)


def check_distances(model: Any, X: Any, rng: Rng) -> None:
    """Distances are those of `transform`, which are the same in any order of the rows."""
    distances = model.transform(X)
    require(np.isfinite(distances).all() and (distances >= 0).all(), "transform(X)")
    rounding = {"rtol": 1e-3, "atol": 1e-3 * distances.max() + 2 * np.sqrt(floor_of(model))}
    nearest = np.sort(distances, axis=1)[:, : model.distances_.shape[1]]
    np.testing.assert_allclose(nearest, model.distances_, err_msg="distances_", **rounding)
    order = rng.permutation(len(distances))
    X = X.tocsr() if scipy.sparse.issparse(X) else X
    other = model.transform(X[:, order] if X.ndim == 3 else X[order])
    np.testing.assert_allclose(other, distances[order], err_msg="order of rows", **rounding)


def floor_of(model: Any) -> float:
    """Squared distances below this are rounding."""
    geodesic = [model.gamma_] if getattr(model, "kernel", "") == "geodesic" else []
    if hasattr(model, "kernels_"):
        geodesic += [
            one.parameters["gamma"] * factor
            for one, factor in zip(model.kernels_, model.kernel_factors_, strict=True)
            if one.function == "geodesic"
        ]
    # Near 1 the arccosine has half the digits of the cosine.
    rounding = 10 * np.sqrt(np.finfo(float).eps) * max(geodesic, default=0.0)
    return max(float(model._floor), float(rounding))


def positive(model: Any, X: Any) -> bool:
    """Whether no squared distance is negative, but for rounding."""
    kernels = getattr(model, "kernel", getattr(model, "kernels", "linear"))
    if isinstance(kernels, str) and kernels == "precomputed":
        return all(is_positive(K) for K in (X if X.ndim == 3 else [X]))
    each = kernels if isinstance(kernels, list) else [kernels]
    names = [one[-2] if isinstance(one, tuple) else one for one in each]
    # Those of a dict have parameters of their own, with which poly may not be positive.
    if any(isinstance(one, dict) and one["kernel"] == "poly" for one in names):
        return False
    names = [one["kernel"] if isinstance(one, dict) else one for one in names]
    # Views have the parameters that are the default of poly, with which it is positive.
    degree, coef0 = getattr(model, "degree", 3), getattr(model, "coef0", 1)
    poly = ["poly"] if coef0 >= 0 and float(degree).is_integer() else []
    allowed = [product, *POSITIVE, *FAMILIES, *poly]
    return all(any(name is one or name == one for one in allowed) for name in names)


def exact(X: Any, weight: Any) -> bool:
    """Whether distances keep their digits. Sparse rows are not centred, and may be far from 0.

    Where few rows have all the weight, these may be nearer to each other than all rows are.
    """
    if not scipy.sparse.issparse(X):
        return True
    dense = X.toarray().astype(float)
    dense /= np.abs(dense).max() or 1
    eps = np.finfo(X.dtype).eps if X.dtype.kind == "f" else np.finfo(float).eps
    mean = np.average(dense, axis=0, weights=weight)
    variance = np.average((dense - mean) ** 2, axis=0, weights=weight)
    return bool(eps * (mean**2).sum() <= 1e-9 * variance.sum())


def is_positive(K: np.ndarray) -> bool:
    """Whether a matrix is positive semi-definite, but for rounding."""
    values = np.linalg.eigvalsh(K / (np.abs(K).max() or 1))
    return bool(values[0] >= -len(K) * np.finfo(K.dtype).eps * values[-1])


def check_history(model: Any, weight: Any) -> None:
    """The power never rises; the objective neither, by more than rounding."""
    history, powers = model.objective_history_, model.power_history_
    require((powers[1:] <= powers[:-1]).all(), f"power_history_ rises: {powers}")
    total = model.labels_.size if weight is None else np.sum(weight)
    least = np.finfo(model._predictor.norms.dtype).eps
    rounding = least * np.abs(history).max()
    if rooted := isinstance(model, RKKM | RMKKM):  # their objective is a sum of roots
        history, powers = history[1:], powers[1:]  # and their first turn is one of k-means
    floor = floor_of(model)
    if hasattr(model, "kernel_weights_"):
        # The floor is that of the last weights; those of the steps before may be others.
        floor = max(floor, least)
    floor = total * (np.sqrt(floor) if rooted else floor)
    # A power mean of k distances is up to k^(1/t) times the smallest, and so is its rounding.
    amplified = np.exp(np.minimum(600, np.log(model.n_clusters) / -powers[:-1]))
    with np.errstate(over="ignore"):
        allowed = 100 * amplified * (rounding + floor) + 1e-300
    rises = np.diff(history)
    require((rises <= allowed).all(), f"objective_history_ rises: {rises} > {allowed}: {history}")


def check_copies(model: Any, X: Any, weight: Any) -> None:
    """A second fit of a clone, to the same rows in the usual form, and a pickle say the same.

    To the last bit.
    """
    if is_repeatable(model):
        again = clone(model)
        labels = again.fit_predict(canonical(X), sample_weight=weight)
        np.testing.assert_array_equal(labels, model.labels_, "fit_predict and fit")
        np.testing.assert_array_equal(again.labels_, model.labels_, "labels_ of two fits")
        require(again.inertia_ == model.inertia_, f"inertia_ {again.inertia_} {model.inertia_}")
    if not callable(model.init):
        loaded = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(loaded.predict(X), model.labels_, "labels by a pickle")
        numbers = np.roll(np.arange(model.n_clusters), 1)
        loaded.renumber(numbers)
        expected = np.append(numbers, -1)[model.labels_]
        np.testing.assert_array_equal(loaded.labels_, expected, "renumber")
        np.testing.assert_array_equal(loaded.predict(X), expected, "predict after renumber")
        distances = model.transform(X)
        rounding = {"rtol": 1e-3, "atol": 1e-3 * distances.max() + 2 * np.sqrt(floor_of(model))}
        np.testing.assert_allclose(loaded.transform(X)[:, numbers], distances, **rounding)
