"""The Python examples of the README and of the guide run."""

import re
from pathlib import Path
from types import SimpleNamespace

import dask.array
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph

from kernelmeans_paper.datasets import is_present

ROOT = Path(__file__).parents[1]


def examples(page):
    text = (ROOT / page).read_text("utf-8")
    return [
        pytest.param(match[1], id=f"{page}:{text.count(chr(10), 0, match.start()) + 1}")
        for match in re.finditer(r"```python\n(.*?)```", text, re.DOTALL)
    ]


EXAMPLES = {page: examples(page) for page in ("README.md", "docs/guide.md")}


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What the examples take for granted; files that they read are in the working directory."""
    monkeypatch.chdir(tmp_path)
    X, _ = make_blobs(240, n_features=500, centers=12, random_state=0)
    np.save("X.npy", X)
    np.save("rows.npy", X)
    edges = kneighbors_graph(X, 15)
    cells = SimpleNamespace(obsp={"connectivities": edges + edges.T}, obsm={"X_pca": X}, obs={})
    columns = ["height", "width", *map(str, range(2, 500))]
    return {
        "X": X,
        "dask_array": dask.array.from_array(X, (120, -1)),
        "X_new": X[:7] + 0.1,
        "Z": X[:7] + 0.1,
        "table": pd.DataFrame(X, columns=columns),
        "adata": cells,
    }


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("source", [*EXAMPLES["README.md"], *EXAMPLES["docs/guide.md"]])
def test_examples_run(source, names):
    if "fetch" in source and not is_present("yale"):
        pytest.skip("Yale has not been fetched")
    # There is no such scheduler: a cluster in this process takes its place.
    source = source.replace('"tcp://scheduler:8786"', "processes=False, dashboard_address=None")
    exec(compile(source, "example", "exec"), names)
    if "client" in names:
        names["client"].close()


@pytest.mark.parametrize("page", EXAMPLES)
def test_examples_are_found(page):
    assert len(EXAMPLES[page]) >= 3
