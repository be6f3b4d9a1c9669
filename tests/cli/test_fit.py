import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsTransformer
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelKMeans, KernelPowerKMeans
from kernelmeans.cli.fit import Fitted
from kernelmeans.models import load_model

FEATURES = ["length", "mass", "area"]


def summary(stem: str = "data") -> dict:
    return json.loads(Path(f"{stem}.summary.json").read_text())


def labels(file: str = "data.labels.csv") -> np.ndarray:
    return pl.read_csv(file)["label"].to_numpy()


def test_writes_what_the_estimator_finds(fit, blobs):
    result = fit()
    assert result.exit_code == 0, result.output
    Z = StandardScaler().fit_transform(blobs.select(FEATURES).to_numpy())
    model = KernelPowerKMeans(3, random_state=0).fit(Z)
    written = pl.read_csv("data.labels.csv")
    assert written.columns == ["row", "label", "distance", "second_distance", "membership"]
    assert written["row"].to_list() == list(range(60))
    np.testing.assert_array_equal(written["label"], model.labels_)
    assert sorted(path.name for path in Path().iterdir()) == [
        "data.clusters.csv",
        "data.csv",
        "data.labels.csv",
        "data.model.skops",
        "data.summary.json",
    ]


def test_summary_tells_what_happened(fit, blobs):
    fit()
    found = summary()
    Z = StandardScaler().fit_transform(blobs.select(FEATURES).to_numpy())
    model = KernelPowerKMeans(3, random_state=0).fit(Z)
    assert found["rows"] == 60
    assert found["features"] == 3
    assert found["sizes"] == np.bincount(model.labels_).tolist()
    assert found["cost"] == pytest.approx(model.inertia_)
    assert found["critical_power"] == pytest.approx(model.critical_power_)
    assert found["start_power"] == pytest.approx(model.power_history_[0])
    assert found["steps"] == model.n_iter_
    assert found["graph"]["n_neighbors"] == model.n_neighbors_
    assert found["seconds"] > 0
    assert found["agreement"] == {"column": "kind", "nmi": 1.0, "ari": 1.0}


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.usefixtures("folder")
def test_compares_with_plain_kernel_k_means_from_the_same_start(run, seed):
    """On noise, where every start ends elsewhere and swap moves always help."""
    X = np.random.default_rng(0).normal(size=(150, 4))
    np.save("data.npy", X)
    start = {"kernel": "rbf", "gamma": 0.7, "init": "random", "n_init": 1}
    options = [f"--{name.replace('_', '-')}={value}" for name, value in start.items()]
    run("fit", "data.npy", "-k", 6, "--no-scale", *options, "--seed", seed, "--compare")
    plain = KernelKMeans(6, **start, random_state=seed).fit(X)
    found = summary()
    assert found["plain"]["cost"] == pytest.approx(plain.inertia_)
    percent = 100 * (found["cost"] / plain.inertia_ - 1)
    assert found["percent_above_plain"] == pytest.approx(percent)
    assert percent < 0


def test_fits_once_unless_asked_to_compare(fit, monkeypatch):
    def fail(*args, **settings):
        raise AssertionError("fitted twice")

    monkeypatch.setattr(KernelKMeans, "fit", fail)
    assert fit().exit_code == 0
    assert "plain" not in summary()


@pytest.mark.usefixtures("folder")
def test_never_writes_worse_labels_than_it_has_computed(run):
    """Annealing alone ends above plain kernel k-means on some data."""
    won = set()
    for seed in range(2):
        rng = np.random.default_rng(seed)
        centres, sizes = rng.uniform(-10, 10, (6, 1)), rng.dirichlet(np.full(6, 0.6))
        X = centres[rng.choice(6, 90, p=sizes)] + rng.standard_normal((90, 1))
        np.save("data.npy", X)
        alone = ["--kernel", "rbf", "--no-scale", "--n-swaps", 0, "--force", "--compare"]
        result = run("fit", "data.npy", "-k", 6, *alone)
        found, written = summary(), labels()
        costs = {"plain": found["plain"]["cost"], "annealed": found["annealed_cost"]}
        assert found["cost"] == costs[found["written"]]
        assert found["cost"] == pytest.approx(min(costs.values()), rel=2e-6)
        text = " ".join(result.stdout.split())
        assert ("whose labels are written" in text) == (found["written"] == "plain")
        run("predict", "data.model.skops", "data.npy", "--labels", "again.csv", "--force")
        np.testing.assert_array_equal(written, labels("again.csv"))
        model = KernelKMeans if found["written"] == "plain" else KernelPowerKMeans
        again = model(6, kernel="rbf", n_swaps=0, random_state=0).fit(X).labels_
        np.testing.assert_array_equal(written, again)
        won.add(found["written"])
    assert won == {"plain", "annealed"}


def test_text_summary_is_readable(fit):
    text = fit().stdout
    assert re.search(r"^rows +60 of 3 features in 3 clusters$", text, re.M)
    assert re.search(r"^cluster sizes +20 20 20$", text, re.M)
    assert re.search(r"^cost +\S+$", text, re.M)
    assert re.search(r"^power +from -?[\d.]+ \(critical power -?[\d.]+\), \d+ steps", text, re.M)
    assert re.search(r"^time +\d+\.\d\d s, the fit \d+\.\d\d s$", text, re.M)
    assert re.search(r"^agreement +NMI 1.000, ARI 1.000 with column 'kind'$", text, re.M)
    for file in ("data.labels.csv", "data.model.skops", "data.summary.json"):
        assert file in text
    assert max(map(len, text.splitlines())) <= 80


def test_json_prints_the_summary_file(fit):
    assert json.loads(fit("--json").stdout) == summary()


def test_quiet_prints_nothing(fit):
    assert fit("--quiet").output == ""
    assert Path("data.labels.csv").exists()


def test_soft_memberships(fit):
    fit("--soft")
    written = pl.read_csv("data.labels.csv")
    memberships = written.select(pl.selectors.starts_with("membership_")).to_numpy()
    assert memberships.shape == (60, 3)
    np.testing.assert_allclose(memberships.sum(axis=1), 1)
    np.testing.assert_array_equal(memberships.argmax(axis=1), written["label"])


def test_same_seed_same_files(fit):
    fit("--init", "random", "--seed", 7, "--labels", "first.csv")
    fit("--init", "random", "--seed", 7, "--force")
    assert Path("first.csv").read_bytes() == Path("data.labels.csv").read_bytes()


def test_scaling_is_on_by_default_and_can_be_turned_off(fit, blobs):
    fit("--no-scale")
    assert summary()["scaled"] is False
    model = KernelPowerKMeans(3, random_state=0).fit(blobs.select(FEATURES).to_numpy())
    assert summary()["cost"] == pytest.approx(model.inertia_)
    np.testing.assert_array_equal(labels(), model.labels_)


def test_options_reach_the_estimator(fit):
    options = {
        "kernel": "laplacian",
        "gamma": 0.5,
        "s0": -3.0,
        "eta": 1.5,
        "anneal_every": 2,
        "init": "random",
        "n_init": 3,
        "n_swaps": 5,
        "max_iter": 500,
        "tol": 1e-3,
        "memory_budget": "1GB",
    }
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    result = fit(*arguments, "--seed", 5, "--no-cache-kernel")
    assert result.exit_code == 0, result.output
    expected = {**options, "random_state": 5, "cache_kernel": False, "n_clusters": 3}
    found = summary()["parameters"]
    assert {name: found[name] for name in expected} == expected
    assert summary()["start_power"] == -3.0


def test_float32_is_fitted_in_float32(fit):
    fit("--dtype", "float32")
    model = load_model(Path("data.model.skops"))
    assert model.dtype == "float32"
    assert model.pipeline[0].scaler_.mean_.dtype == np.float64  # scikit-learn's own statistics
    assert model.pipeline[-1].transform(np.zeros((1, 3), np.float32)).dtype == np.float32


def test_weight_column(fit, blobs):
    """A weight of 2 is the row twice, in the scaling too, and no feature."""
    rng = np.random.default_rng(0)
    w = rng.integers(1, 3, size=60)
    blobs.with_columns(w=pl.Series(w)).write_csv("data.csv")
    twice = blobs[np.repeat(np.arange(60), w)]
    result = fit("--weight-column", "w", "--kernel", "rbf", "--gamma", 0.3)
    assert result.exit_code == 0, result.output
    Z = StandardScaler().fit_transform(twice.select(FEATURES).to_numpy())
    model = KernelPowerKMeans(3, kernel="rbf", gamma=0.3, random_state=0).fit(Z)
    assert summary()["features"] == 3
    assert summary()["cost"] == pytest.approx(model.inertia_)


@pytest.mark.parametrize(
    ("options", "given"), [([], {}), (["--density", 1.5], {"density": 1.5})], ids=["auto", "given"]
)
def test_heat_says_what_graph_it_took(fit, blobs, options, given):
    assert fit("--n-neighbors", 7, *options).exit_code == 0
    Z = StandardScaler().fit_transform(blobs.select(FEATURES).to_numpy())
    model = KernelPowerKMeans(3, n_neighbors=7, random_state=0, **given).fit(Z)
    graph = {"n_neighbors": 7, "density": pytest.approx(model.density_)}
    graph |= {"t": pytest.approx(model.t_), "pieces": model.n_pieces_}
    assert summary()["graph"] == graph
    assert "gamma" not in summary()


def test_other_kernels_say_what_width_they_took(fit, blobs):
    assert fit("--kernel", "rbf").exit_code == 0
    Z = StandardScaler().fit_transform(blobs.select(FEATURES).to_numpy())
    model = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(Z)
    assert summary()["gamma"] == pytest.approx(model.gamma_)
    assert "graph" not in summary()


def test_a_width_without_a_kernel_that_has_one_is_a_line_on_stderr(fit):
    result = fit("--gamma", 0.3)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("Warning: --gamma 0.3 has no effect with --kernel heat") == 1


def test_negative_weights_are_refused(refused, data, blobs):
    blobs.with_columns(w=pl.Series([-1.0] + [1.0] * 59)).write_csv("data.csv")
    message = refused("fit", data, "-k", 3, "--drop", "kind", "--weight-column", "w")
    assert "weight" in message


def test_precomputed_kernel_is_not_scaled(run, folder, blobs):
    K = rbf_kernel(StandardScaler().fit_transform(blobs.select(FEATURES).to_numpy()), gamma=0.3)
    np.save("K.npy", K)
    result = run("fit", "K.npy", "-k", 3, "--kernel", "precomputed", "--plot")
    assert result.exit_code == 0, result.output
    assert "--scale does not apply to a precomputed kernel" in result.stderr
    model = KernelPowerKMeans(3, kernel="precomputed", random_state=0).fit(K)
    np.testing.assert_array_equal(labels("K.labels.csv"), model.labels_)
    np.save("rows.npy", K[::4])
    assert run("predict", "K.model.skops", "rows.npy").exit_code == 0
    np.testing.assert_array_equal(labels("rows.labels.csv"), model.labels_[::4])


@pytest.mark.parametrize("kernel", ["graph", "heat"])
def test_graphs(run, folder, blobs, kernel):
    X = StandardScaler().fit_transform(blobs.select(FEATURES).to_numpy())
    search = KNeighborsTransformer(n_neighbors=9).fit(X)
    D, B = search.transform(X), search.kneighbors_graph(X)
    graph, new = (B + B.T, B[::4]) if kernel == "graph" else (D, D[::4])
    metric = "euclidean" if kernel == "graph" else "precomputed"
    scipy.sparse.save_npz("graph.npz", graph)
    scipy.sparse.save_npz("rows.npz", new)
    chosen = ["--kernel", kernel, "--metric", metric, "--memory-budget", "1MB"]
    result = run("fit", "graph.npz", "-k", 3, *chosen, "--plot", "--report")
    assert result.exit_code == 0, result.output
    page = Path("graph.report.html").read_text("utf-8")
    assert "kernelmeans predict graph.model.skops NEW.npz<" in page
    assert "--scale does not apply to a graph" in result.stderr
    model = KernelPowerKMeans(3, kernel=kernel, metric=metric, random_state=0).fit(graph)
    np.testing.assert_array_equal(labels("graph.labels.csv"), model.labels_)
    found = summary("graph")["graph"]
    assert found["n_neighbors"] == model.n_neighbors_
    expected = "as given" if kernel == "graph" else f"{model.n_neighbors_} neighbours"
    assert f"{expected}, {found['pieces']} pieces" in result.stdout
    assert re.search(r"^rows +60 in 3 clusters$", result.stdout, re.M)
    assert "features" not in summary("graph")
    assert run("predict", "graph.model.skops", "rows.npz").exit_code == 0
    np.testing.assert_array_equal(labels("rows.labels.csv"), model.predict(new))


@pytest.mark.usefixtures("folder")
def test_large_columns_beside_an_embedding_are_noted(run, rng):
    embedding = pl.DataFrame(rng.normal(size=(80, 40)), schema=[f"e{at}" for at in range(40)])
    words = pl.Series("words", rng.integers(5, 90, 80))
    embedding.with_columns(words, stars=words % 5).write_csv("data.csv")
    said = run("fit", "data.csv", "-k", 2, "--metric", "cosine").stderr
    assert "Note: 'words' holds nearly all of the squared length of the rows, so that" in said
    assert "--metric cosine sees little else: --drop words leaves it out" in said
    said = run(
        "fit", "data.csv", "-k", 2, "--metric", "cosine", "--columns", "e*", "--force"
    ).stderr
    assert "of the squared length" not in said


def test_rows_of_no_cluster(run, data, blobs):
    strange = pl.DataFrame({"length": [60.0], "mass": [-900.0], "area": [0.3], "kind": ["dog"]})
    pl.concat([blobs, strange]).write_csv("more.csv")
    result = run("fit", "more.csv", "-k", 3, "--label-column", "kind", "--outliers", 0.02)
    assert result.exit_code == 0, result.output
    assert re.search(r"^outliers +1 \(1.6 %\), in no cluster: label -1$", result.stdout, re.M)
    assert labels("more.labels.csv").tolist().index(-1) == len(blobs)
    Path("more.csv").rename("again.csv")
    assert re.search(r"^outliers +1 ", run("predict", "more.model.skops", "again.csv").stdout, re.M)
    np.testing.assert_array_equal(labels("again.labels.csv"), labels("more.labels.csv"))
    assert re.search(r"^outliers +0$", run("predict", "more.model.skops", data).stdout, re.M)
    assert labels().min() == 0
    assert "outliers" not in run("fit", data, "-k", 3, "--label-column", "kind").stdout


def test_a_graph_of_one_direction_is_refused(refused, folder):
    scipy.sparse.save_npz("graph.npz", scipy.sparse.csr_array(np.triu(np.ones((9, 9)))))
    message = refused("fit", "graph.npz", "-k", 3, "--kernel", "graph")
    assert "differ by up to 1" in message


def test_sparse_matrix(run, folder, blobs):
    X = blobs.select(FEATURES).to_numpy()
    X[X < 0] = 0
    scipy.sparse.save_npz("X.npz", scipy.sparse.csr_array(X))
    result = run("fit", "X.npz", "-k", 3, "--plot")
    assert result.exit_code == 0, result.output
    assert labels("X.labels.csv").shape == (60,)
    assert run("predict", "X.model.skops", "X.npz", "-o", "new").exit_code == 0
    np.testing.assert_array_equal(labels("new/X.labels.csv"), labels("X.labels.csv"))


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_plot_file(fit, ending):
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert fit("--plot-file", f"picture.{ending}").exit_code == 0
    assert Path(f"picture.{ending}").read_bytes().startswith(start)


def test_two_columns_of_a_table_are_the_axes_of_its_picture(fit):
    assert fit("--columns", "length", "--columns", "mass", "--plot-file", "map.svg").exit_code == 0
    # Letters are drawn as shapes, and written as comments.
    picture = Path("map.svg").read_text()
    assert "<!-- length -->" in picture
    assert "<!-- mass -->" in picture


def test_plot_goes_beside_the_input(fit):
    assert fit("--plot").exit_code == 0
    assert Path("data.png").stat().st_size > 10_000
    assert summary()["files"]["plot"] == "data.png"


def test_plot_file_of_unknown_kind_is_refused_before_the_fit(refused, data):
    message = refused("fit", data, "--drop", "kind", "--plot-file", "picture.doc")
    assert ".png" in message


def test_output_dir_and_single_files(fit):
    result = fit("-o", "out/deep", "--model", "m.skops")
    assert result.exit_code == 0, result.output
    assert sorted(str(path) for path in Path("out").rglob("*.*")) == [
        "out/deep/data.clusters.csv",
        "out/deep/data.labels.csv",
        "out/deep/data.summary.json",
    ]
    assert Path("m.skops").exists()
    assert not Path("data.labels.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-k", 61], ["61", "60"]),
        (["-k", 0], ["-k must", "0"]),
        (["--gamma", -1], ["gamma", "-1"]),
        (["--s0", 2], ["s0", "2"]),
        (["--eta", 0.5], ["eta", "0.5"]),
        (["--memory-budget", "lots"], ["--memory-budget lots is no size"]),
        (["--kernel", "precomputed"], ["precomputed", "square"]),
    ],
)
def test_what_the_estimator_refuses_is_printed_with_the_option(refused, data, arguments, words):
    message = refused("fit", data, "--drop", "kind", *arguments)
    assert all(word in message for word in words), message


def test_columns_by_name(fit):
    assert fit("--columns", "mass,length").exit_code == 0
    assert load_model(Path("data.model.skops")).columns == ["length", "mass"]


def test_known_classes_do_not_take_part(fit, blobs):
    fit()
    before = labels()
    blobs.with_columns(kind=pl.col("kind").reverse()).write_csv("data.csv")
    fit("--force")
    np.testing.assert_array_equal(labels(), before)
    ari = adjusted_rand_score(blobs["kind"].reverse(), before)
    assert summary()["agreement"]["ari"] == pytest.approx(ari)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("option", "value"), [("metric", "cosine"), ("metric", "correlation"), ("kernel", "cosine")]
)
def test_rows_whose_directions_count_are_not_scaled(run, option, value):
    """Columns of very different lengths, so that scaled ones have other neighbours."""
    rng = np.random.default_rng(0)
    X = rng.random((4, 6))[np.repeat(np.arange(4), 30)] + 0.2 * rng.standard_normal((120, 6))
    X *= [1, 1, 1, 1, 5, 5]
    np.save("rows.npy", X)
    result = run("fit", "rows.npy", "-k", 4, f"--{option}", value)
    assert f"columns are not scaled, because --{option} {value}" in result.stderr
    model = KernelPowerKMeans(4, random_state=0, **{option: value})
    np.testing.assert_array_equal(labels("rows.labels.csv"), model.fit_predict(X))
    assert not summary("rows")["scaled"]
    assert "of the squared length" not in result.stderr
    quiet = run("fit", "rows.npy", "-k", 4, f"--{option}", value, "--no-scale", "--force")
    assert "not scaled" not in quiet.stderr
    Z = StandardScaler().fit_transform(X)
    assert adjusted_rand_score(model.labels_, model.fit_predict(Z)) < 1


@pytest.mark.parametrize(
    ("annealed", "plain", "first", "percent"),
    [
        (11.0, 10.0, 20.0, 10),
        (9.0, 10.0, 20.0, -10),
        (1e-15, 2e-15, 20.0, 0),  # rounding
        (0.0, 0.0, 0.0, 0),
        (1.0, 0.0, 20.0, math.inf),
    ],
)
def test_the_cost_is_compared_with_that_of_plain_labels(annealed, plain, first, percent):
    model = SimpleNamespace(inertia_=annealed, objective_history_=[first])
    fitted = Fitted(model, 1.0, SimpleNamespace(inertia_=plain))
    assert fitted.percent_above_plain == pytest.approx(percent)


@pytest.mark.parametrize(("preferred", "written"), [(None, "plain"), (0, "annealed")])
def test_what_the_graph_has_preferred_is_written(preferred, written):
    result = SimpleNamespace(preferred=preferred)
    annealed = SimpleNamespace(inertia_=10.05, objective_history_=[20.0], result_=result)
    plain = SimpleNamespace(inertia_=10.0)
    model = Fitted(annealed, 1.0, plain).model
    assert model is {"plain": plain, "annealed": annealed}[written]
