"""Matrices of annotated data (.h5ad), for example cells by genes, and annotations of their rows."""

from numbers import Number
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.sparse

from kernelmeans._arrays import canonical
from kernelmeans._errors import InputError
from kernelmeans._text import listed
from kernelmeans._warnings import warn_user
from kernelmeans.rows import Rows
from kernelmeans.tables.files.archives import check_size, check_sparse, damaged_errors
from kernelmeans.tables.files.headings import column_names

_GROUPS = ("layers", "obsm", "obsp")
#: The column of the names of the rows.
_ROW_NAMES = "obs_names"
#: Bytes that each row or column takes for its name.
_NAME_BYTES = 100


def read_annotated(path: Path, take: str | None, max_bytes: float) -> tuple[Any, ...]:
    """Read a matrix of a file, and the annotations of its rows.

    Parameters
    ----------
    path : Path
        The file.
    take : str or None
        X, or a group and a name, as in obsm:X_pca. None is X.
    max_bytes : float
        Bytes that they may take.

    Returns
    -------
    array : ndarray or CSR matrix of shape (n_rows, n_columns)
        Real numbers. All indices of a sparse matrix are checked.
    columns : list of str or None
        The names of the columns. Those of obsp are the names of the rows; arrays of obsm have none.
    annotations : mapping of str to ndarray of shape (n_rows,)
        The columns of ``obs``, and the names of the rows as ``obs_names``, unless a column has the
        same name.
    categories : list of str
        Which of the annotations are categories by their type, whatever their values.
    row_names : str or None
        The annotation that names the rows.
    """
    is_damaged = damaged_errors(f"{path}: is no annotated data, or is damaged")
    with h5py.File(path, "r") as file, is_damaged:
        return _read(path, file, take, max_bytes)


def _read(path: Path, file: Any, take: str | None, max_bytes: float) -> tuple[Any, ...]:
    from anndata.io import read_elem

    _check_links(path, file)
    key = _key(path, file, take)
    check_size(path, sum(map(_nbytes, (file[key], file["obs"], file["var"]))), max_bytes)
    check_size(path, _NAME_BYTES * max(_length(file["obs"]), _length(file["var"])), max_bytes)
    matrix, obs, columns = read_elem(file[key]), read_elem(file["obs"]), None
    if hasattr(matrix, "columns"):
        matrix, columns = matrix.to_numpy(), column_names(map(str, matrix.columns))
    elif not key.startswith("obsm"):  # the columns of obsp stand for the rows
        index = obs.index if key.startswith("obsp") else read_elem(file["var"]).index
        columns = column_names(map(str, index))
    Rows(matrix, f"{path}: {key}")  # refuses anything but a matrix of real numbers
    if matrix.shape != (len(obs), len(columns or range(matrix.shape[1]))):
        raise ValueError(f"{key} has shape {matrix.shape}, which does not fit to obs and var")
    if scipy.sparse.issparse(matrix):
        check_sparse(matrix)
        matrix = canonical(matrix)
    annotations = {str(name): _values(obs[name]) for name in obs.columns}
    annotations |= {_ROW_NAMES: _values(obs.index)}
    features = set(columns or map(str, range(matrix.shape[1])))
    kept = {name: values for name, values in annotations.items() if name not in features}
    categories = [name for name in kept if str(getattr(obs.get(name), "dtype", "")) == "category"]
    return matrix, columns, kept, categories, _ROW_NAMES if _ROW_NAMES in kept else None


def _values(column: Any) -> Any:
    """The values of an annotation; of objects, a missing one is None."""
    values = np.array(column)
    if values.dtype.hasobject:
        values[column.isna()] = None
        if not all(isinstance(one, str | Number | None) for one in values):
            raise ValueError(f"the annotation {column.name!r} holds neither text nor numbers")
    return values


def _check_links(path: Path, file: Any) -> None:
    """Refuse parts that may lie in other files."""

    def linked(name: str, link: Any) -> str | None:
        return None if isinstance(link, h5py.HardLink) else name

    def outside(name: str, part: Any) -> str | None:
        return name if getattr(part, "external", None) or getattr(part, "is_virtual", 0) else None

    # An error within these visits would be lost.
    for name in (file.visititems_links(linked), file.visititems(outside)):
        if name is not None:
            raise InputError(f"{path}: its part {name!r} leads to another place: copy it there")


def _key(path: Path, file: Any, take: str | None) -> str:
    """The place of a matrix in the file."""
    found = ["X"] * ("X" in file)
    # A dataset in the place of a group would be read row by row.
    groups = [group for group in _GROUPS if isinstance(file.get(group), h5py.Group)]
    found += [f"{group}:{name}" for group in groups for name in file[group]]
    if take is None and "X" in found:
        if len(found) > 1:
            components = "; cells are usually clustered by --take obsm:X_pca"
            warn_user(
                f"{path}: X is read; --take names another of its matrices: {listed(found[1:])}"
                + components * ("obsm:X_pca" in found)
            )
        return "X"
    if take not in found:
        own = "has no X, and --take names no other matrix"
        wrong = own if take is None else f"--take names {take!r}, which it does not have"
        raise InputError(f"{path}: {wrong}; its matrices are {listed(found)}")
    return take.replace(":", "/", 1)


def _length(annotations: Any) -> int:
    """The length of annotations, before they are read: a small file may promise very many."""
    parts = [part for part in annotations.values() if isinstance(part, h5py.Dataset)]
    for part in parts:
        if len(part.shape or ()) > 1:
            raise ValueError(f"{part.name} has shape {part.shape}, and not one value for each row")
    return max((part.size or 0 for part in parts), default=0)


def _nbytes(part: Any) -> float:
    """Bytes of the arrays in a part of a file."""
    if isinstance(part, h5py.Dataset):
        return float(part.size or 0) * int(part.dtype.itemsize)
    return float(sum(map(_nbytes, part.values())))
