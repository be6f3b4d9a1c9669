"""The model file: what ``fit`` writes and ``predict`` reads.

It is a skops archive of plain values, arrays and the classes in `TRUSTED_TYPES`. Loading one
runs no code from the file and never unpickles; a file that holds any other type is refused,
so a model is safe to load from strangers. `kernelmeans.cli.sound` refuses what is too large, and
numbers that no model has.
"""

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import skops.io
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import kernelmeans
from kernelmeans._text import shortened
from kernelmeans.cli.errors import BadInputError
from kernelmeans.cli.sound import check_archive, check_content
from kernelmeans.spaces import Predictor, ProductPredictor

#: All that a model file may hold beside numbers, text, lists, dicts, NumPy arrays and
#: scikit-learn's own estimators, which skops trusts by itself.
TRUSTED_TYPES = (
    "kernelmeans.estimators.diagonal.TrainingDiagonal",
    "kernelmeans.estimators.multi.MultiKernelPowerKMeans",
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
    "kernelmeans.spaces.gram.Origin",
    "kernelmeans.spaces.product.ProductPredictor",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
)

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
        content = {
            "format": _FORMAT,
            "version": kernelmeans.__version__,
            "columns": self.columns,
            "dtype": self.dtype,
            "pipeline": self.pipeline,
        }
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
        foreign = set(skops.io.get_untrusted_types(file=path)) - set(TRUSTED_TYPES)
        if foreign:
            raise BadInputError(
                f"{path}: refused, for it holds types that no kernelmeans model has: "
                f"{', '.join(sorted(foreign))}"
            )
        content = skops.io.load(path, trusted=list(TRUSTED_TYPES))
        model = _checked(path, content)
        check_content(content)
    except (BadInputError, MemoryError):
        raise
    except Exception as error:  # a damaged archive can fail in any way
        raise BadInputError(
            f"{path}: is not a model file written by kernelmeans fit, or is damaged "
            f"({shortened(str(error), 200) or type(error).__name__})"
        ) from error
    return model


def _checked(path: Path, content: Any) -> Model:
    """Turn the content of a file into a model if it has the form of one."""
    if not isinstance(content, dict) or "format" not in content:
        raise BadInputError(f"{path}: a skops file, but not a model written by kernelmeans fit")
    if content["format"] != _FORMAT:
        raise BadInputError(
            f"{path}: written by kernelmeans {content.get('version')} in format "
            f"{content['format']}, but {kernelmeans.__version__} reads format {_FORMAT}: "
            "install that version, or fit again"
        )
    if {"pipeline", "columns", "dtype"} <= content.keys():
        model = Model(content["pipeline"], content["columns"], content["dtype"])
        if _well_formed(model):
            return model
    raise BadInputError(f"{path}: the model is incomplete; fit it again")


def _well_formed(model: Model) -> bool:
    """Say whether the parts of a model are what `fit` makes: skops trusts other estimators too."""
    return (
        isinstance(model.pipeline, Pipeline)
        and all(isinstance(step, StandardScaler) for _, step in model.pipeline.steps[:-1])
        and _predicts(model.pipeline[-1])
        and _counts_clusters(model.pipeline[-1])
        and isinstance(model.columns, list)
        and all(isinstance(name, str) for name in model.columns)
        and model.dtype in ("float32", "float64")
    )


def _counts_clusters(estimator: Any) -> bool:
    """Say whether the number of clusters is one that the training labels can have."""
    clusters = getattr(estimator, "n_clusters", None)
    labels = getattr(estimator, "labels_", None)
    return type(clusters) is int and isinstance(labels, np.ndarray) and 0 < clusters <= labels.size


def _predicts(estimator: Any) -> bool:
    """Say whether an estimator is one of ours, with a predictor of its kind."""
    predictor = getattr(estimator, "_predictor", None)
    if isinstance(estimator, kernelmeans.MultiKernelPowerKMeans):
        return isinstance(predictor, ProductPredictor)
    return (
        isinstance(estimator, kernelmeans.KernelKMeans | kernelmeans.KernelPowerKMeans)
        and isinstance(predictor, Predictor)
        and not isinstance(predictor, ProductPredictor)
    )


@contextmanager
def damaged_model_errors(path: Path) -> Iterator[None]:
    """Say that a model is damaged when its parts, each of a trusted type, do not fit together."""
    try:
        yield
    except (
        ArithmeticError,
        AssertionError,
        AttributeError,
        IndexError,
        KeyError,
        TypeError,
        NotFittedError,
    ) as error:
        raise BadInputError(
            f"{path}: the model is damaged ({type(error).__name__}); fit it again"
        ) from error
