"""Whether a model file is sound: its sizes before it is unpacked, its numbers afterwards."""

import inspect
import io
import json
import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import scipy.sparse

from kernelmeans.cli.archive import array_header, check_sparse, opened, refuse_beyond

#: Bytes of the file's plan; that of a model of 20 000 columns has 5 MB.
_SCHEMA_BYTES = 64 * 2**20
_SCHEMA = "schema.json"
#: All that may be infinite in a model: hard steps have the power -inf, and a penalty may be inf.
_INFINITE = {"power_history": -math.inf, "power_history_": -math.inf, "entropy_weight": math.inf}


def check_archive(path: Path, most: float) -> None:
    """Refuse a model file that would unpack to too much, or to the same thing again and again.

    Parameters
    ----------
    path : Path
        The file.
    most : float
        Bytes that it may unpack to.

    Raises
    ------
    BadInputError
        If it is too large.
    ValueError
        If it is damaged.
    """
    with opened(path, path, most) as archive:
        sizes = {}
        for name in archive.namelist():
            if name.endswith(".npy"):
                sizes[name] = array_header(path, archive, name).nbytes
            elif name.endswith(".npz"):
                # In memory: each jump in a packed file unpacks it from its beginning again.
                with opened(path, io.BytesIO(archive.read(name)), most) as inner:
                    headers = [array_header(path, inner, each) for each in inner.namelist()]
                sizes[name] = sum(header.nbytes for header in headers)
            elif name != _SCHEMA:
                raise ValueError(f"it has a member {name!r}, which no model has")
        refuse_beyond(Path(f"{path}: {_SCHEMA}"), archive.getinfo(_SCHEMA).file_size, _SCHEMA_BYTES)
        plan = _Plan()
        plan.count(json.loads(archive.read(_SCHEMA)))
    refuse_beyond(path, sum(sizes[name] for name in plan.files), most)


@dataclass
class _Plan:
    """What a plan, ``schema.json``, makes skops do.

    An object in several places is written in full in each. Were it not, a few lines could stand
    for more objects than there is time to look at.
    """

    files: list[str] = field(default_factory=list)
    _sizes: dict[Any, int] = field(default_factory=dict)

    def count(self, node: Any) -> int:
        """Objects in a part of the plan; files that are read are noted."""
        if isinstance(node, list):
            return sum(map(self.count, node))
        if not isinstance(node, dict):
            return 0
        size = 1 + sum(map(self.count, node.values()))
        identity = node.get("__id__")
        if identity is None or identity not in self._sizes:
            self.files += [node["file"]] if "file" in node else []
        if identity is not None and self._sizes.setdefault(identity, size) != size:
            raise ValueError("an object is written in two ways")
        return size


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
        if scipy.sparse.issparse(value):
            _check_csr(name, value)
        if isinstance(value, np.ndarray | np.generic | float):
            _check_array(name, np.asarray(value))
        elif isinstance(value, dict):
            waiting.extend((str(key), part) for key, part in value.items())
        elif isinstance(value, list | tuple | set | frozenset):
            waiting.extend((name, part) for part in value)
        elif hasattr(value, "__dict__") and not isinstance(value, type):
            _check_attributes(name, value)
            waiting.extend(vars(value).items())


def _check_attributes(name: str, value: Any) -> None:
    """Refuse attributes that stand in place of what a class computes, a search tree say."""
    for attribute in vars(value):
        own = inspect.getattr_static(type(value), attribute, None)
        if isinstance(own, FunctionType | property | cached_property):
            raise ValueError(f"{name} has a {attribute} of its own")


def _check_array(name: str, array: np.ndarray[Any, Any]) -> None:
    # Digests are plain bytes.
    if array.dtype.kind not in "fiubUV" or array.dtype.fields:
        raise ValueError(f"{name} holds {array.dtype} values")
    if array.dtype.kind == "f" and not (np.isfinite(array) | (array == _INFINITE.get(name))).all():
        raise ValueError(f"{name} holds NaN or infinity")


def _check_csr(name: str, matrix: Any) -> None:
    """Check a CSR matrix; nothing of it may stand in place of its class's own methods."""
    ordinary = vars(type(matrix)((1, 1))).keys()
    flags = {"_has_sorted_indices", "_has_canonical_format"}
    if matrix.format != "csr" or not vars(matrix).keys() <= ordinary | flags:
        raise ValueError(f"{name} is no ordinary CSR matrix")
    parts = (matrix.data, matrix.indices, matrix.indptr)
    if not all(type(part) is np.ndarray and part.ndim == 1 for part in parts):
        raise ValueError(f"{name} has parts that are no arrays")
    if not all(type(count) is int for count in matrix.shape):
        raise ValueError(f"{name} has a shape of something else than whole numbers")
    check_sparse(matrix)
