"""Names that are not known are refused with the one that was probably meant."""

import inspect
import re

import numpy as np
import pytest
from click.testing import CliRunner

from kernelmeans import ClusterSearch, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans._text import SYNONYMS
from kernelmeans.baselines import MKKM
from kernelmeans.cli.app import app
from kernelmeans.estimators.kernels import resolve_kernel
from kernelmeans.heat import GraphKernel, HeatKernel
from kernelmeans.kernels import Kernel, resolve_gamma
from kernelmeans.rows import open_rows
from kernelmeans.tables import TableTransformer

X = np.random.default_rng(0).random((30, 3))


def named_parameters():
    """Parameters of estimators, and the names that their docstrings list."""
    for cls in (KernelPowerKMeans, MultiKernelPowerKMeans, MKKM, ClusterSearch, TableTransformer):
        text = inspect.cleandoc(cls.__doc__).replace("\\\n", "").split("Attributes")[0]
        for parameter, kind in re.findall(r"^(\w+) : (.*\".*)$", text, re.MULTILINE):
            for name in dict.fromkeys(re.findall(r'"([^"]+)"', kind)):
                if parameter not in ("memory_budget", "device"):
                    yield pytest.param(
                        cls, parameter, name, id=f"{cls.__name__}-{parameter}-{name}"
                    )


def refused(cls, parameter, value):
    search = cls is ClusterSearch
    model = cls(KernelPowerKMeans(2), {"n_clusters": [2, 3]}) if search else cls()
    with pytest.raises(ValueError, match="must be a str among") as caught:
        model.set_params(**{parameter: value}).fit(X)
    return str(caught.value)


@pytest.mark.parametrize("change", [str.upper, lambda name: f"{name}s"], ids=["upper", "plural"])
@pytest.mark.parametrize(("cls", "parameter", "name"), list(named_parameters()))
def test_slips(cls, parameter, name, change):
    """Of every name that an estimator's docstring lists."""
    value = change(name)
    message = refused(cls, parameter, value)
    assert message.startswith(f"{parameter}={value!r} is not known. Did you mean {name!r}? The ")


def test_nothing_is_suggested_for_what_is_like_no_name():
    assert refused(KernelPowerKMeans, "kernel", "qqqq").startswith("The 'kernel' parameter of")
    assert refused(KernelPowerKMeans, "init", 3).startswith("The 'init' parameter of")


@pytest.mark.parametrize(
    ("parameter", "value", "meant"),
    [
        ("kernel", "gaussian", "'rbf'"),
        ("kernel", "Squared-Exponential", "'rbf'"),
        ("kernel", "knn", "'heat'"),
        ("kernel", "nearest_neighbors", "'heat'"),
        ("kernel", "polynomial", "'poly'"),
        ("approximation", "nystroem", "'landmarks'"),
        ("approximation", "exact", "None"),
        ("approximation", "none", "None"),
        ("gamma", "auto", "'rms'"),
        ("metric", "minkowski", "'precomputed'"),
        ("metric", "taxicab", "'manhattan'"),
        ("init", "forgy", "'random'"),
    ],
)
def test_synonyms_of_the_field(parameter, value, meant):
    message = refused(KernelPowerKMeans, parameter, value)
    assert message.startswith(f"{parameter}={value!r} is not known. Did you mean {meant}? ")


def test_every_synonym_stands_for_a_name():
    allowed = {parameter.values[2] for parameter in named_parameters()} | {"None", "cuda"}
    assert set(SYNONYMS.values()) <= allowed
    assert not set(SYNONYMS) & (allowed - {"auto"})
    assert all(re.fullmatch(r"[a-z0-9]+", name) for name in SYNONYMS)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Kernel("gaussian", {}), "kernel='gaussian' is not known. Did you mean 'rbf'?"),
        (lambda: resolve_kernel("RBF", X), "kernel='RBF' is not known. Did you mean 'rbf'?"),
        (lambda: resolve_gamma("medium", "rbf", X), "gamma='medium' .* mean 'median'?"),
        (lambda: HeatKernel(metric="cosin"), "metric='cosin' .* mean 'cosine'?"),
        (lambda: HeatKernel(n_neighbors="aut"), "n_neighbors='aut' .* mean 'auto'?"),
        (lambda: HeatKernel(density="aut"), "density='aut' .* mean 'auto'?"),
        (lambda: GraphKernel(t="aut"), "t='aut' .* mean 'auto'?"),
    ],
)
def test_functions(call, said):
    with pytest.raises(ValueError, match=said.replace("?", r"\? Allowed: ")):
        call()


@pytest.mark.parametrize(
    ("kernels", "said"),
    [
        (["gaussian"], "Did you mean 'rbf'?"),
        ([{"kernel": "rbf", "gama": 1}], "Did you mean 'gamma'?"),
        (
            [{"kernel": "heat", "metric": "cosin"}],
            "metric='cosin' is not known. Did you mean 'cosine'?",
        ),
    ],
)
def test_kernels_of_views(kernels, said):
    with pytest.raises(ValueError, match=said.replace("?", r"\?")) as caught:
        MultiKernelPowerKMeans(2, kernels=kernels).fit(X)
    assert "kernels[0]" in str(caught.value)


def test_devices():
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"device='gpu' cannot be used .* mean 'cuda'\?"):
        KernelPowerKMeans(2, device="gpu").fit(X)


def test_columns_of_rows_on_disk(tmp_path):
    polars = pytest.importorskip("polars")
    path = tmp_path / "a.parquet"
    polars.DataFrame({"height": [1.0, 2.0], "width": [3.0, 4.0]}).write_parquet(path)
    rows = open_rows(path)
    with pytest.raises(ValueError, match=r"no column 'heigth'.* Did you mean 'height'\?"):
        MultiKernelPowerKMeans(1, kernels=[("rbf", ["heigth"])]).fit(rows)
    with pytest.raises(ValueError, match=r"'heigth', which is no column.* mean 'height'\?"):
        open_rows(path, columns=["heigth"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--kernel", "gaussian"], "'gaussian' is not one of: heat, rbf"),
        (["--approximation", "exact"], "Did you mean 'none'?"),
        (["--missing", "Drop"], "Did you mean 'drop'?"),
    ],
)
def test_command_line(tmp_path, options, said):
    table = tmp_path / "rows.csv"
    table.write_text("a,b\n1,2\n3,4\n")
    result = CliRunner().invoke(app, ["fit", str(table), *options])
    assert result.exit_code == 2
    assert said in result.stderr
    assert " Did you mean '" in result.stderr
