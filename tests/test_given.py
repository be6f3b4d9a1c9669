"""What is refused wherever users give it: masked values, and objects that are no arrays."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline

import data
from kernelmeans import (
    ClusterReport,
    ClusterSearch,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    describe,
)
from kernelmeans.heat import HeatKernel
from kernelmeans.kernels import (
    Kernel,
    du2015_family,
    du2015_kernels,
    geodesic_kernel,
    width_family,
)
from kernelmeans.metrics import (
    eigengap,
    kernel_inertia,
    kernel_silhouette_samples,
    match_clusters,
    neighbor_consistency,
    stability,
)
from kernelmeans.models import Model
from kernelmeans.plotting.points import map_points
from kernelmeans.rows import Rows
from kernelmeans.simulate import make_rings
from kernelmeans.tables import TableTransformer

X, LABELS = data.blobs(48, 2)
WEIGHT = np.ones(len(X))
K = X @ X.T
STACK = np.stack([K, K**2])


def single(**given):
    return KernelPowerKMeans(3, random_state=0, **given)


RBF, GIVEN = single(kernel="rbf").fit(X), single(kernel="precomputed").fit(K)
SEVERAL = MultiKernelPowerKMeans(3, kernels=["rbf", "linear"], random_state=0)
STACKED = MultiKernelPowerKMeans(3, kernels="precomputed", random_state=0).fit(STACK)
SEARCH = ClusterSearch(single(), {"n_clusters": [2]}, n_splits=2, random_state=0)
PIPELINE = make_pipeline(TableTransformer(), single())
ROWS = {
    "fit": (single().fit, X),
    "fit several": (SEVERAL.fit, X),
    "fit a kernel matrix": (single(kernel="precomputed").fit, K),
    "fit a graph": (single(kernel="graph").fit, np.abs(K)),
    "fit a stack": (STACKED.fit, STACK),
    "predict": (RBF.predict, X),
    "predict several": (SEVERAL.fit(X).predict, X),
    "predict a stack": (STACKED.predict, STACK),
    "transform": (RBF.transform, X),
    "score": (RBF.score, X),
    "kernel_inertia": (lambda X: kernel_inertia(RBF, X, LABELS), X),
    "silhouettes": (lambda X: kernel_silhouette_samples(RBF, X, LABELS), X),
    "neighbor_consistency": (lambda X: neighbor_consistency(X, LABELS), X),
    "kernel": (lambda X: Kernel("linear", {})(X, X), X),
    "geodesic_kernel": (geodesic_kernel, X),
    "geodesic_kernel, second": (lambda Y: geodesic_kernel(X, Y), X),
    "width_family": (width_family, X),
    "du2015_family": (du2015_family, X),
    "du2015_kernels": (du2015_kernels, X),
    "HeatKernel": (HeatKernel().fit, X),
    "heat features": (HeatKernel().fit(X).features, X),
}
#: Functions of a parameter that holds no rows, what it is called, and sound values.
OTHERS = {
    "weights of a fit": (lambda w: single().fit(X, sample_weight=w), "sample_weight", WEIGHT),
    "weights of a score": (lambda w: RBF.score(X, sample_weight=w), "sample_weight", WEIGHT),
    "weights of a cost": (
        lambda w: kernel_inertia(RBF, X, LABELS, sample_weight=w),
        "sample_weight",
        WEIGHT,
    ),
    "weights of a table": (
        lambda w: TableTransformer().fit(X, sample_weight=w),
        "sample_weight",
        WEIGHT,
    ),
    "weights of profiles": (
        lambda w: describe(LABELS, X, sample_weight=w),
        "sample_weight",
        WEIGHT,
    ),
    "init": (lambda start: single(init=start).fit(X), "init", X[:3]),
    "init by a callable": (
        lambda start: single(init=lambda *_: start).fit(X),
        r"init\(X\)",
        X[:3],
    ),
    "diagonal": (lambda d: GIVEN.transform(K, diagonal=d), "diagonal", np.diagonal(K)),
    "coordinates": (lambda xy: map_points(RBF, X, coordinates=xy), "coordinates", X),
    "labels of a cost": (lambda labels: kernel_inertia(RBF, X, labels), "labels", LABELS),
    "labels of neighbours": (lambda labels: neighbor_consistency(X, labels), "labels", LABELS),
    "labels of profiles": (lambda labels: describe(labels, X), "labels", LABELS),
    "stability": (lambda labels: stability(LABELS, labels), ".*labels.*", LABELS),
    "earlier labels": (lambda like: single().fit(X, like=like), "like", LABELS),
    "match_clusters": (lambda labels: match_clusters(labels, LABELS), ".*", LABELS),
    "eigenvalues": (eigengap, "eigenvalues", np.array([1.0, 0.9, 0.1])),
}
ALL = {**{name: (way, "X|Y", sound) for name, (way, sound) in ROWS.items()}, **OTHERS}
each_way = pytest.mark.parametrize("name", ALL)


def masked(values, places=1):
    """A copy whose first values are wrong under the mask."""
    found = np.ma.array(np.array(values), mask=False)
    found.data.flat[:places] = 77
    found.mask.flat[:places] = True
    return found


class Endless:
    """Cut into objects of its own type, as annotated data are."""

    shape = (48, 2)

    def __len__(self):
        return 48

    def __getitem__(self, rows):
        return Endless()


def annotated():
    return pytest.importorskip("anndata").AnnData(np.ones((48, 2), np.float32))


@each_way
def test_masked_values_are_refused(name):
    way, parameter, sound = ALL[name]
    with pytest.raises(ValueError, match=rf"^({parameter}): 2 values are masked.* filled"):
        way(masked(sound, 2))


@each_way
def test_a_mask_without_masked_values_does_not_count(name):
    way, _, sound = ALL[name]
    way(masked(sound, 0))


@pytest.mark.parametrize("name", ["fit", "fit a stack", "weights of a fit"])
def test_masked_values_in_a_list_are_refused(name):
    way, _, sound = ALL[name]
    with pytest.raises(ValueError, match="1 value is masked"):
        way([masked(sound[0]), *sound[1:]] if sound.ndim > 1 else [masked(sound)])


def test_masked_rows_on_disk_are_refused(tmp_path):
    class Masked:
        shape, dtype = X.shape, X.dtype

        def __getitem__(self, rows):
            return masked(X)[rows]

    with pytest.raises(ValueError, match="rows 0 to 47: 1 value is masked"):
        single().fit(Rows(Masked(), "a variable"))
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ValueError, match=r"^X: 1 value is masked"):
        single().fit(masked(np.load(tmp_path / "X.npy", mmap_mode="r")))


def test_masked_chunks_are_refused():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"got MaskedArray; .* X\.map_blocks"):
        single().fit(da.from_array(masked(X), (12, 2)))


TABLES = {
    "float": X,
    "float32": X.astype(np.float32),
    "int": (10 * X).astype(int),
    "bool": X > 0,
    "text": np.where(X > 0, "yes", "no"),
    "objects": np.where(X > 0, 1, 2).astype(object),
}


@pytest.mark.parametrize("kind", TABLES)
def test_masked_values_of_a_table_are_missing(kind):
    table = np.ma.array(TABLES[kind], mask=False)
    table[::5, 0] = table[1::5, 1] = np.ma.masked
    missing = pd.DataFrame(np.where(table.mask, None, table.data.astype(object)))
    if kind.startswith("float"):
        missing = missing.astype(table.dtype)
    expected = TableTransformer().fit(missing)
    found = TableTransformer().fit(table)
    assert_array_equal(found.transform(table), expected.transform(missing))
    assert found.report_ == expected.report_
    described = (describe(LABELS, one).columns for one in (table, missing))
    pd.testing.assert_frame_equal(*described)


@pytest.mark.parametrize(
    "way",
    [
        lambda model, X: model.predict(X),
        lambda model, X: map_points(model, X).labels,
        lambda model, X: describe(model, X).columns.value.tolist(),
        lambda model, X: ClusterReport(model, X).verdict,
        lambda model, X: (
            ClusterSearch(
                PIPELINE, {"kernelpowerkmeans__n_clusters": [3]}, n_splits=2, random_state=0
            )
            .fit(X)
            .labels_
        ),
    ],
    ids=["predict", "map", "describe", "report", "search"],
)
def test_a_pipeline_takes_masked_values_for_missing_ones(way):
    table = np.ma.array(X, mask=False)
    table[:5, 0] = np.ma.masked
    missing = table.filled(np.nan)
    model = PIPELINE.fit(missing)
    assert_array_equal(way(model, table), way(model, missing))


@pytest.mark.parametrize(
    "way",
    [
        lambda X: map_points(KMeans(3, n_init=1, random_state=0).fit(np.asarray(X)), X),
        lambda X: ClusterReport(RBF, X),
        SEARCH.fit,
    ],
    ids=["map", "report", "search"],
)
def test_masked_values_are_missing_to_other_estimators(way):
    with pytest.raises(ValueError, match="NaN"):
        way(masked(X))


def test_objects_whose_items_have_names_are_refused():
    class Named:
        def __len__(self):
            return 2

        def __getitem__(self, name):
            return {"a": 1, "b": 2}[name]

    with pytest.raises(TypeError, match="X has the type Named, and so is neither"):
        single().fit(Named())


@pytest.mark.parametrize(
    "way",
    [
        single().fit,
        RBF.predict,
        TableTransformer().fit,
        SEARCH.fit,
        lambda X: describe(RBF, X),
        lambda row: Model.of(PIPELINE.fit(X)).label(row),
    ],
    ids=["fit", "predict", "table", "search", "describe", "label"],
)
@pytest.mark.parametrize("given", [{"a": 1.0, "b": 2.0}, {"a": [1.0], "b": [2.0]}])
def test_a_dict_is_refused_with_the_way_to_a_table(way, given):
    says = r"X has the type dict, .* pandas\.DataFrame\(X\), or pandas\.DataFrame\(\[X\]\)"
    with pytest.raises(TypeError, match=says):
        way(given)


@pytest.mark.parametrize("give", [Endless, annotated])
@pytest.mark.parametrize(
    "name", [*ALL, "table", "profiles", "search", "report", "map", "describe", "nested"]
)
def test_objects_without_values_are_refused_at_once(name, give):
    more = {
        "table": TableTransformer().fit,
        "profiles": lambda X: describe(np.zeros(len(X)), X),
        "describe": lambda given: describe(RBF, X, X=given),
        "search": SEARCH.fit,
        "report": lambda X: ClusterReport(RBF, X),
        "map": lambda X: map_points(RBF, X),
        "nested": lambda X: single().fit([X, X]),
    }
    way = more.get(name) or ALL[name][0]
    matrices = r"adata\.X or adata\.obsm.* for kernel='graph' adata\.obsp.* adata\.to_df\(\)"
    words = "give its matrix" if give is Endless else matrices
    with pytest.raises(TypeError, match=f"has the type (Endless|AnnData).*{words}"):
        way(give())


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        pd.DataFrame,
        lambda rows: [*map(tuple, rows)],
        lambda rows: [*map(np.array, rows)],
        lambda rows: pytest.importorskip("polars").DataFrame(np.array(rows)),
        lambda rows: pytest.importorskip("torch").tensor(rows),
        lambda rows: pytest.importorskip("dask.array").from_array(np.array(rows), (12, 2)),
        lambda rows: scipy.sparse.csr_matrix(rows),
        lambda rows: Sequence(rows),
    ],
)
def test_what_holds_values_is_taken(make):
    labels = single(kernel="linear").fit(make(X.tolist())).labels_
    assert_array_equal(np.asarray(labels), single(kernel="linear").fit(X).labels_)


class Sequence:
    """Rows that are lists, by numbers alone."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, row):
        return self.rows[row]


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda n: neighbor_consistency(X, LABELS, n_neighbors=n), "n_neighbors"),
        (lambda n: map_points(RBF, X, max_points=n), "max_points"),
        (lambda n: make_rings(points_per_blob=n), "points_per_blob"),
    ],
)
def test_true_is_no_integer(function, name):
    with pytest.raises(ValueError, match=f"{name}=True"):
        function(True)
