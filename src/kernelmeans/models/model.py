"""The model file, which ``fit`` writes and ``predict`` reads.

It is a skops archive of plain values, arrays and the classes in `TRUSTED_TYPES`. Loading one runs
no code from the file and never unpickles. Members that are too large, or that no model has, are not
unpacked. So a model is safe to load from strangers.
"""

import math
import traceback
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import kernelmeans
from kernelmeans._errors import InputError
from kernelmeans._text import listed, nearest
from kernelmeans.models._skops import skops
from kernelmeans.models.archive import TRUSTED_TYPES, check_archive, check_content
from kernelmeans.spaces import Predictor, ProductPredictor
from kernelmeans.tables import TableTransformer
from kernelmeans.tables.files import Reading
from kernelmeans.tables.files.archives import damaged_errors

_FORMAT = 1

if TYPE_CHECKING:
    from kernelmeans.tables.files.tables import Table


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

    def columns_in(self, table: "Table") -> list[str]:
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
            raise InputError(
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


def _as_model(path: Path, content: Any) -> Model:
    """Turn the content of a file into a model if it has the form of one."""
    if not isinstance(content, dict) or "format" not in content:
        raise InputError(f"{path}: a skops file, but not a model written by kernelmeans fit")
    if content["format"] != _FORMAT:
        raise InputError(
            f"{path}: written by kernelmeans {content.get('version')} in format "
            f"{content['format']}, but {kernelmeans.__version__} reads format {_FORMAT}: "
            "install that version, or fit again"
        )
    parts: dict[str, Any] = {part.name: content.get(part.name) for part in fields(Model)}
    if _well_formed(model := Model(**parts)):
        if isinstance(model.pipeline[0], TableTransformer):
            model.pipeline[0].take_reading(model.reading or {})
        return model
    raise InputError(f"{path}: the model is incomplete; fit it again")


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
    known = {"units", *(field.name for field in fields(Reading))}
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
    except InputError:
        raise
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


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"{path}: the model is damaged ({type(error).__name__}); fit it again")


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
