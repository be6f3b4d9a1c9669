"""What a model file holds: written, opened and checked.

A model file is a skops archive of plain values, arrays and the classes in `TRUSTED_TYPES`. Loading
it runs no code from the file and never unpickles. A file with a member that is too large, or that
no model has, is refused before it is unpacked. So a model file from a stranger is safe to load.
"""

import math
import warnings
import zipfile
from copy import copy
from dataclasses import fields
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import scipy.sparse
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import kernelmeans
from kernelmeans._errors import InputError
from kernelmeans._files import write_files
from kernelmeans._fitted import is_stacked, transformed
from kernelmeans._text import bounded
from kernelmeans.estimators.assigner import Assigner, read_new
from kernelmeans.estimators.tree import ClusterTree
from kernelmeans.models.archive import TRUSTED_TYPES, check_archive, check_content
from kernelmeans.models.placing import without_names
from kernelmeans.spaces import Predictor, ProductPredictor
from kernelmeans.tables import TableTransformer
from kernelmeans.tables.files import Reading
from kernelmeans.tables.files.archives import damaged_errors

if TYPE_CHECKING:
    from kernelmeans.models.model import Model

_FORMAT = 1
_WRITERS = "written by save_model or kernelmeans fit"


def save(model: "Model", path: Path) -> None:
    """Write a model file, which is opened again before it replaces another.

    Raises
    ------
    ValueError
        If the model holds what no model file may hold.
    """

    def write(file: BinaryIO) -> None:
        write_model(model, file)
        file.flush()
        opened(type(model), Path(file.name), path)

    try:
        write_files({path: write})
    except (InputError, TypeError) as error:
        raise refusal(model.pipeline, error) from error


def refusal(model: Any, reason: Exception) -> ValueError:
    """The error of a model that no file may hold: the reason first, because models are long."""
    said = str(reason).rstrip(".")
    return ValueError(
        f"model cannot be kept in a model file: {said}. Most such models can be pickled. "
        f"Got model={bounded(repr(model), 200)}."
    )


def opened(kind: type["Model"], file: Path, path: Path, max_bytes: float = math.inf) -> "Model":
    """Open a model file; `path` is its name in messages."""
    damaged = f"{path}: is not a model file {_WRITERS}, or is damaged"
    with damaged_errors(damaged), np.errstate(all="ignore"):
        check_archive(path, max_bytes, file)
        content = skops().io.load(file, trusted=list(TRUSTED_TYPES))
        check_content(content)
        model = _as_model(kind, path, content)
    _check_fitting(path, model)
    first, numbered = model.pipeline[0], list(map(str, range(len(model.columns))))
    if model.columns != numbered and not isinstance(first, TableTransformer):
        first.feature_names_in_ = np.array(model.columns, dtype=object)
    return model


def write_model(model: "Model", file: BinaryIO) -> None:
    """Write a model file, with only the parts that new rows need."""
    steps = [(name, _portable(step)) for name, step in model.pipeline.steps]
    parts = {**vars(model), "pipeline": Pipeline(steps)}
    content = {"format": _FORMAT, "version": kernelmeans.__version__, **parts}
    skops().io.dump(content, file, compression=zipfile.ZIP_DEFLATED, compresslevel=1)


def skops() -> Any:
    """The package that reads and writes model files."""
    try:
        from kernelmeans.models._skops import skops
    except ModuleNotFoundError as error:  # other ImportErrors: broken, or no memory for a library
        raise ImportError(
            f'{error.name} is needed for model files: pip install "kernelmeans[skops]"'
        ) from error
    return skops


def _portable(step: Any) -> Any:
    """A copy of a step that any machine can open. `Model` holds the names of columns."""
    step = without_names(step)
    for name in ("_skl_callbacks", "changes_"):
        vars(step).pop(name, None)
    for name in ("labels_", "distances_", "certainty_", "outlier_score_"):
        if getattr(step, name, None) is not None:  # they may lie on a Dask cluster
            setattr(step, name, np.asarray(getattr(step, name)))
    if hasattr(step, "device"):  # the machine that predicts may have none
        step.device = None
    if isinstance(getattr(step, "kernels", None), list | tuple):
        _settle_columns(step)
    return step


def _settle_columns(step: Any) -> None:
    """Put the columns that a selector has found in its place: a file holds no functions."""
    given = step._input.kernels
    settled = [
        (*item[:-1], step._input.views[place].columns)
        if isinstance(item, list | tuple) and callable(item[-1])
        else item
        for place, item in enumerate(given)
    ]
    if step.kernels is given:
        step.kernels = settled
    step._input = copy(step._input)
    step._input.kernels = settled


def _as_model(kind: type["Model"], path: Path, content: Any) -> "Model":
    """Turn the content of a file into a model, or refuse it."""
    if not isinstance(content, dict) or "format" not in content:
        raise InputError(f"{path}: a skops file, but not a model {_WRITERS}")
    if content["format"] != _FORMAT:
        raise InputError(
            f"{path}: written by kernelmeans {content.get('version')} in format "
            f"{content['format']}, but {kernelmeans.__version__} reads format {_FORMAT}: "
            "install that version, or fit again"
        )
    parts: dict[str, Any] = {part.name: content.get(part.name) for part in fields(kind)}
    model = kind(**parts)
    if isinstance(model.pipeline, Pipeline):
        for _, step in model.pipeline.steps:
            _add_parameters(step)
            if isinstance(step, TableTransformer):
                step._upgrade(model.reading or {})
        if _well_formed(model):
            return model
    raise InputError(f"{path}: the model is incomplete; fit it again")


def _add_parameters(step: Any) -> None:
    """Give a step of an earlier state the defaults of parameters that came later."""
    for name, parameter in signature(type(step)).parameters.items():
        if not hasattr(step, name):
            setattr(step, name, parameter.default)


def _well_formed(model: "Model") -> bool:
    """Say whether the parts of a model have the types and sizes that `fit` gives them."""
    *before, estimator = [step for _, step in model.pipeline.steps]
    several = isinstance(estimator, kernelmeans.MultiKernelPowerKMeans)
    single = isinstance(estimator, kernelmeans.KernelKMeans | kernelmeans.KernelPowerKMeans)
    predictor, labels = (getattr(estimator, name, None) for name in ("_predictor", "labels_"))
    return (
        all(isinstance(one, StandardScaler | TableTransformer) for one in before)
        and all(one.is_well_formed() for one in before if isinstance(one, TableTransformer))
        and (single or several)
        and isinstance(predictor, Predictor)
        and isinstance(predictor, ProductPredictor) == several
        and isinstance(labels, np.ndarray)
        and _has_centroids(predictor, labels.size)
        and _has_tree(estimator, len(predictor.norms))
        and _has_diagonal(estimator)
        and isinstance(model.columns, list)
        and all(isinstance(name, str) for name in model.columns)
        and model.dtype in ("float32", "float64")
        and (model.reading is None or _is_reading(model.reading))
        and (model.far is None or (type(model.far) is float and model.far >= 0))
    )


def _has_centroids(predictor: Predictor, most: int) -> bool:
    """Say whether a predictor has from 1 to `most` centroids, and a number for each."""
    norms, numbers = (getattr(predictor, name, None) for name in ("norms", "_numbers"))
    if not (isinstance(norms, np.ndarray) and norms.ndim == 1 and 0 < norms.size <= most):
        return False
    if numbers is None:  # of older files
        return True
    every = np.arange(norms.size)
    return isinstance(numbers, np.ndarray) and np.array_equal(np.sort(numbers), every)


def _has_tree(estimator: Any, n_clusters: int) -> bool:
    """Say whether a model has a sound tree, or none, as those of older files."""
    tree = estimator.tree_
    if tree is None:
        return True
    known = isinstance(tree, ClusterTree) and len(tree.cluster_weight_) == n_clusters
    return known and (n_clusters == 1 or bool(is_valid_linkage(tree.linkage())))


def _has_diagonal(estimator: Any) -> bool:
    """Say whether a model of kernel matrices has a sound diagonal of each."""
    known = getattr(estimator._input, "known", [])
    return all(one.is_well_formed() for one in (known if isinstance(known, list) else [known]))


def _is_reading(reading: Any) -> bool:
    """Say whether this has the form that `Reading.chosen` returns."""
    known = {"units", *(field.name for field in fields(Reading))}
    return isinstance(reading, dict) and all(
        name in known and _is_choice(name, value) for name, value in reading.items()
    )


def _is_choice(name: str, value: Any) -> bool:
    if name == "header":
        return value is False
    kind = {"units": dict, "missing_values": list}.get(name, str)
    texts = chain(*value.items()) if isinstance(value, dict) else value
    return isinstance(value, kind) and all(isinstance(text, str) for text in texts)


def _check_fitting(path: Path, model: "Model") -> None:
    """Refuse a model that cannot label a row, because its parts do not fit together."""
    *before, estimator = [step for _, step in model.pipeline.steps]
    before = [one for one in before if not isinstance(one, TableTransformer)]  # checked above
    with damaged_errors(f"{path}: the model is damaged; fit it again"):
        row = np.linspace(0.5, 1, estimator.n_features_in_, dtype=model.dtype)[None]
        if is_stacked(estimator):
            row = np.stack([row] * len(estimator.kernel_.kernels))
        _label_any(before, estimator, [row, 0 * row])
        if get_tags(estimator).input_tags.sparse and not any(one.with_mean for one in before):
            _label_any(before, estimator, [scipy.sparse.csr_array(one) for one in (row, 0 * row)])


@np.errstate(all="ignore")
def _label_any(before: list[Any], estimator: Any, rows: list[Any]) -> None:
    """Label at least one of some rows. Even a sound model refuses rows whose numbers overflow."""
    with warnings.catch_warnings(action="ignore"):
        for row in rows:
            try:
                read, device = read_new(estimator, transformed(before, row))
                Assigner.of(estimator, device).assigned(read)
            except Exception as error:
                reason = error
            else:
                return
        raise reason
