"""Facts of a search, as the report and `kernelmeans choose` print them."""

import json

import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelmeans import ClusterReport, ClusterSearch, KernelPowerKMeans
from kernelmeans.report.searches import answer, found_by


@pytest.mark.usefixtures("short_searches")
def test_candidates_have_their_parameters_and_scores():
    X, _ = make_blobs(200, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    pipeline = make_pipeline(StandardScaler(), KernelPowerKMeans(random_state=0))
    grid = {"kernelpowerkmeans__n_clusters": [2, 3], "kernelpowerkmeans__kernel": ["rbf"]}
    search = ClusterSearch(pipeline, grid, random_state=0).fit(X)
    found, results = found_by(search), search.results_
    assert found["candidates"][found["chosen"]]["clusters"] == found["clusters"] == 3
    for row, one in enumerate(found["candidates"]):
        assert one["others"] == {"kernel": "rbf"}
        assert one["stability"] == results["mean_stability"][row]
        assert one["smallest_jaccard"] == min(one["jaccard"]) == results["min_jaccard"][row]
        assert one["found_again"] is bool(results["valid"][row])
    assert answer(found) == f"{search.verdict_}."
    report = ClusterReport(search, X).to_dict()
    assert json.loads(json.dumps(report["stability"], allow_nan=False))["chosen"] == found["chosen"]


@pytest.mark.usefixtures("short_searches")
def test_the_number_of_clusters_is_no_other_parameter_whatever_its_name():
    grid = {"mixture__n_components": [2, 3], "mixture__covariance_type": ["full", "tied"]}
    pipeline = Pipeline([("scale", StandardScaler()), ("mixture", GaussianMixture())])
    search = ClusterSearch(pipeline, grid, random_state=0).fit(load_iris().data)
    others = [one["others"] for one in found_by(search)["candidates"]]
    assert others == [{"covariance_type": kind} for kind in ("full", "full", "tied", "tied")]
