"""Reports of small models of every kind."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris, make_blobs, make_moons
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from data import short_searches
from kernelmeans import (
    ClusterReport,
    ClusterSearch,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
)

#: What a name must not do to a page.
NASTY = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "</style></svg>&amp;{{}}",
    "\u202eright to left, and \u05d0\u05d1\u05d2",
    "einkommen_\u20ac_\u00fc\u4e2d\U0001f600",
    "one very long name " * 300,
    "unbroken" * 40,
    "half a pair \ud83d, a null \x00 and\na line",
)


def iris():
    d = load_iris(as_frame=True)
    model = make_pipeline(StandardScaler(), KernelPowerKMeans(3, random_state=0)).fit(d.data)
    given = {"labels_true": d.target_names[d.target], "names": ["first", "second", "third"]}
    return ClusterReport(model, d.data, rows=True, **given)


def digits():
    X, y = load_digits(return_X_y=True)
    return ClusterReport(KernelPowerKMeans(10, random_state=0).fit(X), X, labels_true=y)


def moons():
    X, _ = make_moons(600, noise=0.06, random_state=0)
    return ClusterReport(KernelPowerKMeans(2, random_state=0).fit(X), X)


def twenty():
    X, _ = make_blobs(3000, centers=20, n_features=5, random_state=3)
    return ClusterReport(KernelPowerKMeans(20, kernel="rbf", random_state=0).fit(X), X)


def views():
    X = load_iris().data
    kernels = [("heat", [0, 1]), ("rbf", [2, 3]), ("cosine", [0, 1, 2, 3])]
    model = MultiKernelPowerKMeans(3, kernels=kernels, random_state=0).fit(X)
    return ClusterReport(model, X, kernel_names=["sepals", "petals", "both"])


def graph():
    X, _ = make_blobs(300, centers=4, random_state=1)
    edges = kneighbors_graph(X, 12)
    edges = edges + edges.T
    return ClusterReport(
        KernelPowerKMeans(4, kernel="graph", random_state=0).fit(edges), edges, table=X
    )


def search():
    X, y = make_blobs(150, centers=[[0, 0], [5, 0], [0, 5]], random_state=0)
    grid = {"n_clusters": [2, 3, 4], "kernel": ["heat", "rbf"]}
    with short_searches():
        found = ClusterSearch(KernelPowerKMeans(), grid, n_splits=4, random_state=0).fit(X)
    return ClusterReport(found, X, labels_true=y)


def nasty():
    """Fifty clusters of 500 columns, and names of all kinds everywhere."""
    X, y = make_blobs(1500, centers=50, n_features=500, random_state=0)
    names = [*NASTY, *map(str, range(500 - len(NASTY)))]
    frame = pd.DataFrame(X, columns=pd.Index(names, dtype=object))
    frame[NASTY[0]] = pd.Categorical.from_codes(y % len(NASTY), pd.Index(NASTY, dtype=object))
    rows = ClusterReport(
        KernelPowerKMeans(50, kernel="linear", random_state=0).fit(X),
        X,
        table=frame,
        labels_true=np.array(NASTY, dtype=object)[y % len(NASTY)].tolist(),
        names=[NASTY[place % len(NASTY)] for place in range(50)],
        title=NASTY[0],
        rows=True,
        commands=NASTY,
    )
    return rows


def texts():
    """An embedding with texts of all kinds, and a category beside it."""
    X, y = make_blobs(300, centers=3, n_features=60, random_state=0)
    frame = pd.DataFrame(X, columns=[f"e{place}" for place in range(60)])
    topics = "goal \u7403\u961f", "orbit pneumonoultramicroscopicsilicovolcanoconiosis", "bond <b>"
    said = [f"{topics[one]} {row} {NASTY[row % len(NASTY)]}" for row, one in enumerate(y)]
    # Other strings of pandas hold no half of a pair.
    frame["text"] = pd.Series(said, dtype=object)
    frame["plan"] = np.array(["basic", "plus", "pro"])[y]
    model = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(X)
    return ClusterReport(model, X, table=frame, rows=True)


CASES = {
    one.__name__: one for one in (iris, digits, moons, twenty, views, graph, search, nasty, texts)
}


@pytest.fixture(scope="session")
def reports():
    """A report by name, made once."""
    made = {}

    def report(name):
        if name not in made:
            made[name] = CASES[name]()
        return made[name]

    return report


@pytest.fixture(params=CASES)
def report(request, reports):
    return reports(request.param)
