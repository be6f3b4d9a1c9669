"""Places of rows: any estimator, any kind of rows, refusals in words."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs, make_circles
from sklearn.decomposition import PCA, KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances, linear_kernel, rbf_kernel
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from kernelmeans import ClusterSearch, KernelKMeans, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.plotting.points import map_points
from kernelmeans.tables import TableTransformer

X, _ = make_blobs(160, n_features=4, centers=4, random_state=0)
TRAIN, NEW = X[:120], X[120:]
NAMES = list("abcd")


@pytest.fixture(scope="module")
def model() -> KernelPowerKMeans:
    return KernelPowerKMeans(4, kernel="rbf", random_state=0).fit(TRAIN)


def products(points):
    """What does not depend on the signs of the components."""
    return points @ points.T


def leading(K):
    """Inner products of the two leading components of a kernel matrix."""
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values, vectors = np.linalg.eigh(K)
    return products(vectors[:, -2:] * np.sqrt(values[-2:]))


def test_places_and_labels_of_the_rows_of_the_fit(model):
    found = map_points(model, TRAIN, max_points=50, random_state=3)
    assert len(np.unique(found.rows)) == 50
    assert (np.diff(found.rows) > 0).all()
    np.testing.assert_array_equal(found.labels, model.labels_[found.rows])
    np.testing.assert_array_equal(found.sizes, np.bincount(model.labels_))
    assert found.n_rows == 120
    assert found.axis_names == ("kernel principal component 1", "kernel principal component 2")
    alone = map_points(model, TRAIN[found.rows])
    np.testing.assert_array_equal(alone.points, found.points)


def test_new_rows_have_the_labels_of_predict_and_sizes_of_their_own(model):
    found = map_points(model, NEW)
    np.testing.assert_array_equal(found.labels, model.predict(NEW))
    np.testing.assert_array_equal(found.sizes, np.bincount(found.labels, minlength=4))
    # As many rows as in the fit, but others.
    swapped = map_points(model, TRAIN[::-1])
    np.testing.assert_array_equal(swapped.labels, model.labels_[::-1])
    other = map_points(model, np.repeat(TRAIN[:1], 120, axis=0), max_points=30)
    assert other.sizes.sum() == other.sizes.max() == 30


@pytest.mark.parametrize("library", ["pandas", "polars", "list", "csr", "coo", "float32"])
def test_any_kind_of_rows(library):
    if library in ("pandas", "polars"):
        frames = pytest.importorskip(library)
        columns = {"columns" if library == "pandas" else "schema": NAMES}
        rows = frames.DataFrame(TRAIN, **columns)
    else:
        kinds = {"list": np.ndarray.tolist, "float32": np.float32}
        kinds |= {"csr": scipy.sparse.csr_array, "coo": scipy.sparse.coo_matrix}
        rows = kinds[library](TRAIN)
    model = KernelPowerKMeans(4, kernel="rbf", random_state=0).fit(rows)
    found = map_points(model, rows, max_points=60)
    expected = map_points(KernelPowerKMeans(4, kernel="rbf", random_state=0).fit(TRAIN), TRAIN)
    np.testing.assert_array_equal(found.labels, model.labels_[found.rows])
    K = rbf_kernel(TRAIN[found.rows], gamma=model.gamma_)
    np.testing.assert_allclose(products(found.points), leading(K), atol=1e-4)
    assert found.axis_names == expected.axis_names


@pytest.mark.parametrize("kernel", ["linear", "cosine", "poly"])
@pytest.mark.parametrize("width", [1, 4])
def test_any_kernel(kernel, width):
    rows = TRAIN[:, :width]
    model = KernelKMeans(2, kernel=kernel, random_state=0).fit(rows)
    found = map_points(model, rows)
    expected = leading(model.kernel_(rows, rows))
    np.testing.assert_allclose(products(found.points), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", ["heat", "rbf"])
def test_rows_of_two_columns_are_placed_as_they_are(kernel):
    pandas = pytest.importorskip("pandas")
    rows = make_circles(200, factor=0.3, noise=0.02, random_state=0)[0]
    given = {"kernel": kernel, "random_state": 0}
    model = KernelPowerKMeans(2, **given).fit(rows)
    found = map_points(model, rows)
    np.testing.assert_array_equal(found.points, rows)
    assert found.axis_names == ("column 0", "column 1")
    table = pandas.DataFrame(rows, columns=["age", "income"])
    named = KernelPowerKMeans(2, **given).fit(table)
    assert map_points(named, table).axis_names == ("age", "income")


@pytest.mark.parametrize("scaler", [StandardScaler, MinMaxScaler, TableTransformer])
def test_two_columns_of_a_pipeline_have_their_names_and_units(scaler):
    pandas = pytest.importorskip("pandas")
    rows = TRAIN[:, :2] * [1, 1000] + [50, 8000]
    table = pandas.DataFrame(rows, columns=["age", "income"])
    for X, names in [(table, ("age", "income")), (rows, ("column 0", "column 1"))]:
        pipeline = make_pipeline(scaler(), KernelPowerKMeans(4, random_state=0)).fit(X)
        found = map_points(pipeline, X)
        np.testing.assert_allclose(found.points, rows)
        assert found.axis_names == names


def test_two_columns_of_a_table_that_has_others():
    pandas = pytest.importorskip("pandas")
    skewed = np.exp(TRAIN[:, 1])
    columns = {"id": [f"C{n}" for n in range(120)], "age": TRAIN[:, 0], "income": skewed}
    table = pandas.DataFrame(columns)
    pipeline = make_pipeline(TableTransformer(), KernelPowerKMeans(4, random_state=0)).fit(table)
    found = map_points(pipeline, table)
    assert found.axis_names == ("age", "income (logarithm)")
    expected = np.log1p(skewed / np.median(skewed))
    np.testing.assert_allclose(found.points, np.column_stack([TRAIN[:, 0], expected]))


def test_two_columns_that_are_new_have_the_names_of_their_step():
    def placed(*steps):
        pipeline = make_pipeline(*steps, KernelPowerKMeans(4, random_state=0)).fit(TRAIN)
        return pipeline[:-1].transform(TRAIN), map_points(pipeline, TRAIN)

    rows, found = placed(StandardScaler(), PCA(2))
    np.testing.assert_allclose(found.points, rows)
    assert found.axis_names == ("pca0", "pca1")
    rows, found = placed(FunctionTransformer(lambda X: X[:, 1:3]))
    np.testing.assert_allclose(found.points, rows)
    assert found.axis_names == ("new column 0", "new column 1")


def test_clusters_that_heat_would_draw_as_dots_are_placed_by_principal_components():
    clear = make_blobs(120, n_features=4, centers=3, random_state=1)[0]
    dots = KernelPowerKMeans(3, random_state=0).fit(clear)
    # Rows of a cluster have the same heat features.
    apart = euclidean_distances(dots.kernel_.features(clear))
    assert apart[dots.labels_[:, None] == dots.labels_].max() < 1e-3
    found = map_points(dots, clear)
    expected = PCA(2).fit_transform(clear)
    np.testing.assert_allclose(products(found.points), products(expected), atol=1e-8)
    assert found.axis_names == ("principal component 1", "principal component 2")
    smeared = np.random.default_rng(0).normal(size=(120, 4))
    model = KernelPowerKMeans(3, random_state=0).fit(smeared)
    found = map_points(model, smeared)
    assert found.axis_names == ("heat component 1", "heat component 2")
    K = model.kernel_(smeared, smeared)
    np.testing.assert_allclose(products(found.points), leading(K), atol=1e-8)


@pytest.mark.parametrize(("spread", "seed"), [(1, 0), (4, 4)])
def test_a_projection_shows_many_clusters_where_two_components_do_not(spread, seed):
    rows = make_blobs(600, n_features=10, centers=12, cluster_std=spread, random_state=seed)[0]
    model = KernelPowerKMeans(12, random_state=0).fit(rows)
    found = map_points(model, rows)
    heat = model.kernel_(rows, rows)
    is_dots = spread == 1
    kind = "linear" if is_dots else "heat"
    assert found.axis_names[1] == f"{kind} projection 2"
    source = KernelPCA(11, kernel="precomputed", eigen_solver="dense")
    components = source.fit_transform(linear_kernel(rows) if is_dots else heat)
    fitted = components @ np.linalg.lstsq(components, found.points)[0]
    np.testing.assert_allclose(found.points, fitted, atol=1e-6 * np.abs(fitted).max())

    def legible(points):
        """Fraction of nearest neighbours that are of the same cluster."""
        nearest = NearestNeighbors(n_neighbors=5).fit(points / points.std(axis=0))
        return (model.labels_[nearest.kneighbors()[1]] == model.labels_[:, None]).mean()

    assert legible(found.points) > 0.9
    assert legible(found.points) > legible(components[:, :2]) + 0.04
    np.testing.assert_array_equal(map_points(model, rows).points, found.points)


@pytest.mark.parametrize("kernel", ["heat", "rbf"])
def test_rows_that_a_kernel_cannot_tell_apart_lie_at_one_place(kernel):
    model = KernelPowerKMeans(4, kernel=kernel, random_state=0).fit(TRAIN)
    found = map_points(model, np.repeat(TRAIN[:1], 50, axis=0))
    assert np.ptp(found.points, axis=0).max() < 1e-6


@pytest.mark.filterwarnings("error")
def test_rows_on_disk_and_in_chunks(tmp_path):
    polars = pytest.importorskip("polars")
    array = pytest.importorskip("dask.array")
    settings = {"kernel": "rbf", "approximation": "rff", "random_state": 0}
    frame = polars.DataFrame(TRAIN, schema=NAMES)
    np.save(tmp_path / "rows.npy", TRAIN)
    kinds = [frame.lazy(), np.load(tmp_path / "rows.npy", mmap_mode="r"), array.from_array(TRAIN)]
    for rows in kinds:
        model = KernelPowerKMeans(4, **settings).fit(rows)
        found = map_points(model, rows, max_points=40)
        np.testing.assert_array_equal(found.labels, np.asarray(model.labels_)[found.rows])
        np.testing.assert_array_equal(found.sizes, np.bincount(np.asarray(model.labels_)))
        K = rbf_kernel(TRAIN[found.rows], gamma=model.gamma_)
        np.testing.assert_allclose(products(found.points), leading(K), atol=1e-8)


def test_views_by_name_beside_text():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(TRAIN, columns=NAMES).assign(town="Rome")
    kernels = [("rbf", ["a", "b"]), ("linear", ["d"])]
    model = MultiKernelPowerKMeans(4, kernels=kernels, random_state=0).fit(table)
    found = map_points(model, table)
    np.testing.assert_array_equal(found.labels, model.labels_)
    numbers = MultiKernelPowerKMeans(4, kernels=[("rbf", [0, 1]), ("linear", [3])], random_state=0)
    expected = map_points(numbers.fit(TRAIN), TRAIN)
    np.testing.assert_allclose(products(found.points), products(expected.points), atol=1e-8)


def test_a_pipeline_transforms_the_rows():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(TRAIN * [1, 10, 100, 1000], columns=NAMES)
    pipeline = make_pipeline(StandardScaler(), "passthrough", PCA(3), KernelPowerKMeans(4))
    pipeline.set_params(kernelpowerkmeans__random_state=0).fit(table)
    found = map_points(pipeline, table, max_points=70)
    np.testing.assert_array_equal(found.labels, pipeline[-1].labels_[found.rows])
    np.testing.assert_array_equal(found.sizes, np.bincount(pipeline[-1].labels_))
    alone = map_points(pipeline[-1], pipeline[:-1].transform(table), max_points=70)
    np.testing.assert_allclose(products(found.points), products(alone.points), atol=1e-8)


def test_the_choice_of_a_search():
    grid = {"kernelpowerkmeans__n_clusters": [4]}
    pipeline = make_pipeline(StandardScaler(), KernelPowerKMeans(kernel="rbf"))
    search = ClusterSearch(pipeline, grid, n_splits=2, random_state=0).fit(TRAIN)
    found = map_points(search, TRAIN)
    np.testing.assert_array_equal(found.labels, search.labels_)
    search.best_estimator_ = None
    with pytest.raises(ValueError, match=r"chosen no clusters.*n_clusters of your own"):
        map_points(search, TRAIN)


def test_estimators_of_scikit_learn_are_placed_by_principal_components():
    model = KMeans(4, random_state=0).fit(TRAIN)
    found = map_points(model, TRAIN)
    expected = PCA(2).fit_transform(TRAIN)
    np.testing.assert_allclose(products(found.points), products(expected), atol=1e-8)
    assert found.axis_names == ("principal component 1", "principal component 2")


def test_matrices_between_rows():
    K = rbf_kernel(X, gamma=0.05)
    square = K[:120, :120]
    given = {"random_state": 0}
    model = KernelPowerKMeans(4, kernel="precomputed", **given).fit(square)
    found = map_points(model, square, max_points=50)
    np.testing.assert_array_equal(found.labels, model.labels_[found.rows])
    graph = kneighbors_graph(TRAIN, 20)
    model = KernelPowerKMeans(4, kernel="graph", **given).fit(graph + graph.T)
    found = map_points(model, graph + graph.T, max_points=50)
    np.testing.assert_array_equal(found.labels, model.labels_[found.rows])
    assert found.axis_names[0] == "heat projection 1"
    distances = scipy.sparse.csr_array(euclidean_distances(X))[:, :120]
    model = KernelPowerKMeans(4, metric="precomputed", **given).fit(distances[:120])
    found = map_points(model, distances[120:])
    np.testing.assert_array_equal(found.labels, model.predict(distances[120:]))
    assert np.ptp(found.points, axis=0).min() > 0


@pytest.mark.parametrize("n_new", [40, 120])
def test_kernel_values_of_new_rows_need_coordinates(n_new):
    rows = np.concatenate([NEW] * 3)[:n_new] + 0.1
    stack = np.stack([rbf_kernel(X, gamma=0.05), linear_kernel(X)])[:, :120, :120]
    towards = np.stack([rbf_kernel(rows, TRAIN, gamma=0.05), linear_kernel(rows, TRAIN)])
    one = KernelPowerKMeans(4, kernel="precomputed", random_state=0).fit(stack[0])
    several = MultiKernelPowerKMeans(4, kernels="precomputed", random_state=0).fit(stack)
    for model, values in [(one, towards[0]), (several, towards)]:
        with pytest.raises(ValueError, match=r"between new rows and training rows.*coordinates="):
            map_points(model, values)
        found = map_points(model, values, coordinates=rows[:, :2], max_points=30)
        np.testing.assert_array_equal(found.labels, model.predict(values)[found.rows])
        np.testing.assert_array_equal(found.points, rows[found.rows, :2])


def test_coordinates_of_the_user(model):
    pandas = pytest.importorskip("pandas")
    places = pandas.DataFrame(TRAIN[:, 2:], columns=["umap 1", "umap 2"])
    found = map_points(model, TRAIN, coordinates=places, max_points=50)
    np.testing.assert_array_equal(found.points, TRAIN[found.rows, 2:])
    assert found.axis_names == ("umap 1", "umap 2")
    assert map_points(model, TRAIN, coordinates=TRAIN[:, :2].tolist()).axis_names == (
        "coordinate 1",
        "coordinate 2",
    )
    with pytest.raises(ValueError, match=r"shape \(120, 3\).*\(120, 2\)"):
        map_points(model, TRAIN, coordinates=TRAIN[:, :3])
    with pytest.raises(ValueError, match=r"shape \(119, 2\)"):
        map_points(model, TRAIN, coordinates=TRAIN[:119, :2])
    with pytest.raises(ValueError, match="coordinates holds NaN or infinity"):
        map_points(model, TRAIN, coordinates=np.full((120, 2), np.nan))
    for wrong in (np.full((120, 2), "x"), [[1, 2], [3]]):
        with pytest.raises(ValueError, match="coordinates should be an array of numbers"):
            map_points(model, TRAIN, coordinates=wrong)


def test_what_cannot_be_drawn_is_refused_in_words(model):
    with pytest.raises(NotFittedError):
        map_points(KernelPowerKMeans(4), TRAIN)
    with pytest.raises(NotFittedError):
        map_points(make_pipeline(StandardScaler(), KernelPowerKMeans(4)), TRAIN)
    with pytest.raises(NotFittedError):
        map_points(ClusterSearch(KernelPowerKMeans(), {"n_clusters": [2]}), TRAIN)
    with pytest.raises(TypeError, match="DBSCAN should be a clusterer with the method predict"):
        map_points(DBSCAN().fit(TRAIN), TRAIN)
    classifier = make_pipeline(KernelPowerKMeans(4), LogisticRegression())
    with pytest.raises(TypeError, match="LogisticRegression should be a clusterer"):
        map_points(classifier.fit(TRAIN, model.labels_), TRAIN)
    with pytest.raises(TypeError, match="ndarray should be a clusterer"):
        map_points(model.labels_, TRAIN)
    with pytest.raises(TypeError, match="is a class, not an instance"):
        map_points(KernelPowerKMeans, TRAIN)
    for rows in (None, "data.csv", {"a": TRAIN}, (row for row in TRAIN)):
        with pytest.raises(TypeError, match=r"X=.* holds no rows; give an array"):
            map_points(model, rows)
    with pytest.raises(ValueError, match=r"3 features.*expecting 4"):
        map_points(model, TRAIN[:, :3])
    with pytest.raises(ValueError, match="max_points=0 should be a positive number"):
        map_points(model, TRAIN, max_points=0)


@pytest.mark.slow
def test_matplotlib_is_not_needed():
    code = "import sys; sys.modules['matplotlib'] = None; import kernelmeans.plotting.points"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pieces_of_a_graph_are_no_dots_and_lie_beside_each_other(rng):
    corners = 30 * np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, 2], [1, 2]])
    rows = np.repeat(corners, 80, axis=0) + rng.normal(size=(480, 2))
    graph = kneighbors_graph(rows, 10)
    model = KernelPowerKMeans(6, kernel="graph", random_state=0).fit(graph + graph.T)
    assert model.n_pieces_ == 6
    found = map_points(model, graph + graph.T)
    assert found.axis_names == ("own component 1", "own component 2")
    apart = euclidean_distances(found.points)
    within = apart[found.labels[:, None] == found.labels]
    between = apart[found.labels[:, None] != found.labels]
    assert between.min() > 0.1 * between.max()
    assert within.max() > 0.2 * between.max()
    # Neighbours in the graph are near each other.
    assert 2 * np.median(apart[graph.nonzero()]) < np.median(within)
