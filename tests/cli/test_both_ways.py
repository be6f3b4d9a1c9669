"""A model fitted on the command line labels the same file in Python, and the other way round."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from cli.corpus import FILES, GROUP
from kernelmeans import KernelPowerKMeans, load_model, save_model
from kernelmeans.tables.files import stem_of

pytestmark = [
    pytest.mark.usefixtures("folder"),
    # Of anndata, while it reads or writes.
    pytest.mark.filterwarnings("ignore:The 'future.infer_string'"),
    pytest.mark.filterwarnings("ignore:.*is read as"),
]
PEOPLE = Path(__file__).parents[1] / "models"
OLD = {f"{path.parent.name}-{path.stem}": path for path in PEOPLE.glob("*/*.model.skops")}
FITS = {
    f"{name}-{way}": (file, read)
    for name, file in FILES.items()
    for way, read in enumerate(file.read)
}


def pipeline_in(path: str | Path) -> Any:
    model = load_model(path)
    return getattr(model, "pipeline", model)


def labels_in(path: str) -> list[int | None]:
    return pl.read_csv(path)["label"].to_list()


def assert_labelled_alike(model: Any, table: Any, path: str) -> None:
    """Labels are those in a file, and distances too, which depend on all columns."""
    assert model.predict(table).tolist() == labels_in(path)
    distances = pl.read_csv(path)["distance"].to_numpy()
    np.testing.assert_allclose(model.transform(table).min(axis=1), distances, rtol=1e-5)


def told(parameters: Mapping[str, Any]) -> list[str]:
    """The options of the command line for parameters of a `TableTransformer`."""
    options = []
    for name, value in parameters.items():
        option = f"--{name.replace('_', '-')}"
        options.append(option if value is True else f"{option}={','.join(value)}")
    return options


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_fitted_on_the_command_line_and_used_in_python(run, file):
    file.write(file.name)
    done = run("fit", file.name, "-k", 3, "--kernel", "rbf", *file.options, *told(file.parameters))
    assert done.exit_code == 0, done.output
    stem = stem_of(Path(file.name))
    assert adjusted_rand_score(GROUP, labels_in(f"{stem}.labels.csv")) == 1
    for read in file.read:
        model = pipeline_in(f"{stem}.model.skops")
        assert_labelled_alike(model, read(file.name), f"{stem}.labels.csv")


@pytest.mark.slow
@pytest.mark.parametrize(("file", "read"), FITS.values(), ids=FITS)
def test_fitted_in_python_and_used_on_the_command_line(run, file, read):
    file.write(file.name)
    estimator = KernelPowerKMeans(3, kernel="rbf", random_state=0)
    model = make_pipeline(file.prepare(**file.parameters), estimator).fit(read(file.name))
    assert adjusted_rand_score(GROUP, estimator.labels_) == 1
    save_model(model, "some.model.skops")
    done = run("predict", "some.model.skops", file.name, "--labels", "new.csv", *file.options)
    assert done.exit_code == 0, done.output
    assert_labelled_alike(model, read(file.name), "new.csv")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("read", [pd.read_csv, pl.read_csv])
@pytest.mark.parametrize("path", OLD.values(), ids=OLD)
def test_models_of_earlier_states_label_the_rows_of_their_fits(run, path, read):
    done = run("predict", path, PEOPLE / "people.csv", "--labels", "labels.csv")
    assert done.exit_code == 0, done.output
    assert set(labels_in("labels.csv")) == {0, 1, 2}
    table = read(PEOPLE / "people.csv")
    model = pipeline_in(path)
    assert model.predict(table).tolist() == labels_in("labels.csv")
    assert type(model[-1]).__name__ in repr(load_model(path))


@pytest.mark.filterwarnings("ignore:X. column 'town'. 1 row with values new to the model")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("read", [pd.read_csv, pl.read_csv])
@pytest.mark.parametrize("path", OLD.values(), ids=OLD)
def test_models_of_earlier_states_label_new_rows(run, path, read):
    done = run("predict", path, PEOPLE / "new_people.csv", "--labels", "labels.csv")
    assert done.exit_code == 0, done.output
    model, table = pipeline_in(path), read(PEOPLE / "new_people.csv")
    first, *labels = labels_in("labels.csv")
    assert first is None
    with pytest.raises(ValueError, match=r"'age' \('old' in row 0\)"):
        model.predict(table[:1])
    assert model.predict(table[1:]).tolist() == labels
