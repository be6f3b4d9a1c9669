"""Model files: Python or ``kernelmeans fit`` writes them, Python or ``predict`` opens them."""

import math
from pathlib import Path
from typing import Any

from kernelmeans.models.content import opened, refusal, skops
from kernelmeans.models.model import Model

__all__ = ["load_model", "save_model"]


def save_model(model: Any, path: str | Path) -> None:
    """Write a fitted model to a file, for `load_model` and for ``kernelmeans predict``.

    The file is a skops archive. Opening it runs no code from it. Both need the extra ``skops``.

    Parameters
    ----------
    model : Model, estimator, Pipeline or ClusterSearch
        A fitted `KernelPowerKMeans`, `KernelKMeans` or `MultiKernelPowerKMeans`; a pipeline that
        ends with one and has `kernelmeans.tables.TableTransformer` or
        `sklearn.preprocessing.StandardScaler` before it; a search over these; or a
        `kernelmeans.models.Model`. Only a `Model` with the rows of the fit, as from
        ``Model.of(model, X)``, knows which rows are far.
    path : str or Path
        The file. It replaces one of the same name. By convention names end in ``.model.skops``.

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
    >>> bool((again.pipeline.predict([[4.0]]) == model.predict([[4.0]])).all())
    True
    """
    skops()
    try:
        content = model if isinstance(model, Model) else Model.of(model)
    except TypeError as error:
        raise refusal(model, error) from error
    content.save(path)


def load_model(path: str | Path, max_bytes: float = math.inf) -> Model:
    """Open a model file, and refuse any other file. No code from the file is run.

    Parameters
    ----------
    path : str or Path
        A file that `save_model` or ``kernelmeans fit`` wrote.
    max_bytes : float, default=inf
        Most bytes to which it may unpack. Larger files are refused before unpacking.

    Returns
    -------
    Model
        Its ``pipeline`` is ready to predict, and its method ``label`` says more of new rows.

    Raises
    ------
    ValueError
        If the file is damaged, or holds something that no model has.
    FileNotFoundError
        If there is no such file.
    """
    skops()
    # A file that is missing or cannot be opened raises the usual OSError.
    with open(path, "rb"):
        pass
    return opened(Model, Path(path), Path(path), max_bytes)
