"""Annotated data: matrices by name, and annotations as labels."""

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans
from kernelmeans._errors import InputError
from kernelmeans.models import load_model, save_model
from kernelmeans.tables import read_table
from kernelmeans.tables.files import Reading
from kernelmeans.tables.files.tables import open_file

anndata = pytest.importorskip("anndata", reason="the extra h5ad reads annotated data")
h5py = pytest.importorskip("h5py", reason="comes with anndata")
pd = pytest.importorskip("pandas", reason="comes with anndata")

PATH = Path("cells.h5ad")
GENES = ["ACTB", "CD4", "CD8A"]


@pytest.fixture
def cells(folder, blobs):
    """The three clusters of `blobs`: as counts of genes, in a smaller space, and as a graph."""
    X = blobs.drop("kind").to_numpy()
    X = (X - X.mean(0)) / X.std(0)
    distances = ((X[:, None] - X) ** 2).sum(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = anndata.AnnData(
            scipy.sparse.csr_matrix(np.maximum(X, 0)),
            obs=pd.DataFrame(
                {"kind": pd.Categorical(blobs["kind"].to_list()), "reads": np.arange(60.0) + 1},
                index=[f"cell {row}" for row in range(60)],
            ),
            var=pd.DataFrame(index=GENES),
            layers={"scaled": X},
            obsm={
                "X_pca": X[:, :2],
                "frame": pd.DataFrame(
                    X[:, 1:], columns=["u", "v"], index=[f"cell {row}" for row in range(60)]
                ),
            },
            obsp={"connectivities": scipy.sparse.csr_matrix(np.exp(-distances) * (distances < 2))},
        )
        data.write_h5ad(PATH)
    return data


@pytest.mark.filterwarnings("ignore:.*--take names another")
@pytest.mark.parametrize(
    ("take", "names"),
    [
        (None, GENES),
        ("X", GENES),
        ("layers:scaled", GENES),
        ("obsm:X_pca", ["0", "1"]),
        ("obsm:frame", ["u", "v"]),
        ("obsp:connectivities", [f"cell {row}" for row in range(60)]),
    ],
)
def test_matrices_by_name(cells, take, names):
    group, _, name = (take or "X").partition(":")
    expected = getattr(cells, group)[name] if name else cells.X
    expected = expected.toarray() if scipy.sparse.issparse(expected) else np.asarray(expected)
    table = open_file(PATH, Reading(take=take))
    assert table.names == names
    found = table.matrix(names, "float64")
    assert scipy.sparse.issparse(found) == (take in (None, "X", "obsp:connectivities"))
    found = found.toarray() if scipy.sparse.issparse(found) else found
    np.testing.assert_array_equal(found, expected)
    assert table.column("kind").tolist() == cells.obs["kind"].tolist()
    assert table.column("obs_names").tolist() == cells.obs_names.tolist()


@pytest.mark.usefixtures("folder")
def test_repeated_entries_are_added_up(run):
    clean = scipy.sparse.random_array((60, 8), density=0.6, format="csr", rng=0)
    values = np.stack([2 * clean.data, -clean.data], 1).ravel()
    twice = values, np.repeat(clean.indices, 2), 2 * clean.indptr
    labels = []
    for name, parts in {"clean": (clean.data, clean.indices, clean.indptr), "twice": twice}.items():
        X = scipy.sparse.csr_matrix(parts, shape=clean.shape)
        anndata.AnnData(X).write_h5ad(f"{name}.h5ad")
        result = run("fit", f"{name}.h5ad", "-k", 3, "--kernel", "rbf")
        assert result.exit_code == 0, result.output
        labels.append(pl.read_csv(f"{name}.labels.csv")["label"].to_list())
    assert labels[0] == labels[1]


def test_other_matrices_are_pointed_out(cells):
    message = "X is read; --take names another .*'obsm:X_pca'.* clustered by --take obsm:X_pca$"
    with pytest.warns(UserWarning, match=message):
        open_file(PATH)
    del cells.obsm["X_pca"]
    cells.write_h5ad(PATH)
    with pytest.warns(UserWarning, match="'obsp:connectivities'$"):
        open_file(PATH)
    cells.X = None
    cells.write_h5ad(PATH)
    with pytest.raises(InputError, match=r"has no X, and --take .* are 'layers:scaled', 'obsm"):
        open_file(PATH)


@pytest.mark.usefixtures("cells")
@pytest.mark.parametrize("take", ["obsm:pca", "pca", "obs:kind", "obsm", "obsm:", "uns:x", "../X"])
def test_unknown_names(take):
    with pytest.raises(InputError, match=f"--take names '{take}'.*'obsm:X_pca', 'obsm:frame'"):
        open_file(PATH, Reading(take=take))


def test_components_count_as_much_as_they_vary(run, cells):
    """The first separates the kinds, and two of noise vary less."""
    rng = np.random.default_rng(0)
    kinds = np.arange(cells.n_obs) % 3
    components = np.column_stack([3.0 * kinds, *rng.standard_normal((2, cells.n_obs))])
    components[:, 0] += 0.3 * rng.standard_normal(cells.n_obs)
    cells.obsm["X_pca"] = components * [1, 0.3, 0.3]
    cells.write_h5ad(PATH)
    done = run("fit", PATH, "-k", 3, "--take", "obsm:X_pca", "--force")
    assert "not scaled, because those of obsm" in done.stderr
    labels = pl.read_csv("cells.labels.csv")["label"].to_numpy()
    own = KernelPowerKMeans(3, random_state=0).fit_predict(cells.obsm["X_pca"])
    assert adjusted_rand_score(own, labels) == adjusted_rand_score(kinds, labels) == 1


@pytest.mark.usefixtures("cells")
def test_fit_and_predict(run):
    options = ["--take", "obsm:X_pca", "--label-column", "kind", "--weight-column", "reads"]
    result = run("fit", PATH, "-k", 3, *options)
    assert result.exit_code == 0, result.output
    assert "ARI 1" in result.output.replace("1.000", "1"), result.output
    assert load_model(Path("cells.model.skops")).reading == {"take": "obsm:X_pca"}
    labels = pl.read_csv("cells.labels.csv")["label"]
    result = run("predict", "cells.model.skops", PATH, "--force")
    assert result.exit_code == 0, result.output
    assert pl.read_csv("cells.labels.csv")["label"].equals(labels)


@pytest.mark.usefixtures("cells")
@pytest.mark.parametrize("option", ["--label-column", "--categorical"])
def test_annotations_are_listed_before_genes(refused, option):
    message = refused("fit", PATH, "-k", 3, "--take", "layers:scaled", option, "cluster")
    assert "columns are 'kind', 'reads', 'obs_names', 'ACTB', " in message


@pytest.mark.usefixtures("cells")
@pytest.mark.parametrize("name", ["--label-column", "--id-column"])
def test_a_category_that_is_no_column_of_the_report(run, name):
    run("fit", PATH, "-k", 3, name, "kind", "--report")
    assert "<h1>" in Path("cells.report.html").read_text("utf-8")


@pytest.mark.usefixtures("cells")
def test_a_graph(run):
    options = ["--take", "obsp:connectivities", "--kernel", "graph", "--label-column", "kind"]
    result = run("fit", PATH, "-k", 3, *options, "--no-scale")
    assert result.exit_code == 0, result.output
    assert "ARI 1" in result.output.replace("1.000", "1"), result.output


def test_edges_of_other_cells_are_no_edges_to_the_training_cells(run, refused, cells):
    """The model knows its cells by name, and takes edges to them in any order."""
    graph = ["--take", "obsp:connectivities"]
    run("fit", PATH, "-k", 3, *graph, "--kernel", "graph")
    fitted = pl.read_csv("cells.labels.csv")["label"].to_numpy()
    order = np.random.default_rng(0).permutation(60)
    cells[order].write_h5ad("turned.h5ad")
    run("predict", "cells.model.skops", "turned.h5ad")
    assert pl.read_csv("turned.labels.csv")["label"].to_list() == fitted[order].tolist()
    other = cells.copy()
    other.obs_names = [f"other {row}" for row in range(60)]
    for n_cells in (60, 50):
        other[:n_cells].write_h5ad("other.h5ad")
        message = refused("predict", "cells.model.skops", "other.h5ad")
        assert "a column for each of the 60 rows of its fit" in message
        assert "none for 'cell 0', 'cell 1' and 58 more: " in message
        assert "shape (n_new, 60)" in message
        assert "--take obsm:edges" in message
    again = ["fit", "other.h5ad", "-k", 3, *graph, "--kernel", "graph", "--like"]
    assert "--like needs the same rows" in refused(*again, "cells.model.skops")
    new = anndata.AnnData(obsm={"edges": cells.obsp["connectivities"][[59, 3, 30]]})
    new.write_h5ad("new.h5ad")
    model = load_model("cells.model.skops")
    with pytest.raises(InputError, match=r"in Python read_table\(path, take='obsm:edges'\)$"):
        model.label("other.h5ad")
    edges = read_table("new.h5ad", take="obsm:edges")
    assert model.label(edges).labels.tolist() == fitted[[59, 3, 30]].tolist()
    run("predict", "cells.model.skops", "new.h5ad", "--take", "obsm:edges")
    assert pl.read_csv("new.labels.csv")["label"].to_list() == fitted[[59, 3, 30]].tolist()
    with warnings.catch_warnings(action="error"):
        assert read_table(PATH, take=graph[1]).shape == (60, 60)


def test_a_model_without_names_of_cells_takes_edges_by_their_places(run, cells):
    model = KernelPowerKMeans(3, kernel="graph", random_state=0).fit(cells.obsp["connectivities"])
    save_model(model, "plain.skops")
    run("predict", "plain.skops", PATH, "--take", "obsp:connectivities", "--labels", "plain.csv")
    assert pl.read_csv("plain.csv")["label"].to_list() == model.labels_.tolist()


@pytest.mark.filterwarnings("ignore:.*--take names another")
def test_a_model_of_an_array_asks_for_the_matrix_that_is_like_it(run, refused, cells):
    model = KernelPowerKMeans(3, random_state=0).fit(cells.obsm["X_pca"])
    save_model(model, "plain.skops")
    says = "give the matrix of the file that is like that of the fit, as in --take obsm:X_pca"
    assert says in refused("predict", "plain.skops", PATH)
    with pytest.raises(InputError, match=r"in Python read_table\(path, take='obsm:X_pca'\)$"):
        load_model("plain.skops").label(PATH)
    components = read_table(PATH, take="obsm:X_pca")
    found = load_model("plain.skops").label(components).labels
    assert found.tolist() == model.labels_.tolist()
    run("predict", "plain.skops", PATH, "--take", "obsm:X_pca", "--labels", "plain.csv")
    assert pl.read_csv("plain.csv")["label"].to_list() == model.labels_.tolist()


@pytest.mark.usefixtures("cells")
def test_a_graph_taken_for_features_is_pointed_out(run):
    result = run("fit", PATH, "-k", 3, "--take", "obsp:connectivities", "--n-swaps", 0)
    assert "--kernel graph takes it for a graph" in result.stderr


@pytest.mark.usefixtures("cells")
def test_annotations_are_no_features(refused):
    options = ["-k", 3, "--take", "obsm:X_pca"]
    assert "--columns reads is no column" in refused("fit", PATH, *options, "--columns", "reads")
    assert "'kind' is not numeric" in refused("fit", PATH, *options, "--weight-column", "kind")


@pytest.mark.usefixtures("cells")
def test_rows_have_the_names_of_the_file(run):
    options = ["-k", 3, "--kernel", "rbf", "--take", "obsm:X_pca", "--force"]
    result = run("fit", PATH, *options, "--report", "--rows")
    names = [f"cell {row}" for row in range(60)]
    fitted = pl.read_csv("cells.labels.csv")
    assert fitted["obs_names"].to_list() == names
    typical = [line for line in result.stdout.splitlines() if "typical rows" in line]
    assert len(typical) == 3
    assert all(line.count("cell ") == 3 for line in typical)
    page = Path("cells.report.html").read_text()
    assert "<bdi>cell " in page
    assert "obs_names" not in page
    assert "kernelmeans predict cells.model.skops NEW.h5ad<" in page
    run("predict", "cells.model.skops", PATH, "--force")
    assert pl.read_csv("cells.labels.csv").select("obs_names", "label").equals(fitted[:, :2])
    for name in ("kind", "reads"):
        run("fit", PATH, *options, "--id-column", name)
        assert pl.read_csv("cells.labels.csv").columns[0] == name
    run("fit", PATH, *options, "--id-column", "obs_names")
    assert pl.read_csv("cells.labels.csv").equals(fitted)


def test_categories_of_cells_are_no_numbers(run, cells):
    cells.obs["leiden"] = pd.Categorical(np.repeat(["0", "1", "2"], 20))
    cells.obs["batch"] = pd.Categorical(np.tile([1, 2], 30))
    cells.obs["plate"] = np.tile([7, 8, 9], 20)
    cells.write_h5ad(PATH)

    def kinds(*options: object) -> dict[str, str]:
        result = run("fit", PATH, "-k", 3, *options, "--force", "--report")
        assert result.exit_code == 0, result.output
        found = pl.read_csv("cells.clusters.csv")
        return dict(zip(found["column"], found["kind"], strict=True))

    named = ["--categorical", "plate"]
    for take in (["--take", "obsm:X_pca"], []):  # in memory, and sparse
        found = kinds(*take)
        assert {found[name] for name in ("kind", "leiden", "batch")} == {"category"}
        assert found["plate"] == "number"
        assert kinds(*take, *named) == found | {"plate": "category"}


@pytest.mark.usefixtures("cells")
def test_sparse_columns_are_no_categories(refused):
    message = refused("fit", PATH, "-k", 3, "--categorical", "CD4")
    assert "--categorical, --dates and --missing drop are for tables in memory" in message


def test_more_than_the_budget(cells):
    with h5py.File(PATH, "a") as file:
        file["obsm"].create_dataset("large", (60, 10**9), "f4", chunks=(1, 1000), compression=9)
    assert PATH.stat().st_size < 10**6
    with pytest.raises(InputError, match="--memory-budget"):
        open_file(PATH, Reading(take="obsm:large"), budget=10**9)


@pytest.mark.usefixtures("cells")
@pytest.mark.parametrize("kind", ["soft", "external", "raw", "virtual"])
def test_parts_in_other_files(kind):
    other = h5py.VirtualLayout((60, 2), "f8")
    other[:] = h5py.VirtualSource("other.h5", "X", (60, 2))
    with h5py.File(PATH, "a") as file:
        match kind:
            case "soft":
                file["obsm/other"] = h5py.SoftLink("/X")
            case "external":
                file["obsm/other"] = h5py.ExternalLink("other.h5", "X")
            case "raw":
                file.create_dataset("obsm/other", (60, 2), "f8", external=[("x.bin", 0, 960)])
            case "virtual":
                file.create_virtual_dataset("obsm/other", other)
    with pytest.raises(InputError, match="'obsm/other' leads to another place"):
        open_file(PATH, Reading(take="X"))


@pytest.mark.usefixtures("cells")
@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("X/indices", np.full(5, 10**6)),
        ("X/indptr", np.arange(61)[::-1]),
        ("X/data", np.ones(3)),
        ("obsm/X_pca", np.zeros((3, 2))),
        ("obsm/X_pca", np.zeros(60)),
        ("obsm/X_pca", np.full((60, 2), b"x")),
        ("layers/scaled", np.zeros((60, 7))),
    ],
)
def test_damaged_parts(part, values):
    with h5py.File(PATH, "a") as file:
        attributes = dict(file[part].attrs)
        del file[part]
        file[part] = values
        file[part].attrs.update(attributes)
    group, name = part.split("/")
    take = "X" if group == "X" else f"{group}:{name}"
    with pytest.raises(InputError, match=r"cells\.h5ad"):
        open_file(PATH, Reading(take=take))


@pytest.mark.usefixtures("cells")
@pytest.mark.parametrize("part", ["obs/reads", "obs/_index", "var/_index"])
@pytest.mark.parametrize("shape", [(10**9,), (10**9, 2)])
def test_parts_that_promise_more_than_they_hold(part, shape):
    with h5py.File(PATH, "a") as file:
        attributes = dict(file[part].attrs)
        del file[part]
        file.create_dataset(part, shape, "?", chunks=True)
        file[part].attrs.update(attributes)
    with pytest.raises(InputError, match=r"cells\.h5ad.*(memory budget|not one value)"):
        open_file(PATH, Reading(take="X"), budget=5e9)


def test_other_files(folder):
    PATH.write_bytes(b"x" * 1000)
    with pytest.raises(InputError, match="cannot be read as H5AD"):
        open_file(PATH)
    with h5py.File(PATH, "w") as file:
        file["X"] = np.zeros((3, 2))
    with pytest.raises(InputError, match="is no annotated data"):
        open_file(PATH)


@pytest.mark.usefixtures("cells")
@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("missing", ["category", "whole number"])
def test_rows_whose_names_are_missing(run, missing, step):
    data = anndata.read_h5ad(PATH)
    kinds = {"category": pd.Categorical, "whole number": lambda x: pd.array(x, dtype="Int64")}
    values = ["T", "B"] if missing == "category" else [5, 7]
    data.obs["donor"] = kinds[missing]([*values * 29, values[0], None][::step])
    data.write_h5ad(PATH)
    result = run("fit", PATH, "-k", "3", "--id-column", "donor")
    assert result.exit_code == 0, result.output
    names = pl.read_csv("cells.labels.csv", infer_schema=False)["donor"].to_list()
    assert names == [*map(str, values * 29), str(values[0]), None][::step]


@pytest.mark.usefixtures("cells")
def test_a_large_dataset_in_the_place_of_a_group_is_not_read():
    with h5py.File(PATH, "a") as file:
        del file["layers"]
        file.create_dataset("layers", (10**12,), "f8", chunks=(10,))
    with pytest.warns(UserWarning, match="--take names another"):
        assert open_file(PATH).shape == (60, 3)
    with pytest.raises(InputError, match="'layers:0', which it does not have"):
        open_file(PATH, Reading(take="layers:0"))


@pytest.mark.parametrize("take", ["layers:scaled", "obsm:frame"])
def test_as_many_rows_as_columns_are_not_transposed(run, cells, take):
    """Arrays of data frames are in Fortran's order."""
    assert run("fit", PATH, "-k", 3, "--take", take).exit_code == 0
    fitted = pl.read_csv("cells.labels.csv")["label"].to_numpy()
    width = 3 if take == "layers:scaled" else 2
    for part in ([0, 20, 40], [59, 1, 30], [21, 2, 45]):
        cells[part[:width]].write_h5ad("new.h5ad")
        assert run("predict", "cells.model.skops", "new.h5ad", "--force").exit_code == 0
        found = pl.read_csv("new.labels.csv")["label"].to_list()
        assert found == fitted[part[:width]].tolist()


def test_annotations_do_not_hide_columns_without_names(run, cells):
    """A matrix of obsm has columns 0 and 1, and so may the annotations."""
    expected = open_file(PATH, Reading(take="obsm:X_pca")).matrix(["0", "1"], "float64")
    cells.obs["0"] = cells.obs["1"] = np.arange(60.0)
    cells.write_h5ad(PATH)
    table = open_file(PATH, Reading(take="obsm:X_pca"))
    np.testing.assert_array_equal(table.matrix(["0", "1"], "float64"), expected)
    np.testing.assert_array_equal(table.column("1"), expected[:, 1])
    assert run("fit", PATH, "-k", 3, "--take", "obsm:X_pca", "--drop", "1").exit_code == 0


@pytest.mark.usefixtures("cells")
def test_annotations_that_are_no_values():
    with h5py.File(PATH, "a") as file:
        file["obs/kind"].attrs["encoding-type"] = "anndata"
        file["obs/kind"].attrs["encoding-version"] = "0.1.0"
    with pytest.raises(InputError, match="'kind' holds neither text nor numbers"):
        open_file(PATH, Reading(take="X"))


@pytest.mark.filterwarnings("ignore:.*--take names another")
@pytest.mark.usefixtures("cells")
def test_columns_of_a_sparse_matrix_describe_clusters(run):
    run("fit", PATH, "-k", "3", "--force", "--report")
    clusters = pl.read_csv("cells.clusters.csv")
    for cluster in range(3):
        own = clusters.filter(cluster=cluster)
        assert set(GENES) <= {*own["column"]}
    assert all(gene in Path("cells.report.html").read_text() for gene in GENES)
    matrix = open_file(PATH).matrix(GENES, "float64").toarray()
    labels = pl.read_csv("cells.labels.csv")["label"].to_numpy()
    told = clusters.filter(pl.col("column").is_in(GENES), statistic="mean")
    assert len(told) == 9
    for gene, cluster, mean in told.select("column", "cluster", "number").iter_rows():
        assert mean == pytest.approx(matrix[labels == cluster, GENES.index(gene)].mean())


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [True, False])
def test_genes_that_differ_most_describe_clusters(run, folder, sparse):
    rng = np.random.default_rng(0)
    types = np.repeat([0, 1, 2], [30, 20, 10])
    X = rng.poisson(0.5, (60, 2100)).astype(np.float32) / 4
    X[:, 7] = 0
    markers = {2040 + 20 * one: one for one in range(3)}
    for gene, one in markers.items():
        X[types == one, gene : gene + 20] += 2
    data = anndata.AnnData(
        scipy.sparse.csr_array(X) if sparse else X,
        obs=pd.DataFrame({"batch": ["a", "b"] * 30}, index=[f"c{row}" for row in range(60)]),
    )
    data.write_h5ad("wide.h5ad")
    done = run("fit", "wide.h5ad", "-k", "3", "--take", "X")
    assert "described by the 2000 of 2101 columns in which they differ most" in done.stderr
    told = {*pl.read_csv("wide.clusters.csv", infer_schema_length=None)["column"]}
    assert {"batch", *map(str, range(2040, 2100))} <= told
    assert "7" not in told


@pytest.mark.slow
def test_columns_of_wide_tables_describe_clusters_whatever_they_are(run, folder):
    """Exact flags of clusters, a category and the only used columns are among those that count."""
    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1, 2], [20, 13, 8])
    noise = pl.DataFrame(rng.standard_normal((41, 2100)), schema=[f"c{n}" for n in range(2100)])
    own = pl.DataFrame({f"flag{one}": np.where(kinds == one, 1.5, 3.5) for one in range(3)})
    own = own.with_columns(town=pl.Series(["Aa", "Bb", "Cc"])[kinds])
    noise.hstack(own).write_csv("wide.csv")
    done = run("fit", "wide.csv", "-k", 3, "--columns", ",".join(own.columns))
    assert "in which they differ most" in done.stderr
    assert {*own.columns} <= {*pl.read_csv("wide.clusters.csv", infer_schema_length=None)["column"]}


@pytest.mark.parametrize(("largest", "factor"), [(9, 1), (40, 1), (40, 0.5)])
def test_counts_of_a_sparse_matrix_are_pointed_out(run, cells, largest, factor):
    cells.X = (cells.X / cells.X.max() * largest).floor() * factor
    cells.write_h5ad(PATH)
    for metric in ("euclidean", "cosine"):
        done = run("fit", PATH, "-k", "3", "--force", "--metric", metric)
        noted = "the numbers look like counts" in done.stderr
        assert noted == (largest == 40 and factor == 1 and metric == "euclidean")


@pytest.mark.filterwarnings("ignore:.*--take names another")
def test_names_of_a_sparse_matrix_are_lost_in_python_but_not_by_a_path(run, cells):
    run("fit", PATH, "-k", "3", "--force")
    labels = pl.read_csv("cells.labels.csv")["label"].to_list()
    with pytest.warns(UserWarning, match=r"cells.h5ad: a sparse matrix has no column names"):
        X = read_table(PATH)
    model = load_model("cells.model.skops")
    with pytest.warns(UserWarning, match="valid feature names"):  # of scikit-learn
        assert model.predict(X).tolist() == labels
    cells[:, ::-1].write_h5ad("turned.h5ad")
    assert model.label("turned.h5ad").labels.tolist() == labels
    save_model(KernelPowerKMeans(3, random_state=0).fit(X), "matrix.skops")
    with pytest.raises(ValueError, match="the model needs '0', '1', '2'"):
        load_model("matrix.skops").label(PATH)
