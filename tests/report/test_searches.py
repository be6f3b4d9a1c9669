"""Facts of a search, as the report and `kernelmeans choose` print them."""

import json

import pytest
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
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
        assert one["others"] == {"kernelpowerkmeans__kernel": "rbf"}
        assert one["stability"] == results["mean_stability"][row]
        assert one["smallest_jaccard"] == min(one["jaccard"]) == results["min_jaccard"][row]
        assert one["found_again"] is bool(results["valid"][row])
    assert answer(found) == f"{search.verdict_}."
    report = ClusterReport(search, X).to_dict()
    assert json.loads(json.dumps(report["stability"], allow_nan=False))["chosen"] == found["chosen"]
