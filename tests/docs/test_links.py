"""Estimators in a notebook link to their pages of the site."""

import re
import tomllib
from pathlib import Path

import pytest
from sklearn.pipeline import make_pipeline

from kernelmeans import (
    ClusterSearch,
    KernelKMeans,
    KernelPowerKMeans,
    MultiKernelPowerKMeans,
    PowerKMeans,
)
from kernelmeans.baselines import MKKM, RKKM, RMKKM
from kernelmeans.tables import TableTransformer

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
ESTIMATORS = [
    KernelPowerKMeans(),
    MultiKernelPowerKMeans(),
    KernelKMeans(),
    PowerKMeans(),
    MKKM(),
    RKKM(),
    RMKKM(),
    TableTransformer(),
    ClusterSearch(KernelPowerKMeans(), {"n_clusters": [2, 3]}),
]


def pages():
    """The files that autosummary makes of the reference."""
    module = ""
    for line in (ROOT / "docs/reference/index.md").read_text("utf-8").splitlines():
        if named := re.match(r"\.\. (?:currentmodule|automodule):: (\S+)", line):
            module = named[1]
        elif entry := re.fullmatch(r"   (\w[\w.]*)", line):
            yield f"reference/generated/{module}.{entry[1]}.html"


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_links(estimator):
    html = estimator._repr_html_()
    linked = re.findall(rf'href="{PROJECT["urls"]["Documentation"]}en/latest/([^"]+)"', html)
    assert linked[0] in set(pages())
    assert linked[0].endswith(f".{type(estimator).__name__}.html")


def test_links_in_a_pipeline():
    html = make_pipeline(TableTransformer(), KernelPowerKMeans())._repr_html_()
    assert "generated/kernelmeans.tables.TableTransformer.html" in html
    assert "generated/kernelmeans.KernelPowerKMeans.html" in html


def test_classes_of_others_have_no_page():
    class Mine(KernelPowerKMeans):
        pass

    assert Mine()._get_doc_link() == ""
