"""What can be searched over: rows of every kind, and matrices between rows, with any estimator."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans, MiniBatchKMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_blobs, make_moons
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score, pairwise_kernels
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from kernelmeans import ClusterSearch, KernelPowerKMeans, MultiKernelPowerKMeans, PowerKMeans
from kernelmeans.rows import open_rows
from kernelmeans.tables import TableTransformer

X, Y = make_blobs(120, centers=[[0, 0], [7, 0], [0, 7]], random_state=0)
GRID = {"n_clusters": [2, 3, 4]}
pytestmark = pytest.mark.usefixtures("short_searches")


def searched(estimator, X, grid=GRID, **parameters):
    # This scoring needs no data without clusters, which takes time.
    parameters = {"n_splits": 2, "random_state": 0, "scoring": "prediction_strength"} | parameters
    return ClusterSearch(estimator, grid, **parameters).fit(X)


def found(search, X=None):
    """Whether the search has found the blobs, and predicts what it has found."""
    assert not np.isnan(search.results_["mean_stability"]).any()
    if X is not None:
        np.testing.assert_array_equal(search.predict(X), search.labels_)
    return adjusted_rand_score(Y, search.labels_) == 1


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (KMeans(n_init=3), "n_clusters"),
        (MiniBatchKMeans(n_init=3), "n_clusters"),
        (PowerKMeans(), "n_clusters"),
        (GaussianMixture(), "n_components"),
        (make_pipeline(StandardScaler(), PCA(2), KMeans(n_init=3)), "kmeans__n_clusters"),
        (make_pipeline(PCA(2), GaussianMixture()), "gaussianmixture__n_components"),
    ],
    ids=str,
)
def test_estimators_of_scikit_learn_and_pipelines(estimator, name):
    search = searched(estimator, X, {name: [2, 3, 4]})
    assert search.best_params_ == {name: 3}
    assert search.results_["n_clusters"].tolist() == [2, 3, 4]
    assert found(search, X)


def test_one_cluster_is_a_parameter_of_the_last_step():
    noise = np.random.default_rng(0).standard_normal((100, 2))
    search = searched(
        make_pipeline(PCA(2), KMeans(n_init=1)), noise, {"kmeans__n_clusters": [3, 4]}
    )
    assert search.best_params_ == {"kmeans__n_clusters": 1}


def test_a_number_of_clusters_that_is_no_parameter_is_counted():
    class Halves(ClusterMixin, BaseEstimator):
        def __init__(self, shift=0):
            self.shift = shift

        def fit(self, X, y=None):
            return self

        def predict(self, X):
            return (X[:, 0] > self.shift).astype(int)

    search = searched(Halves(), X, {"shift": [3.5, 100]})
    assert search.results_["n_clusters"].tolist() == [2, 1]


def test_a_grid_over_steps_of_a_pipeline():
    grid = [
        {"kmeans__n_clusters": [2, 3]},
        {"kmeans": [GaussianMixture()], "kmeans__n_components": [4]},
    ]
    search = searched(make_pipeline(StandardScaler(), KMeans(n_init=3)), X, grid)
    assert search.results_["n_clusters"].tolist() == [2, 3, 4]
    assert search.best_index_ == 1
    assert search.results_["param_kmeans__n_components"].mask.tolist() == [True, True, False]


@pytest.mark.parametrize("kind", ["csr", "coo", "csr_array"])
def test_sparse_rows(kind):
    make = {"csr": scipy.sparse.csr_matrix, "coo": scipy.sparse.coo_matrix}
    rows = make.get(kind, scipy.sparse.csr_array)(X)
    assert found(searched(KernelPowerKMeans(kernel="rbf"), rows), rows)


def test_entries_that_are_stored_twice_are_summed_in_all_fits():
    rows = scipy.sparse.csr_array(X)
    twice = np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2), 2 * rows.indptr
    once, summed = (
        searched(KMeans(n_init=1, random_state=0), one)
        for one in (rows, scipy.sparse.csr_array(twice, rows.shape))
    )
    centers = (one.best_estimator_.cluster_centers_ for one in (once, summed))
    np.testing.assert_allclose(*centers)


def test_sparse_rows_give_what_dense_ones_do_but_are_not_compared_with_data_without_clusters():
    model = KernelPowerKMeans(kernel="rbf")
    both = X, scipy.sparse.csr_array(X)
    dense, sparse = (searched(model, rows, scoring="jaccard") for rows in both)
    np.testing.assert_allclose(dense.results_["mean_stability"], sparse.results_["mean_stability"])
    assert not np.isnan(dense.results_["mean_reference"]).all()
    assert np.isnan(sparse.results_["mean_reference"]).all()
    assert sparse.verdict_.endswith("not compared with data without clusters")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_table_of_words_and_gaps_is_compared_with_data_without_clusters(library):
    frames = pytest.importorskip(library)
    columns = {
        "kind": np.array(["red", "green", "blue"])[Y].tolist(),
        "length": [None, *X[1:, 0].tolist()],
        "width": X[:, 1].tolist(),
    }
    table = frames.DataFrame(columns)
    grid = {"kernelpowerkmeans__n_clusters": [2, 3], "kernelpowerkmeans__kernel": ["rbf"]}
    model = make_pipeline(TableTransformer(), KernelPowerKMeans())
    search = searched(model, table, grid, scoring="jaccard")
    numbers = TableTransformer().fit_transform(table)
    grid = {"n_clusters": [2, 3], "kernel": ["rbf"]}
    expected = searched(KernelPowerKMeans(), numbers, grid, scoring="jaccard")
    assert found(search, table)
    reference = search.results_["mean_reference"]
    assert not np.isnan(reference[search.best_index_])
    np.testing.assert_array_equal(reference, expected.results_["mean_reference"])
    assert search.verdict_.partition(":")[0] == "3 clusters with kernel='rbf'"


def test_steps_that_give_no_table_of_numbers_leave_the_comparison_to_the_whole_pipeline():
    graph = KNeighborsTransformer(n_neighbors=20)
    model = make_pipeline(graph, KernelPowerKMeans(metric="precomputed"))
    grid = {"kernelpowerkmeans__n_clusters": [2, 3]}
    search = searched(model, X, grid, scoring="jaccard")
    assert found(search, X)
    assert not np.isnan(search.results_["mean_reference"][search.best_index_])


def test_a_kernel_matrix_is_cut_by_rows_and_columns():
    # The width that the estimator would choose differs from half to half.
    K = pairwise_kernels(X, metric="rbf", gamma=0.1)
    search = searched(KernelPowerKMeans(kernel="precomputed"), K)
    rows = searched(KernelPowerKMeans(kernel="rbf", gamma=0.1), X)
    for name in ("mean_stability", "mean_prediction_strength", "min_jaccard"):
        np.testing.assert_allclose(search.results_[name], rows.results_[name], err_msg=name)
    assert found(search, K)
    assert search.n_features_in_ == 120


@pytest.mark.filterwarnings("ignore:kernel='precomputed'. k.x, x. of new rows is unknown")
def test_rows_of_zeros_of_a_kernel_matrix_count():
    # Rows at the origin have a linear kernel of 0 with all others.
    rows = np.vstack([X - [5, 5], np.zeros((60, 2))])
    K = rows @ rows.T
    model = KernelPowerKMeans(kernel="precomputed")
    grid = {"n_clusters": [5, 6]}
    search = searched(model, K, grid)
    plain = searched(KernelPowerKMeans(kernel="linear"), rows, grid)
    for name in ("mean_stability", "min_jaccard"):
        np.testing.assert_allclose(search.results_[name], plain.results_[name], err_msg=name)
    assert (search.results_["mean_stability"] < 0.99).all()


class Dense(ClusterMixin, BaseEstimator):
    """The halves of a plane, of which the rows near the border are noise."""

    def __init__(self, border=1.0, all_noise=False):
        self.border = border
        self.all_noise = all_noise

    def fit(self, X, y=None):
        self.labels_ = self.predict(X)
        return self

    def predict(self, X):
        noise = self.all_noise or abs(X[:, 0] - 3.5) < self.border
        # As HDBSCAN marks rows that are not finite.
        return np.where(noise, np.where(X[:, 1] > 0, -1, -3), X[:, 0] > 3.5)


def test_noise_is_no_cluster():
    rows = np.vstack([X, np.random.default_rng(0).uniform([2, -5], [5, 5], (40, 2))])
    search = searched(Dense(), rows, {"border": [1.0, 0.0]}, scoring="stability")
    labels = search.labels_by_candidate_
    assert {-3, -1} < set(labels[0])
    assert search.results_["n_clusters"].tolist() == [2, 2]
    assert [len(one) for one in search.results_["jaccard"]] == [2, 2]
    assert search.results_["mean_stability"].tolist() == [1, 1]
    # A row of noise counts as 0, and is a neighbour of none.
    placed, part = rows[labels[0] >= 0], np.mean(labels[0] >= 0)
    of_placed = labels[0][labels[0] >= 0]
    near = NearestNeighbors(n_neighbors=25).fit(placed).kneighbors(return_distance=False)
    by_chance = np.square([np.mean(of_placed == 0), np.mean(of_placed == 1)]).sum()
    expected = (np.mean(of_placed[near] == of_placed[:, None]) - by_chance) / (1 - by_chance)
    assert search.results_["neighbor_consistency"][0] == pytest.approx(part * expected)


@pytest.mark.slow
def test_rows_left_out_do_not_ask_for_more_clusters():
    moons, _ = make_moons(400, noise=0.07, random_state=0)
    model = KernelPowerKMeans(random_state=0, outliers="auto")
    grid, found = {"n_clusters": [2, 3, 4]}, []
    for seed in (0, 1, 2):  # with 3, 18 rows of noise are a clump
        noise = np.random.default_rng(seed).uniform(-2, 3, (100, 2))
        search = searched(model, np.vstack([moons, noise]), grid, scoring="neighbor_consistency")
        assert (search.labels_ < 0).sum() > 40
        found.append(search.best_params_["n_clusters"])
    assert found == [2, 2, 2]


def test_consistency_of_rows_that_a_step_returns_in_another_format():
    def joined(Z):
        return scipy.sparse.hstack([scipy.sparse.csr_array(Z), Z])

    grid = {"kmeans__n_clusters": [2, 3]}
    found = [
        searched(make_pipeline(FunctionTransformer(step), KMeans(n_init=1)), X, grid)
        for step in (joined, lambda Z: joined(Z).tocsr())
    ]
    assert joined(X).format == "coo"
    consistency = [one.results_["neighbor_consistency"] for one in found]
    assert (consistency[0] > 0.5).all()
    np.testing.assert_array_equal(*consistency)


def test_noise_alone_is_a_failure():
    with pytest.warns(UserWarning, match=r"'all_noise': True}: ValueError: no row is in a cluster"):
        search = searched(Dense(), X, {"all_noise": [True, False]})
    assert search.best_params_ == {"all_noise": False}
    assert search.results_["n_clusters"].tolist() == [0, 2]


@pytest.mark.parametrize("dense", [True, False])
def test_a_graph(dense):
    A = kneighbors_graph(X, 12)
    A = A.maximum(A.T)
    A = A.toarray() if dense else A
    assert found(searched(KernelPowerKMeans(kernel="graph"), A), A)


@pytest.mark.parametrize("form", [scipy.sparse.csr_matrix, scipy.sparse.csr_array])
def test_rows_of_a_graph_without_an_edge_to_a_half_do_not_count(form):
    A = kneighbors_graph(X, 5)
    A = form(A.maximum(A.T))
    grid = {"n_clusters": [2, 3]}
    search = searched(KernelPowerKMeans(kernel="graph"), A, grid, n_splits=10)
    assert not np.isnan(search.results_["mean_stability"]).any()
    # Models of halves refuse such rows.
    half = np.arange(0, 120, 2)
    model = KernelPowerKMeans(2, kernel="graph").fit(
        kneighbors_graph(X[half], 9).maximum(kneighbors_graph(X[half], 9).T)
    )
    with pytest.raises(ValueError, match="needs an edge"):
        model.predict(A[:, half])


def test_distances_to_neighbors():
    D = KNeighborsTransformer(n_neighbors=30).fit_transform(X)
    assert found(searched(KernelPowerKMeans(metric="precomputed"), D))


@pytest.mark.filterwarnings("ignore:kernel='precomputed'. k.x, x. of new rows is unknown")
@pytest.mark.parametrize("scaling", ["unit-variance", "cosine"])
def test_a_stack_of_kernel_matrices(scaling):
    K = np.stack([pairwise_kernels(X, metric="rbf", gamma=gamma) for gamma in (0.05, 0.2)])
    model = MultiKernelPowerKMeans(kernels="precomputed", kernel_scaling=scaling)
    search = searched(model, K)
    assert found(search, K)
    assert search.n_rows_used_ == 120


def test_views_are_columns():
    views = [("rbf", slice(0, 2)), ("heat", slice(2, 4))]
    table = np.hstack([X, -X[:, ::-1]])
    assert found(searched(MultiKernelPowerKMeans(kernels=views), table), table)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_keep_their_columns(library):
    frames = pytest.importorskip(library)
    columns = {"a": X[:, 0], "name": ["x"] * len(X), "b": X[:, 1]}
    table = frames.DataFrame(columns)
    search = searched(MultiKernelPowerKMeans(kernels=[("rbf", ["a", "b"])]), table)
    assert found(search, table)
    assert search.feature_names_in_.tolist() == ["a", "name", "b"]
    numbers = table[["a", "b"]]
    assert found(searched(KernelPowerKMeans(), numbers), numbers)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_of_columns_reach_each_fit(library):
    frames = pytest.importorskip(library)
    table = frames.DataFrame(dict(zip("ab", X.T, strict=True)))
    steps = make_column_transformer((StandardScaler(), ["a", "b"]))
    search = searched(
        make_pipeline(steps, KMeans(n_init=1)),
        table,
        {"kmeans__n_clusters": [2, 3]},
        scoring="jaccard",
    )
    assert found(search, table)
    # Data without clusters have the names too.
    assert not np.isnan(search.results_["mean_reference"]).all()


def test_rows_on_disk_with_names(tmp_path):
    polars = pytest.importorskip("polars")
    polars.DataFrame(dict(zip("ab", X.T, strict=True))).write_parquet(tmp_path / "X.parquet")
    rows = open_rows(tmp_path / "X.parquet")
    model = MultiKernelPowerKMeans(kernels=[("rbf", ["a", "b"])])
    search = searched(model, rows, scoring="jaccard")
    assert found(search, rows)
    assert not np.isnan(search.results_["mean_reference"]).all()
    assert not np.isnan(search.results_["neighbor_consistency"]).any()


def test_rows_on_disk(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for rows in (mapped, open_rows(tmp_path / "X.npy")):
        search = searched(KernelPowerKMeans(), rows)
        assert found(search, rows)
    np.testing.assert_array_equal(search.labels_, searched(KernelPowerKMeans(), X).labels_)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("kind", ["rows", "csr", "pandas", "list"])
def test_one_cluster_is_predicted_for_rows_of_each_kind(kind, tmp_path):
    noise = np.random.default_rng(0).standard_normal((80, 3))
    np.save(tmp_path / "X.npy", noise)
    made = {
        "rows": lambda: open_rows(tmp_path / "X.npy"),
        "csr": lambda: scipy.sparse.csr_array(noise),
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(noise, columns=list("abc")),
        "list": noise.tolist,
    }
    rows = made[kind]()
    search = searched(KernelPowerKMeans(kernel="rbf"), rows, {"n_clusters": [4, 5]})
    assert search.best_estimator_ is None
    np.testing.assert_array_equal(search.predict(rows), np.zeros(80))
    with pytest.raises(ValueError, match="feature"):
        search.predict(X)


def test_a_dask_array():
    dask = pytest.importorskip("dask.array")
    search = searched(KernelPowerKMeans(), dask.from_array(X, chunks=(50, 2)))
    assert found(search)
    np.testing.assert_array_equal(search.labels_, searched(KernelPowerKMeans(), X).labels_)


def test_tensors():
    torch = pytest.importorskip("torch")
    search = searched(KernelPowerKMeans(), torch.tensor(X))
    assert found(search)
    assert search.labels_.tolist() == searched(KernelPowerKMeans(), X).labels_.tolist()


def test_lists_and_texts():
    assert found(searched(KMeans(n_init=3), X.tolist()))
    words = np.array(["red green blue", "one two three", "cat dog cow"])[Y].tolist()
    texts = [f"{text} {number}" for number, text in enumerate(words)]
    search = searched(
        make_pipeline(TfidfVectorizer(), KMeans(n_init=3)), texts, {"kmeans__n_clusters": [2, 3]}
    )
    assert found(search)


@pytest.mark.parametrize(
    ("estimator", "grid", "message"),
    [
        (AgglomerativeClustering(), GRID, "AgglomerativeClustering.* has no method predict"),
        (KMeans, GRID, r"KMeans is a class; give an estimator, KMeans\(\)"),
        (KMeans(), {"n_cluster": [2]}, "Invalid parameter 'n_cluster' for estimator KMeans"),
        (KMeans(), {"n_clusters": [2, 61]}, "n_samples=120 is too few.* at least 122 rows"),
        (KMeans(), {"n_clusters": 3}, "n_clusters"),
        (KMeans(), [], r"param_grid=\[\] holds no candidates"),
        (KernelPowerKMeans(), {"kernel": ["rbf", "precomputed"]}, "some candidates take rows"),
        (KernelPowerKMeans(kernel="precomputed"), GRID, "square matrix .* got shape .120, 2."),
    ],
)
def test_what_cannot_be_searched_is_refused_before_any_fit(estimator, grid, message, monkeypatch):
    monkeypatch.setattr("kernelmeans.search.race.evaluate", None)
    with pytest.raises((TypeError, ValueError), match=message):
        searched(estimator, X, grid)


@pytest.mark.parametrize(
    ("grid", "error", "message"),
    [
        (GRID, ValueError, r"'n_clusters' is no .* Pipeline\. Name it 'kmeans__n_clusters'\.$"),
        (range(2, 8), TypeError, r"got range\(2, 8\)\. Give values as \{'kmeans__n_clusters': \["),
        (3, TypeError, r"got 3\. Give values as \{'kmeans__n_clusters': \[...\]\}"),
        ([2, 3], TypeError, r"got 2 in a list\. Give values as \{'kmeans__n_clusters': \[...\]\}"),
    ],
)
def test_grids_that_name_nothing_are_refused(grid, error, message):
    with pytest.raises(error, match=message):
        searched(make_pipeline(StandardScaler(), KMeans()), X, grid)
