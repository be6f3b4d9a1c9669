"""Model files in Python: written by one program, opened by another or by the command line."""

import copy
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernelmeans._errors import InputError
from kernelmeans._files import write_files
from kernelmeans.tables import TableTransformer

__all__ = ["load_model", "save_model"]


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted model to a file, for `load_model` and for ``kernelmeans predict``.

    The file is a skops archive: opening it runs no code from it. It needs the extra ``skops``.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted `KernelPowerKMeans`, `KernelKMeans` or `MultiKernelPowerKMeans`; or a pipeline of
        one and of `kernelmeans.tables.TableTransformer` or
        `sklearn.preprocessing.StandardScaler` before it. Of a search it is ``best_estimator_``.
    path : str or Path
        The file. One of this name is replaced. Names end in ``.model.skops``, by convention.

    Raises
    ------
    NotFittedError
        If the model has not been fitted.
    ValueError
        If it holds what no model file may hold: another step, or a function as its kernel.
        Nothing is written then.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from kernelmeans import KernelPowerKMeans, load_model, save_model
    >>> model = KernelPowerKMeans(2, random_state=0).fit([[0.0], [0.1], [5.0], [5.1]])
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/some.model.skops")
    ...     again = load_model(f"{folder}/some.model.skops")
    >>> bool((again.predict([[4.0]]) == model.predict([[4.0]])).all())
    True
    """
    files = _with_skops()
    check_is_fitted(model)
    steps = model.steps if isinstance(model, Pipeline) else [("cluster", model)]
    pipeline = Pipeline([(name, _without_names(step)) for name, step in steps])
    certainty = getattr(steps[-1][1], "certainty_", np.empty(0))
    content = files.Model(pipeline, _columns(steps[0][1]), str(certainty.dtype))

    def write(file: BinaryIO) -> None:
        content.write(file)
        file.flush()
        files.load_model(Path(file.name))

    try:
        write_files({Path(path): write})
    except (InputError, TypeError) as error:
        # The name of the file is a temporary one.
        reason = str(error).split(".tmp: ")[-1]
        raise ValueError(f"model={model!r} cannot be kept in a model file: {reason}") from error


def load_model(path: str | Path) -> Pipeline:
    """Open a model file, and refuse what is none. No code from the file is run.

    Parameters
    ----------
    path : str or Path
        A file that `save_model` or ``kernelmeans fit`` wrote.

    Returns
    -------
    Pipeline
        The preparation of the table, if there is any, and the estimator, ready to predict.

    Raises
    ------
    ValueError
        If the file is damaged, or holds what no model does.
    FileNotFoundError
        If there is none.
    """
    # Missing files, and others that cannot be opened, raise what they always do.
    with open(path, "rb"):
        pass
    model = _with_skops().load_model(Path(path))
    first, named = model.pipeline[0], model.columns != _numbered(len(model.columns))
    if named and not isinstance(first, TableTransformer):
        first.feature_names_in_ = np.array(model.columns, dtype=object)
    return model.pipeline


def _with_skops() -> Any:
    """The module that reads and writes model files."""
    try:
        from kernelmeans.models import model
    except ImportError as error:
        raise ImportError(
            f'{error.name} is needed for model files: pip install "kernelmeans[skops]"'
        ) from error
    return model


def _columns(first: Any) -> list[str]:
    """The columns that new rows need, of the first step of a pipeline."""
    if not hasattr(first, "feature_names_in_"):
        return _numbered(first.n_features_in_)
    if isinstance(first, TableTransformer):
        return [one.name for one in first.columns_ if one.used]
    return [str(name) for name in first.feature_names_in_]


def _numbered(n_columns: int) -> list[str]:
    """What the command line calls the columns of an array."""
    return [str(column) for column in range(n_columns)]


def _without_names(step: Any) -> Any:
    """A copy of a step without what new rows do not need. `Model` holds the names of columns."""
    step = copy.copy(step)
    for name in ("feature_names_in_", "_sklearn_output_config", "_skl_callbacks"):
        vars(step).pop(name, None)
    for name in ("labels_", "distances_", "certainty_"):
        if hasattr(step, name):  # they may lie on a Dask cluster
            setattr(step, name, np.asarray(getattr(step, name)))
    if hasattr(step, "device"):  # the machine that predicts may have none
        step.device = None
    return step
