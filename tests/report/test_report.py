import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import dask.array
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

from kernelmeans import (
    ClusterReport,
    ClusterSearch,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
)
from kernelmeans.baselines import MKKM
from kernelmeans.models import Model
from kernelmeans.tables import TableTransformer
from kernelmeans.tables.numerals import number_of

X = load_iris().data
MODEL = KernelPowerKMeans(3, random_state=0).fit(X)


class Reader(HTMLParser):
    """Tags in their order, and texts; refuses tags that do not match."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.open = [], [], []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.slow
def test_pages_are_whole_and_need_nothing_else(report):
    page = report.to_html()
    read = Reader(page)
    tags = [tag for tag, _ in read.tags]
    assert not {"script", "link", "img", "iframe", "object"} & set(tags)
    for tag, attributes in read.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "src"]
        assert attributes.get("href", "#").startswith("#")
        if tag == "svg":
            assert attributes["role"] == "img"
            assert attributes["aria-label"].strip()
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
    assert tags.count("h1") == 1
    assert "url(" not in page
    assert "@import" not in page
    assert len(page.encode()) < 2**20


def test_links_lead_to_sections(report):
    read = Reader(report.to_html())
    places = [attributes["id"] for _, attributes in read.tags if "id" in attributes]
    assert len(places) == len(set(places))
    links = [attributes["href"][1:] for tag, attributes in read.tags if tag == "a"]
    assert links
    assert set(links) <= set(places)


def test_the_dict_is_ready_for_json_and_is_a_copy(report):
    found = report.to_dict()
    again = json.loads(json.dumps(found))
    assert again["clusters"][0]["rows"] == found["clusters"][0]["rows"]
    found["clusters"].clear()
    assert report.to_dict()["clusters"]


def test_sizes_and_agreement_are_those_of_the_labels(reports):
    found = reports("digits").to_dict()
    assert sum(one["rows"] for one in found["clusters"]) == found["rows"] == 1797
    assert found["agreement"]["ari"] > 0.8
    assert "10 clusters" in reports("digits").verdict


def test_a_search_as_the_model_tells_of_stability(reports):
    found = reports("search").to_dict()
    assert found["stability"]["chosen"] in range(len(found["stability"]["candidates"]))
    assert all(one["jaccard"] > 0.75 for one in found["clusters"])
    assert reports("search").verdict.endswith("found again in halves of the rows.")


def test_columns_of_a_table_are_told_and_those_not_used_are_marked(rng):
    group = np.repeat([0, 1], 60)
    days = np.datetime64("2020-01-01") + 300 * group + rng.integers(0, 50, 120)
    table = pd.DataFrame(
        {
            "age": 50.0 * group + rng.uniform(size=120),
            "active": group == 1,
            "since": days,
            "size": [f"{row}.5 ng" for row in range(120)],
        }
    )
    table.loc[3, "age"] = None
    model = make_pipeline(TableTransformer(), KernelPowerKMeans(2, kernel="linear", random_state=0))
    report = ClusterReport(model.fit(table), table)
    found, page = report.to_dict(), report.to_html()
    assert found["columns"]["used"] == ["age", "active"]
    assert found["columns"]["lines"]["columns used"] == ["1 number: age", "1 yes or no: active"]
    assert any("since: date" in one for one in found["columns"]["lines"]["left out"])
    assert found["columns"]["lines"]["missing values"] == [
        "age 1 (1 %): are filled from similar rows"
    ]
    profile = {one["column"]: one for one in found["clusters"][0]["profile"]}
    assert [profile[name]["used"] for name in ("age", "active", "since")] == [True, True, False]
    assert profile["active"]["value"] in ("yes", "no")
    assert page.count("not used</small>") == 2
    # A reason that names a value is one of a single row.
    assert ".5 ng" not in page
    assert ".5 ng" in ClusterReport(model, table, rows=True).to_html()


def test_kernels_are_named_and_weighed(reports):
    found = reports("views").to_dict()
    assert [one["name"] for one in found["fit"]["kernels"]] == ["sepals", "petals", "both"]
    assert sum(one["weight"] for one in found["fit"]["kernels"]) == pytest.approx(1)


def test_the_fit_is_that_of_the_model(reports):
    fit = ClusterReport(MODEL, X).to_dict()["fit"]
    graph = {"n_neighbors": MODEL.n_neighbors_, "density": MODEL.density_, "t": MODEL.t_}
    assert fit["graph"] == graph | {"pieces": MODEL.n_pieces_}
    assert (fit["cost"], fit["steps"]) == (MODEL.inertia_, MODEL.n_iter_)
    assert (fit["kernel"], fit["approximation"]["kind"]) == ("heat", MODEL.approximation_)
    given = reports("graph").to_dict()["fit"]["graph"]
    assert given["n_neighbors"] is given["density"] is None
    assert "gamma" not in fit


def test_the_same_seed_makes_the_same_page(rng):
    rows = np.concatenate([rng.standard_normal((2500, 2)), 5 + rng.standard_normal((2500, 2))])
    model = KernelPowerKMeans(2, kernel="linear", random_state=0).fit(rows)
    pages = [ClusterReport(model, rows, random_state=seed).to_html() for seed in (0, 0, 1)]
    assert pages[0] == pages[1] != pages[2]


def test_a_page_can_be_written_and_shown_in_a_notebook(tmp_path):
    report = ClusterReport(MODEL, X)
    path = tmp_path / "iris.html"
    path.write_text("an older one")
    report.write_html(path)
    assert path.read_text("utf-8") == report.to_html()
    assert list(tmp_path.iterdir()) == [path]
    ((tag, attributes),) = Reader(report._repr_html_()).tags
    assert tag == "iframe"
    assert attributes["srcdoc"] == report.to_html()
    assert report.verdict in repr(report)


def test_a_page_that_cannot_be_written_leaves_no_file(tmp_path):
    with pytest.raises(OSError, match="iris"):
        ClusterReport(MODEL, X).write_html(tmp_path / "nowhere" / "iris.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        ClusterReport(MODEL, X).write_html(tmp_path / "folder")
    (tmp_path / "link").symlink_to("elsewhere")
    with pytest.raises(OSError, match=r"it is a link.*link"):
        ClusterReport(MODEL, X).write_html(tmp_path / "link")
    assert {one.name for one in tmp_path.iterdir()} == {"folder", "link"}


def kinds_of_input():
    K = rbf_kernel(X)
    frame = pd.DataFrame(X, columns=list("abcd"))
    one = {"n_clusters": 3, "random_state": 0}
    rbf = KernelPowerKMeans(kernel="rbf", **one)
    yield "list", rbf, X.tolist()
    yield "pandas", rbf, frame
    yield "polars", KernelPowerKMeans(kernel="rbf", **one), pl.DataFrame(frame)
    yield "sparse", KernelPowerKMeans(kernel="rbf", **one), scipy.sparse.csr_array(X)
    yield "float32", KernelPowerKMeans(**one), X.astype(np.float32)
    yield "dask", KernelPowerKMeans(kernel="linear", **one), dask.array.from_array(X, (50, -1))
    yield "precomputed", KernelPowerKMeans(kernel="precomputed", **one), K
    stack = np.array([K, X @ X.T])
    yield "stack", MultiKernelPowerKMeans(kernels="precomputed", **one), stack
    yield "MKKM", MKKM(kernels=["rbf", "linear"], **one), X
    yield "PowerKMeans", PowerKMeans(**one), X
    yield "KernelKMeans", KernelKMeans(**one), X
    yield "one cluster", KernelPowerKMeans(1, kernel="rbf", random_state=0), X


@pytest.mark.parametrize(
    ("model", "rows"), [pytest.param(*given, id=name) for name, *given in kinds_of_input()]
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_of_every_kind_can_be_told_of(model, rows):
    report = ClusterReport(model.fit(rows), rows, rows=True)
    found = report.to_dict()
    assert found["rows"] == 150
    assert sum(one["rows"] for one in found["clusters"]) == 150
    assert found["map"]["rows"] == 150
    assert (found["silhouettes"] is None) == (model.n_clusters == 1)
    Reader(report.to_html())


def test_new_rows_are_told_of_by_their_predicted_labels():
    few = X[::3] + 0.01
    found = ClusterReport(MODEL, few).to_dict()
    sizes = np.bincount(MODEL.predict(few), minlength=3).tolist()
    assert [one["rows"] for one in found["clusters"]] == sizes
    # As many as those of the fit, but others.
    other = X[::-1] + 0.01
    found = ClusterReport(MODEL, other).to_dict()
    sizes = np.bincount(MODEL.predict(other), minlength=3).tolist()
    assert [one["rows"] for one in found["clusters"]] == sizes


@pytest.mark.parametrize(
    ("model", "given", "error", "message"),
    [
        (KernelPowerKMeans(3), {}, NotFittedError, "not fitted"),
        (KMeans(3, random_state=0).fit(X), {}, TypeError, "model=KMeans is no estimator of ker"),
        (Model.of(MODEL), {}, TypeError, "=Model should be .* such as that of a Model"),
        (MODEL, {"names": ["a", "b"]}, ValueError, "names=.* should be a list of 3 names"),
        (MODEL, {"names": "abc"}, ValueError, "names='abc' should be a list of"),
        (MODEL, {"labels_true": [1, 2]}, ValueError, "labels_true has 2 labels for 150 rows"),
        (MODEL, {"table": X[:7]}, ValueError, "table has 7 rows"),
    ],
)
def test_what_cannot_be_told_of_is_refused_in_words(model, given, error, message):
    with pytest.raises(error, match=message):
        ClusterReport(model, X, **given)


def test_other_columns_than_those_of_the_model_are_sent_to_table():
    genes = np.hstack([X, X])
    says = r"X has 8 features, but .* is expecting 4 .* as table=\.$"
    with pytest.raises(ValueError, match=says):
        ClusterReport(MODEL, genes)
    assert ClusterReport(MODEL, X, table=genes).to_dict()["rows"] == 150


def test_as_many_names_as_kernels_are_asked_for():
    model = MultiKernelPowerKMeans(3, kernels=["rbf", "linear"], random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"kernel_names=.*a list of 2 names, one for each kernel"):
        ClusterReport(model, X, kernel_names=["only"]).to_dict()


def test_a_search_that_chose_nothing_is_refused_in_words():
    noise = np.random.default_rng(0).uniform(size=(60, 2))
    search = ClusterSearch(KernelPowerKMeans(kernel="rbf"), {"n_clusters": [5, 6]}, n_splits=2)
    search.set_params(random_state=0, scoring="prediction_strength").fit(noise)
    assert search.best_index_ is None
    with pytest.raises(ValueError, match="chosen no clusters"):
        ClusterReport(search, noise)


@pytest.mark.usefixtures("short_searches")
def test_candidates_of_a_search_that_failed_have_no_scores():
    rows = np.repeat(np.eye(3), 20, axis=0)
    search = ClusterSearch(KernelPowerKMeans(), {"n_clusters": [3, 4]}, n_splits=2, random_state=0)
    with pytest.warns(UserWarning, match="it finds only 3 clusters"):
        search.fit(rows)
    report = ClusterReport(search, rows)
    found = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert [one["stability"] for one in found["stability"]["candidates"]] == [1, None]
    assert "nan" not in Reader(report.to_html()).texts


def test_matrices_of_many_rows_have_no_silhouettes(monkeypatch):
    monkeypatch.setattr("kernelmeans.report.facts.PAIRWISE_ROWS", 100)
    K = rbf_kernel(X)
    model = KernelPowerKMeans(3, kernel="precomputed", random_state=0).fit(K)
    report = ClusterReport(model, K)
    assert report.to_dict()["silhouettes"] is None
    assert "Silhouettes" not in report.to_html()


def test_the_file_of_the_table_is_named_with_its_hash(tmp_path):
    path = tmp_path / "iris <b>.csv"
    path.write_bytes(b"1,2\n")
    report = ClusterReport(MODEL, X, source=path, commands=["kernelmeans fit iris.csv"])
    known = report.to_dict()["again"]
    # As sha256sum says.
    digest = "52186c933993da4082b3cdc7c40bb4bf735b391ff54a2ef78c037dda6c38a680"
    assert known["hash"] == {"kind": "SHA-256 of the file", "value": digest}
    assert "Clusters of iris &lt;b&gt;.csv" in report.to_html()
    assert "kernelmeans fit iris.csv" in report.to_html()
    assert str(tmp_path) not in report.to_html()


def test_the_hash_is_that_of_the_data():
    first, again, other = (
        ClusterReport(MODEL, rows).to_dict()["again"]["hash"]["value"]
        for rows in (X, X.copy(), X + 1e-9)
    )
    assert first == again != other


@pytest.mark.slow
def test_a_report_needs_no_matplotlib():
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from kernelmeans import ClusterReport, KernelPowerKMeans\n"
        "X = [[0.0], [0.1], [5.0], [5.1]]\n"
        "print(ClusterReport(KernelPowerKMeans(2, kernel='rbf', random_state=0).fit(X), X).verdict)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.startswith("4 rows in 2 clusters"), done.stderr


@pytest.mark.slow
def test_very_many_rows_make_a_small_page():
    rows, _ = make_blobs(200_000, centers=8, n_features=20, random_state=0)
    model = KernelPowerKMeans(8, kernel="linear", random_state=0).fit(rows)
    assert len(ClusterReport(model, rows).to_html()) < 200_000


def test_histograms_of_logarithms_are_on_their_scale(rng):
    """On the scale of the money itself nearly all rows would be in one bar."""
    money = np.exp(3 * rng.normal(size=200) + 8 * np.repeat([0, 1], 100))
    table = pd.DataFrame({"money": money, "age": rng.normal(size=200)})
    model = make_pipeline(TableTransformer(), KernelPowerKMeans(2, kernel="rbf", random_state=0))
    found = ClusterReport(model.fit(table), table, rows=True).to_dict()
    assert model[0].columns_[0].is_logarithm
    (shown,) = [one for one in found["clusters"][0]["profile"] if one["column"] == "money"]
    assert max(shown["all"]) < 0.5
    assert sum(fraction > 0 for fraction in shown["all"]) > 12
    low, high = (number_of(end) for end in shown["ends"])
    assert 0 < money.min() / 2 <= low < high <= money.max() * 2


def test_clusters_that_are_alike_stand_side_by_side():
    sizes = {0: 30, 40: 25, 3: 20, 43: 15, 200: 12}
    rows = np.concatenate([x + np.linspace(0, 1, n) for x, n in sizes.items()])[:, None]
    model = KernelPowerKMeans(5, random_state=0).fit(rows)
    report = ClusterReport(model, rows, names=["a", "b", "c & d", "e", "f"])
    known = report.to_dict()["tree"]
    assert known["leaves"] == [0, 2, 1, 3, 4]
    assert known["children"] == model.tree_.children_.tolist()
    page = report.to_html()
    drawn = page[page.index('id="tree"') : page.index('id="profiles"')]
    described = page[page.index('id="profiles"') : page.index('id="again"')]
    order = [str(leaf) for leaf in known["leaves"]]
    assert re.findall(r"mark own c(\d)", drawn) == order
    assert re.findall(r"<tspan>(.*?)</tspan>", drawn) == ["a", "c &amp; d", "b", "e", "f"]
    assert re.findall(r"<article><h3>.*?own c(\d)", described) == order
    for table in ("sizes", "silhouettes"):
        rows = page[page.index(f'id="{table}"') :].split("</section>")[0]
        assert re.findall(r"<tr><th[^>]*><span[^>]*><span class=\"chip own c(\d)", rows) == order


def test_models_without_a_tree_and_few_clusters_have_no_picture_of_it():
    assert 'id="tree"' in ClusterReport(MODEL, X).to_html()
    old = KernelPowerKMeans(3, random_state=0).fit(X)
    old.tree_ = None
    report = ClusterReport(old, X)
    assert report.to_dict()["tree"] is None
    assert 'id="tree"' not in report.to_html()
    two = KernelPowerKMeans(2, random_state=0).fit(X)
    assert 'id="tree"' not in ClusterReport(two, X).to_html()
