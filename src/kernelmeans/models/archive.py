"""The content that a model file may have, checked before anything is unpacked and after."""

import functools
import inspect
import io
import json
import math
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import scipy.sparse

from kernelmeans._errors import InputError
from kernelmeans._memory import cached_property
from kernelmeans._text import listed
from kernelmeans.tables import TableTransformer
from kernelmeans.tables.files.archives import array_header, check_size, check_sparse, open_archive

#: Types that a model file may hold, beside numbers, text, lists, dicts, NumPy arrays, and
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
    "kernelmeans.estimators.tree.ClusterTree",
    "kernelmeans.estimators.views.View",
    "kernelmeans.heat.anchors.AnchorFeatures",
    "kernelmeans.heat.extension.Extension",
    "kernelmeans.heat.given.DistancesKernel",
    "kernelmeans.heat.given.EdgeRows",
    "kernelmeans.heat.given.GraphKernel",
    "kernelmeans.heat.kernel.Extension",  # of older files
    "kernelmeans.heat.kernel.HeatKernel",
    "kernelmeans.heat.neighbors.NearestRows",
    "kernelmeans.heat.outliers.Comparison",
    "kernelmeans.heat.outliers.Outliers",
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
#: Most bytes of the schema in a file. That of a model with 20 000 columns has 5 MB.
_SCHEMA_BYTES = 64 * 2**20
_SCHEMA = "schema.json"
#: Kinds of class attributes that an instance must not override.
_METHODS = FunctionType, property, functools.cached_property, cached_property
#: The numbers that may be infinite in a model: the power of hard steps, the critical power of
#: samples that do not vary, and `entropy_weight`.
_INFINITE = {
    **dict.fromkeys(["power_history", "power_history_", "critical_power_"], -math.inf),
    "entropy_weight": math.inf,
}


def check_archive(path: Path, max_bytes: float, file: Path | None = None) -> None:
    """Refuse a file, before unpacking, if it holds foreign types or would unpack to too many bytes.

    Parameters
    ----------
    path : Path
        The file.
    max_bytes : float
        Most bytes to which it may unpack.
    file : Path or None, default=None
        The file itself, if `path` is only its name in messages.

    Raises
    ------
    InputError
        If it is too large, or holds a type that no model has.
    ValueError
        If it is damaged.
    """
    with open_archive(path, file or path, max_bytes) as archive:
        members = [name for name in archive.namelist() if name != _SCHEMA]
        sizes = {name: _unpacked_bytes(path, archive, name, max_bytes) for name in members}
        check_size(Path(f"{path}: {_SCHEMA}"), archive.getinfo(_SCHEMA).file_size, _SCHEMA_BYTES)
        schema = _Schema()
        schema.count(json.loads(archive.read(_SCHEMA)))
    check_size(path, sum(sizes[name] for name in schema.files), max_bytes)
    if schema.foreign:
        raise InputError(
            f"{path}: refused, because it holds types that no kernelmeans model has: "
            f"{listed(sorted(schema.foreign))}"
        )


def _unpacked_bytes(path: Path, archive: zipfile.ZipFile, name: str, max_bytes: float) -> int:
    if name.endswith(".npy"):
        return array_header(path, archive, name).nbytes
    if not name.endswith(".npz"):
        raise ValueError(f"it has a member {name!r}, which no model has")
    # In memory, because each jump back in a compressed file unpacks it from the beginning.
    with open_archive(path, io.BytesIO(archive.read(name)), max_bytes) as inner:
        return sum(array_header(path, inner, each).nbytes for each in inner.namelist())


@dataclass
class _Schema:
    """The files and foreign types that ``schema.json`` makes skops load.

    An object in several places must be written in full in each place. Otherwise a few lines could
    stand for more objects than anybody has time to check.
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
            if node["__loader__"] == "DictNode":
                # Its keys are names of a table, such as "file", and mean nothing to skops.
                node |= {"content": [*node["content"].values()]}
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
        # A table transformer keeps text. Elsewhere text would be compared with numbers.
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
    # Against None NumPy would compare each number as an object.
    infinite = _INFINITE.get(name, 0)
    if array.dtype.kind == "f" and not (np.isfinite(array) | (array == infinite)).all():
        raise ValueError(f"{name} holds NaN or infinity")


def _check_object(name: str, value: Any) -> None:
    """Refuse attributes that replace a method or property, and sparse matrices that are unsound."""
    for attribute in vars(value):
        replaced = inspect.getattr_static(type(value), attribute, None)
        if isinstance(replaced, _METHODS):
            raise ValueError(f"{name} has a {attribute} of its own")
    if scipy.sparse.issparse(value):
        if value.format != "csr":
            raise ValueError(f"{name} is no CSR matrix")
        check_sparse(value)
