"""The commands: their options, help and the demo."""

import inspect
import json
import runpy
from pathlib import Path

import polars as pl
import pytest

import kernelmeans
from kernelmeans import KernelPowerKMeans
from kernelmeans.cli.app import app
from kernelmeans.cli.options import Value, estimator_parameters, for_fit


@pytest.fixture
def defaults(data) -> dict[str, object]:
    """Return the parameters that ``fit data.csv`` gives to the estimator."""
    return estimator_parameters(app.commands["fit"].make_context("fit", [str(data)]))


def test_defaults_are_the_estimators(defaults):
    signature = inspect.signature(KernelPowerKMeans).parameters
    assert defaults.pop("random_state") == 0  # the command line repeats itself by default
    assert defaults == {name: signature[name].default for name in defaults}


def test_every_estimator_parameter_has_its_option(defaults):
    """But kernel_params, for callables, and verbose, which --quiet is for; -k may be a range."""
    missing = inspect.signature(KernelPowerKMeans).parameters.keys() - defaults.keys()
    assert missing == {"kernel_params", "verbose", "n_clusters"}
    assert "n_clusters" in for_fit()


@pytest.mark.parametrize(
    "name", sorted(for_fit().keys() & KernelPowerKMeans._parameter_constraints.keys())
)
def test_options_take_the_names_that_the_estimator_takes(name):
    constraints = KernelPowerKMeans._parameter_constraints[name]
    allowed = [each.options for each in constraints if hasattr(each, "options")]
    assert set(Value(for_fit()[name].kind).names) - {"none"} == set().union(*allowed)


@pytest.mark.parametrize(
    ("value", "expected"), [("auto", "auto"), ("1", 1), ("300", 300), ("0.99", 0.99)]
)
def test_components_are_a_number_or_a_fraction(data, value, expected):
    context = app.commands["fit"].make_context("fit", [str(data), "--components", value])
    found = context.params["n_components"]
    assert found == expected
    assert type(found) is type(expected)


def test_components_of_another_kind(refused, data):
    message = refused("fit", data, "--components", "many")
    assert "--components" in message
    assert "'many'" in message
    message = refused("fit", data, "--components", "1.0")
    assert "--components must be auto, an int in the range [1, inf) or a float" in message


@pytest.mark.parametrize("command", ["fit", "choose", "predict", "demo"])
def test_help_is_grouped_and_complete(run, command):
    result = run(command, "--help")
    assert result.exit_code == 0
    for parameter in app.commands[command].params:
        if parameter.param_type_name == "option":
            assert parameter.opts[0] in result.output
    assert "\nFiles:\n" in result.output
    assert result.output.count("Options:") == 1


def test_help_says_defaults_and_what_texts_are(run):
    fit, demo = (" ".join(run(command, "--help").output.split()) for command in ("fit", "demo"))
    assert "by default that of the input" in fit
    assert "by default the current one" in demo
    for option in ("--label-column COLUMN", "--separator SEPARATOR", "--device DEVICE"):
        assert option in fit
    assert "auto is 1 for k-means++ and given starts, and 10 otherwise" in fit
    assert "by default where X is" in fit
    assert "the same seed and input give the same clusters" in fit


def test_help_says_the_exit_codes(run):
    text = run("--help").output
    assert all(f"{code} {word}" in text for code, word in [(0, "done"), (130, "interrupted")])


def test_version(run):
    assert run("--version").output == f"kernelmeans {kernelmeans.__version__}\n"


@pytest.mark.parametrize("module", ["kernelmeans", "kernelmeans.cli", "kernelmeans_paper"])
def test_modules_run_the_command_line(module, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", [module, "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__")
    assert ended.value.code == 0
    assert kernelmeans.__version__ in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_demo_does_the_main_job_on_digits(run):
    result = run("demo", "-o", "out")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("kernelmeans fit out/digits.csv -k 10 --no-scale")
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "digits.clusters.csv",
        "digits.csv",
        "digits.labels.csv",
        "digits.model.skops",
        "digits.png",
        "digits.summary.json",
    ]
    summary = json.loads(Path("out/digits.summary.json").read_text())
    assert (summary["rows"], summary["features"], summary["clusters"]) == (
        1797,
        61,
        10,
    )  # three pixels are always white
    assert summary["agreement"]["nmi"] > 0.8
    assert pl.read_csv("out/digits.labels.csv")["label"].n_unique() == 10


@pytest.mark.usefixtures("folder")
def test_demo_does_not_overwrite(refused):
    Path("digits.csv").write_text("mine")
    assert "--force" in refused("demo")
    assert Path("digits.csv").read_text() == "mine"


@pytest.mark.usefixtures("folder")
def test_a_refused_demo_leaves_nothing(run):
    Path("digits.labels.csv").write_text("mine")
    result = run("demo", "-q")
    assert result.exit_code == 2
    assert "would overwrite digits.labels.csv" in result.stderr
    assert [path.name for path in Path().iterdir()] == ["digits.labels.csv"]
