import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kernelmeans import describe
from kernelmeans.cli.outputs import as_json
from kernelmeans.cli.summary import as_text, summarized


def summary(**changes):
    plain = {"cost": 10.0, "steps": 3, "seconds": 0.5}
    content = {
        "rows": 7,
        "features": 2,
        "clusters": 2,
        "sizes": [3, 4],
        "cost": 10.0,
        "plain": plain,
        "annealed_cost": 10.0,
        "percent_above_plain": 0.0,
        "written": "annealed",
        "critical_power": -2.0,
        "start_power": -2.4,
        "approximation": {
            "kind": "exact",
            "reason": "approximation=None",
            "left_out": 0.0,
            "cost_bounds": [10.0, 10.0],
        },
        "steps": 40,
        "parameters": {"n_swaps": "auto"},
        "seconds": 1.25,
        "seconds_in_all": 9.5,
        "files": {"labels": "a.csv", "model": "a.skops"},
    }
    return content | changes


@pytest.mark.parametrize(
    ("percent", "words"),
    [
        (-1.234, "1.23 % lower than plain kernel k-means"),
        (0.0, "the same as plain kernel k-means"),
        (-0.004, "the same as plain kernel k-means"),
        (0.25, "0.25 % higher, but with fewer edges between clusters, than plain kernel k-means"),
    ],
)
def test_comparison_is_honest(percent, words):
    text = " ".join(as_text(summary(percent_above_plain=percent)).split())
    assert words in text


def test_plain_labels_are_written_where_they_cost_less():
    lost = {"written": "plain", "annealed_cost": 10.2, "percent_above_plain": 2.0}
    text = " ".join(as_text(summary(**lost)).split())
    assert "10, by plain kernel k-means from the same start, whose labels are written" in text
    assert "ended 2.00 % higher (10.2)" in text


def test_what_the_clusters_are_comes_before_technical_lines():
    described = describe([0] * 3 + [1] * 4, [[0.0]] * 3 + [[1.0]] * 4)
    text = as_text(summary(), described)
    places = [text.index(words) for words in ("cluster sizes", "Cluster 0", "cost", "9.50 s, the")]
    assert places == sorted(places)
    assert text.count("in 2 clusters") == 1
    assert "rows\n\ncost" in text


def test_powers():
    powers = "from -2.4 (critical power -2), 40 steps"
    assert f"{powers}, those of any swap moves included" in " ".join(as_text(summary()).split())
    assert f"{powers}\n" in as_text(summary(parameters={"n_swaps": 0}))
    assert "40 steps, all of them hard" in as_text(summary(start_power=None))
    assert "from -2.4, 40 steps" in as_text(summary(critical_power=None))


def test_an_approximation_says_what_it_leaves_out():
    assert "approximation" not in as_text(summary())
    found = {"kind": "landmarks", "reason": "why", "left_out": 0.0123, "cost_bounds": [9.5, 10.0]}
    text = " ".join(as_text(summary(approximation=found)).split())
    assert "landmarks (why); 1.23 % of the trace left out" in text
    assert "exact cost of these clusters between 9.5 and 10" in text
    several = found | {"kind": ["rff", "explicit"], "reason": ["a", "b"], "left_out": None}
    assert "rff, explicit (a; b)" in as_text(summary(approximation=several))


def test_many_sizes_are_wrapped():
    lines = as_text(summary(sizes=[1000] * 60)).splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.count("1000") for line in lines) == 60


def test_empty_clusters_have_size_0():
    model = SimpleNamespace(_n_centroids=4, outliers=None)
    found = summarized(Path("a.csv"), model, np.array([0, 2, 2]), {})
    assert found["sizes"] == [1, 0, 2, 0]


def test_infinities_are_null_in_json():
    content = {"a": -math.inf, "b": {"c": math.nan, "d": np.float64(1.5)}, "e": "straße"}
    expected = '{"a": null, "b": {"c": null, "d": 1.5}, "e": "straße"}'
    assert " ".join(as_json(content).split()) == expected.replace("{", "{ ").replace("}", " }")
