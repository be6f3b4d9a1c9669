"""The model file, which ``fit`` writes and ``predict`` reads.

It is a skops archive of plain values, arrays and the classes in `TRUSTED_TYPES`. Loading one runs
no code from the file and never unpickles. Members that are too large, or that no model has, are not
unpacked. So a model is safe to load from strangers.
"""

import functools
import inspect
import io
import json
import math
import re
import traceback
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from itertools import chain
from pathlib import Path
from types import FunctionType
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import kernelmeans
from kernelmeans._memory import cached_property
from kernelmeans._text import listed, nearest
from kernelmeans.cli._skops import skops
from kernelmeans.cli.errors import BadInputError
from kernelmeans.cli.reading import Reading
from kernelmeans.cli.reading.archives import (
    array_header,
    check_size,
    check_sparse,
    damaged_errors,
    open_archive,
)
from kernelmeans.cli.reading.tables import Table
from kernelmeans.spaces import Predictor, ProductPredictor
from kernelmeans.tables import TableTransformer

#: All that a model file may hold beside numbers, text, lists, dicts, NumPy arrays, and
#: scikit-learn's `Pipeline` and `StandardScaler`.
TRUSTED_TYPES = (
    "kernelmeans.estimators.inputs.Graph",
    "kernelmeans.estimators.inputs.Input",
    "kernelmeans.estimators.inputs.KernelMatrix",
    "kernelmeans.estimators.inputs.TrainingDiagonal",
    "kernelmeans.estimators.multi.MultiKernelPowerKMeans",
    "kernelmeans.estimators.several.KernelMatrices",
    "kernelmeans.estimators.several.View",  # of older files
    "kernelmeans.estimators.several.Views",
    "kernelmeans.estimators.single.KernelKMeans",
    "kernelmeans.estimators.single.KernelPowerKMeans",
    "kernelmeans.estimators.views.View",
    "kernelmeans.heat.anchors.AnchorFeatures",
    "kernelmeans.heat.given.DistancesKernel",
    "kernelmeans.heat.given.EdgeRows",
    "kernelmeans.heat.given.GraphKernel",
    "kernelmeans.heat.kernel.Extension",
    "kernelmeans.heat.kernel.HeatKernel",
    "kernelmeans.heat.neighbors.NearestRows",
    "kernelmeans.kernels.kernel.CombinedKernel",
    "kernelmeans.kernels.kernel.Kernel",
    "kernelmeans.lowrank.maps.Explicit",
    "kernelmeans.lowrank.maps.Fourier",
    "kernelmeans.lowrank.maps.Nystroem",
    "kernelmeans.solver.result.Result",
    "kernelmeans.spaces.features.FeaturePredictor",
    "kernelmeans.spaces.gram.GramPredictor",
    "kernelmeans.spaces.kernel_rows.Origin",
    "kernelmeans.spaces.product.ProductPredictor",
    "kernelmeans.tables.transformer.TableTransformer",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
)
_SKLEARN = ("sklearn.pipeline.Pipeline", "sklearn.preprocessing._data.StandardScaler")
#: Loaders of skops that a file may name. Skops trusts more: functions, and all of scikit-learn.
_LOADERS = re.compile("(Dict|Json|List|NdArray|Object|Slice|SparseMatrix|Tuple|Type)Node")
#: Most bytes of the file's schema. A model of 20 000 columns has a schema of 5 MB.
_SCHEMA_BYTES = 64 * 2**20
_SCHEMA = "schema.json"
#: What attributes of a class may not be replaced by those of an object.
_METHODS = FunctionType, property, functools.cached_property, cached_property
#: The numbers that may be infinite in a model: the power of hard steps, the critical power of
#: samples that do not vary, and `entropy_weight`.
_INFINITE = {
    **dict.fromkeys(["power_history", "power_history_", "critical_power_"], -math.inf),
    "entropy_weight": math.inf,
}
_FORMAT = 1


@dataclass(frozen=True)
class Model:
    """A fitted pipeline, and the columns and the dtype of its input.

    Parameters
    ----------
    pipeline : Pipeline
        Scaling, if any, and the fitted estimator.
    columns : list of str
        The feature columns, in the order of the fit.
    dtype : str
        The precision of the fit.
    reading : dict or None, default=None
        How the table was read, which holds for the next one too.
    far : float or None, default=None
        Distance beyond which rows are far, by `kernelmeans.cli.far.remoteness`. Older files have
        none.
    """

    pipeline: Pipeline
    columns: list[str]
    dtype: str
    reading: dict[str, Any] | None = None
    far: float | None = None

    def columns_in(self, table: Table) -> list[str]:
        """Find the columns in a table: by name, or by position where it has no names."""
        names = table.names
        known = set(names)
        missing = [name for name in self.columns if name not in known]
        if missing and not table.named and len(names) == len(self.columns):
            return names
        if missing:
            ours = set(self.columns)
            others = [name for name in names if name not in ours]
            alike = {name: found for name in missing if (found := nearest(name, others))}
            remedy = (
                f"rename {listed(list(alike.values()))} to {listed(list(alike))} if these are such"
                if alike
                else "give the columns the names of the fit, or fit a model without them"
            )
            raise BadInputError(
                f"{table.source}: the model needs {listed(missing)}, which the file does not have; "
                f"its columns are {listed(names)}: {remedy}"
            )
        return self.columns

    def write(self, file: BinaryIO) -> None:
        """Write the model file."""
        content = {"format": _FORMAT, "version": kernelmeans.__version__, **vars(self)}
        skops.io.dump(content, file, compression=zipfile.ZIP_DEFLATED, compresslevel=1)


def load_model(path: Path, max_bytes: float = math.inf) -> Model:
    """Read a model file, and refuse files that are not one or hold a foreign type.

    Parameters
    ----------
    path : Path
        A file written by ``kernelmeans fit``.
    max_bytes : float
        Bytes to which it may unpack.

    Returns
    -------
    Model
        The model, ready to predict.
    """
    with damaged_errors(f"{path}: is not a model file written by kernelmeans fit, or is damaged"):
        check_archive(path, max_bytes)
        content = skops.io.load(path, trusted=list(TRUSTED_TYPES))
        check_content(content)
        return _as_model(path, content)


def check_archive(path: Path, max_bytes: float) -> None:
    """Refuse a file that holds foreign types or would unpack to too many bytes, before unpacking.

    Parameters
    ----------
    path : Path
        The file.
    max_bytes : float
        Bytes to which it may unpack.

    Raises
    ------
    BadInputError
        If it is too large, or holds a type that no model has.
    ValueError
        If it is damaged.
    """
    with open_archive(path, path, max_bytes) as archive:
        members = [name for name in archive.namelist() if name != _SCHEMA]
        sizes = {name: _unpacked_bytes(path, archive, name, max_bytes) for name in members}
        check_size(Path(f"{path}: {_SCHEMA}"), archive.getinfo(_SCHEMA).file_size, _SCHEMA_BYTES)
        schema = _Schema()
        schema.count(json.loads(archive.read(_SCHEMA)))
    check_size(path, sum(sizes[name] for name in schema.files), max_bytes)
    if schema.foreign:
        raise BadInputError(
            f"{path}: refused, because it holds types that no kernelmeans model has: "
            f"{', '.join(sorted(schema.foreign))}"
        )


def _unpacked_bytes(path: Path, archive: zipfile.ZipFile, name: str, max_bytes: float) -> int:
    if name.endswith(".npy"):
        return array_header(path, archive, name).nbytes
    if not name.endswith(".npz"):
        raise ValueError(f"it has a member {name!r}, which no model has")
    # In memory, because each jump in a compressed file unpacks it from the beginning again.
    with open_archive(path, io.BytesIO(archive.read(name)), max_bytes) as inner:
        return sum(array_header(path, inner, each).nbytes for each in inner.namelist())


@dataclass
class _Schema:
    """The files and foreign types that ``schema.json`` makes skops load.

    An object in several places must be written in full in each. Otherwise a few lines could stand
    for more objects than there is time to check.
    """

    files: list[str] = field(default_factory=list)
    foreign: set[str] = field(default_factory=set)
    _sizes: dict[Any, int] = field(default_factory=dict)

    def count(self, node: Any) -> int:
        """Count the objects in a part of the schema, and note its files and foreign types."""
        if isinstance(node, list):
            return sum(map(self.count, node))
        if not isinstance(node, dict):
            return 0
        if "__loader__" in node:
            self._note_type(node["__loader__"], f"{node['__module__']}.{node['__class__']}")
        size = 1 + sum(map(self.count, node.values()))
        identity = node.get("__id__")
        if "file" in node and (identity is None or identity not in self._sizes):
            self.files.append(node["file"])
        if identity is not None and self._sizes.setdefault(identity, size) != size:
            raise ValueError("an object is written in two ways")
        return size

    def _note_type(self, loader: str, name: str) -> None:
        # The arrays of a sparse matrix are checked only where its NPZ file is read.
        sparse = (loader == "SparseMatrixNode") == name.startswith("scipy.")
        known = loader != "ObjectNode" or name in TRUSTED_TYPES + _SKLEARN
        if not (sparse and known and _LOADERS.fullmatch(loader)):
            self.foreign.add(name)


def check_content(content: Any) -> None:
    """Refuse numbers that no model has.

    Parameters
    ----------
    content : object
        The unpacked content.

    Raises
    ------
    ValueError
        If there is NaN or infinity, an attribute in place of a method or property, an array of
        values other than numbers and bytes, text that belongs to no table, or a sparse matrix with
        an index out of range.
    """
    seen: dict[tuple[int, float | None, bool], Any] = {}
    waiting: list[tuple[str, Any, bool]] = [("model", content, False)]
    while waiting:
        name, value, may_be_text = waiting.pop()
        key = id(value), _INFINITE.get(name), may_be_text
        if key in seen:
            continue
        seen[key] = value  # held, so that no other object gets its id
        # What columns were taken for is text. Elsewhere text would be compared with numbers.
        may_be_text |= isinstance(value, TableTransformer)
        parts: Iterable[tuple[Any, Any]] = ()
        if isinstance(value, np.ndarray | np.generic | float):
            _check_array(name, np.asarray(value), may_be_text)
        elif isinstance(value, dict):
            parts = value.items()
        elif isinstance(value, list | tuple | set | frozenset):
            parts = ((name, part) for part in value)
        elif hasattr(value, "__dict__") and not isinstance(value, type):
            _check_object(name, value)
            parts = vars(value).items()
        waiting.extend((str(each), part, may_be_text) for each, part in parts)


def _check_array(name: str, array: np.ndarray[Any, Any], may_be_text: bool) -> None:
    # Digests are plain bytes.
    kinds = "fiubVU" if may_be_text else "fiubV"
    if array.dtype.kind not in kinds or array.dtype.fields:
        raise ValueError(f"{name} holds {array.dtype} values")
    if array.dtype.kind == "f" and not (np.isfinite(array) | (array == _INFINITE.get(name))).all():
        raise ValueError(f"{name} holds NaN or infinity")


def _check_object(name: str, value: Any) -> None:
    """Refuse attributes that replace a method or property of the class; check indices."""
    for attribute in vars(value):
        replaced = inspect.getattr_static(type(value), attribute, None)
        if isinstance(replaced, _METHODS):
            raise ValueError(f"{name} has a {attribute} of its own")
    if scipy.sparse.issparse(value):
        if value.format != "csr":
            raise ValueError(f"{name} is no CSR matrix")
        check_sparse(value)


def _as_model(path: Path, content: Any) -> Model:
    """Turn the content of a file into a model if it has the form of one."""
    if not isinstance(content, dict) or "format" not in content:
        raise BadInputError(f"{path}: a skops file, but not a model written by kernelmeans fit")
    if content["format"] != _FORMAT:
        raise BadInputError(
            f"{path}: written by kernelmeans {content.get('version')} in format "
            f"{content['format']}, but {kernelmeans.__version__} reads format {_FORMAT}: "
            "install that version, or fit again"
        )
    parts: dict[str, Any] = {part.name: content.get(part.name) for part in fields(Model)}
    if _well_formed(model := Model(**parts)):
        return model
    raise BadInputError(f"{path}: the model is incomplete; fit it again")


def _well_formed(model: Model) -> bool:
    """Say whether the parts of a model have the types and sizes that `fit` gives them."""
    if not isinstance(model.pipeline, Pipeline):
        return False
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
        and isinstance(model.columns, list)
        and all(isinstance(name, str) for name in model.columns)
        and model.dtype in ("float32", "float64")
        and (model.reading is None or _is_reading(model.reading))
        and (model.far is None or (type(model.far) is float and model.far >= 0))
    )


def _has_centroids(predictor: Predictor, most: int) -> bool:
    """Say whether a predictor has a centroid or more, up to so many, and a number for each."""
    norms, numbers = (getattr(predictor, name, None) for name in ("norms", "_numbers"))
    if not (isinstance(norms, np.ndarray) and norms.ndim == 1 and 0 < norms.size <= most):
        return False
    if numbers is None:  # of older files
        return True
    every = np.arange(norms.size)
    return isinstance(numbers, np.ndarray) and np.array_equal(np.sort(numbers), every)


def _is_reading(reading: Any) -> bool:
    """Say whether this is what `Reading.chosen` returns."""
    known = {field.name for field in fields(Reading)}
    return isinstance(reading, dict) and all(
        name in known and _is_choice(name, value) for name, value in reading.items()
    )


def _is_choice(name: str, value: Any) -> bool:
    match name:
        case "header":
            return value is False
        case "units":
            return isinstance(value, dict) and _are_texts(chain(*value.items()))
        case "missing_values":
            return isinstance(value, list) and _are_texts(value)
    return isinstance(value, str)


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


@contextmanager
def damaged_model_errors(path: Path, model: Model) -> Iterator[None]:
    """Report a model as damaged if its parts, each of a trusted type, do not fit together."""
    try:
        yield
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError) as error:
        raise _damaged(path, error) from error
    except ValueError as error:
        # Most are about the new rows, and made for users. A damaged model labels no row at all, or
        # no row of the form that these have, in words of SciPy.
        if _is_for_users(error) and _labels_any(model):
            raise
        raise _damaged(path, error) from error


def _is_for_users(error: Exception) -> bool:
    """Whether an error was raised by the package, or by scikit-learn for it."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return str(frame.f_globals.get("__name__")).partition(".")[0] in ("kernelmeans", "sklearn")


def _damaged(path: Path, error: Exception) -> BadInputError:
    return BadInputError(f"{path}: the model is damaged ({type(error).__name__}); fit it again")


@np.errstate(all="ignore")
def _labels_any(model: Model) -> bool:
    """Whether a model labels a row of ones or of zeros."""
    prepare, estimator = model.pipeline[0], model.pipeline[-1]
    steps = estimator if isinstance(prepare, TableTransformer) else model.pipeline
    for value in (1, 0):
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = np.full((1, estimator.n_features_in_), value, model.dtype)
            steps.predict(row)
            steps.transform(row)  # distances need more than labels do
            return True
    return False
