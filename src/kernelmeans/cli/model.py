"""The model file: what ``fit`` writes and ``predict`` reads.

It is a skops archive of plain values, arrays and the classes in `TRUSTED_TYPES`. Loading one runs
no code from the file and never unpickles, and nothing is unpacked that is too large or that no
model has: a model is safe to load from strangers.
"""

import inspect
import io
import json
import math
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse
import skops.io
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import kernelmeans
from kernelmeans._text import shortened
from kernelmeans.cli.archives import array_header, check_sparse, opened, refuse_beyond
from kernelmeans.cli.errors import BadInputError
from kernelmeans.spaces import Predictor, ProductPredictor

#: All that a model file may hold beside numbers, text, lists, dicts, NumPy arrays, and
#: scikit-learn's `Pipeline` and `StandardScaler`.
TRUSTED_TYPES = (
    "kernelmeans.estimators.inputs.Graph",
    "kernelmeans.estimators.inputs.Input",
    "kernelmeans.estimators.inputs.KernelMatrix",
    "kernelmeans.estimators.inputs.TrainingDiagonal",
    "kernelmeans.estimators.multi.MultiKernelPowerKMeans",
    "kernelmeans.estimators.several.KernelMatrices",
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
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
)
_SKLEARN = ("sklearn.pipeline.Pipeline", "sklearn.preprocessing._data.StandardScaler")
#: What skops may make of the parts of a file. It trusts more, functions and all of scikit-learn.
_LOADERS = re.compile("(Dict|Json|List|NdArray|Object|Slice|SparseMatrix|Tuple|Type)Node")
#: Bytes of the file's plan; that of a model of 20 000 columns has 5 MB.
_PLAN_BYTES = 64 * 2**20
_PLAN = "schema.json"
#: All that may be infinite in a model: hard steps have the power -inf, and a penalty may be inf.
_INFINITE = {"power_history": -math.inf, "power_history_": -math.inf, "entropy_weight": math.inf}
_FORMAT = 1


@dataclass(frozen=True)
class Model:
    """A fitted pipeline and what its input has to look like.

    Parameters
    ----------
    pipeline : Pipeline
        Scaling, if any, and the fitted estimator.
    columns : list of str
        The feature columns, in the order of the fit.
    dtype : str
        The precision of the fit.
    """

    pipeline: Pipeline
    columns: list[str]
    dtype: str

    def write(self, file: BinaryIO) -> None:
        """Write the model file."""
        content = {"format": _FORMAT, "version": kernelmeans.__version__, **vars(self)}
        skops.io.dump(content, file, compression=zipfile.ZIP_DEFLATED, compresslevel=1)


def load_model(path: Path, most: float = math.inf) -> Model:
    """Read a model file, refusing whatever is not one or holds a foreign type.

    Parameters
    ----------
    path : Path
        A file written by ``kernelmeans fit``.
    most : float
        Bytes that it may unpack to.

    Returns
    -------
    Model
        The model, ready to predict.
    """
    try:
        check_archive(path, most)
        content = skops.io.load(path, trusted=list(TRUSTED_TYPES))
        check_content(content)
        return _as_model(path, content)
    except (BadInputError, MemoryError):
        raise
    except Exception as error:  # a damaged archive can fail in any way
        raise BadInputError(
            f"{path}: is not a model file written by kernelmeans fit, or is damaged "
            f"({shortened(str(error), 200) or type(error).__name__})"
        ) from error


def check_archive(path: Path, most: float) -> None:
    """Refuse a file of foreign types, or that would unpack to too much, before unpacking it.

    Parameters
    ----------
    path : Path
        The file.
    most : float
        Bytes that it may unpack to.

    Raises
    ------
    BadInputError
        If it is too large, or holds a type that no model has.
    ValueError
        If it is damaged.
    """
    with opened(path, path, most) as archive:
        members = [name for name in archive.namelist() if name != _PLAN]
        sizes = {name: _unpacked_bytes(path, archive, name, most) for name in members}
        refuse_beyond(Path(f"{path}: {_PLAN}"), archive.getinfo(_PLAN).file_size, _PLAN_BYTES)
        plan = _Plan()
        plan.count(json.loads(archive.read(_PLAN)))
    refuse_beyond(path, sum(sizes[name] for name in plan.files), most)
    if plan.foreign:
        raise BadInputError(
            f"{path}: refused, for it holds types that no kernelmeans model has: "
            f"{', '.join(sorted(plan.foreign))}"
        )


def _unpacked_bytes(path: Path, archive: zipfile.ZipFile, name: str, most: float) -> int:
    if name.endswith(".npy"):
        return array_header(path, archive, name).nbytes
    if not name.endswith(".npz"):
        raise ValueError(f"it has a member {name!r}, which no model has")
    # In memory: each jump in a packed file unpacks it from its beginning again.
    with opened(path, io.BytesIO(archive.read(name)), most) as inner:
        return sum(array_header(path, inner, each).nbytes for each in inner.namelist())


@dataclass
class _Plan:
    """What a plan, ``schema.json``, makes skops do.

    An object in several places is written in full in each. Were it not, a few lines could stand
    for more objects than there is time to look at.
    """

    files: list[str] = field(default_factory=list)
    foreign: set[str] = field(default_factory=set)
    _sizes: dict[Any, int] = field(default_factory=dict)

    def count(self, node: Any) -> int:
        """Objects in a part of the plan; the files and foreign types in it are noted."""
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
        # The parts of a sparse matrix are checked only where its own file is read.
        sparse = (loader == "SparseMatrixNode") == name.startswith("scipy.")
        known = loader != "ObjectNode" or name in TRUSTED_TYPES + _SKLEARN
        if not (sparse and known and _LOADERS.fullmatch(loader)):
            self.foreign.add(name)


def check_content(content: Any) -> None:
    """Refuse numbers that no model has.

    Parameters
    ----------
    content : object
        What was unpacked.

    Raises
    ------
    ValueError
        If there is NaN or infinity, an attribute in place of a method or property, an array of
        something else than numbers, text and bytes, or a sparse matrix with an index outside of it.
    """
    seen: dict[tuple[int, float | None], Any] = {}
    waiting: list[tuple[str, Any]] = [("model", content)]
    while waiting:
        name, value = waiting.pop()
        key = id(value), _INFINITE.get(name)
        if key in seen:
            continue
        seen[key] = value  # held, so that no other object gets its id
        if isinstance(value, np.ndarray | np.generic | float):
            _check_array(name, np.asarray(value))
        elif isinstance(value, dict):
            waiting.extend((str(key), part) for key, part in value.items())
        elif isinstance(value, list | tuple | set | frozenset):
            waiting.extend((name, part) for part in value)
        elif hasattr(value, "__dict__") and not isinstance(value, type):
            _check_object(name, value)
            waiting.extend(vars(value).items())


def _check_array(name: str, array: np.ndarray[Any, Any]) -> None:
    # Digests are plain bytes.
    if array.dtype.kind not in "fiubUV" or array.dtype.fields:
        raise ValueError(f"{name} holds {array.dtype} values")
    if array.dtype.kind == "f" and not (np.isfinite(array) | (array == _INFINITE.get(name))).all():
        raise ValueError(f"{name} holds NaN or infinity")


def _check_object(name: str, value: Any) -> None:
    """Refuse attributes in place of what a class computes, a search tree say; check indices."""
    for attribute in vars(value):
        own = inspect.getattr_static(type(value), attribute, None)
        if isinstance(own, FunctionType | property | cached_property):
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
    parts: dict[str, Any] = {own.name: content.get(own.name) for own in fields(Model)}
    if _well_formed(model := Model(**parts)):
        return model
    raise BadInputError(f"{path}: the model is incomplete; fit it again")


def _well_formed(model: Model) -> bool:
    """Say whether the parts of a model are what `fit` makes."""
    if not isinstance(model.pipeline, Pipeline):
        return False
    *scalers, estimator = [step for _, step in model.pipeline.steps]
    several = isinstance(estimator, kernelmeans.MultiKernelPowerKMeans)
    single = isinstance(estimator, kernelmeans.KernelKMeans | kernelmeans.KernelPowerKMeans)
    predictor, labels = (getattr(estimator, name, None) for name in ("_predictor", "labels_"))
    return (
        all(isinstance(step, StandardScaler) for step in scalers)
        and (single or several)
        and isinstance(predictor, Predictor)
        and isinstance(predictor, ProductPredictor) == several
        and isinstance(labels, np.ndarray)
        and type(estimator.n_clusters) is int
        and 0 < estimator.n_clusters <= labels.size
        and isinstance(model.columns, list)
        and all(isinstance(name, str) for name in model.columns)
        and model.dtype in ("float32", "float64")
    )


@contextmanager
def damaged_model_errors(path: Path) -> Iterator[None]:
    """Say that a model is damaged when its parts, each of a trusted type, do not fit together."""
    try:
        yield
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError) as error:
        raise BadInputError(
            f"{path}: the model is damaged ({type(error).__name__}); fit it again"
        ) from error
