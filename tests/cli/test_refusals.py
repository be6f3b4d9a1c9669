"""Bad input, outputs in the way, missing extras and interruptions, through the commands."""

import json
import signal
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
import scipy.sparse

import kernelmeans.cli
from cli.messages import in_python
from kernelmeans import KernelPowerKMeans
from kernelmeans.cli import fit as command
from kernelmeans.cli.app import app


def test_warnings_name_options_as_they_are_typed(fit):
    said = fit("--n-neighbors", 60).stderr
    assert "--kernel heat: --n-neighbors 60 is not less than" in said
    assert "leave --n-neighbors auto" in said
    assert "n_neighbors" not in said


@pytest.mark.parametrize(
    ("options", "parameters", "typed", "python"),
    [
        (
            ["--approximation", "rff"],
            {"approximation": "rff"},
            "--approximation rff does not go with --kernel heat; use None (the graph",
            "approximation='rff' does not go with kernel='heat'; use None (the graph",
        ),
        (
            ["--approximation", "landmarks", "--components", 0.5],
            {"approximation": "landmarks", "n_components": 0.5},
            "give their number, or use --components auto",
            "give their number, or use n_components='auto'",
        ),
        (
            ["--kernel", "linear", "--degree", 2.5],
            {"kernel": "linear", "degree": 2.5},
            "--degree 2.5 has no effect with --kernel linear",
            "degree=2.5 has no effect with kernel='linear'",
        ),
        (
            ["--memory-budget", "much"],
            {"memory_budget": "much"},
            "--memory-budget much is no size",
            "memory_budget='much' is no size",
        ),
        (
            ["--eta", 0.5],
            {"eta": 0.5},
            "Error: --eta must be auto or a float in the range [1.0, inf). Got 0.5",
            "The 'eta' parameter of KernelPowerKMeans must be a ",
        ),
        (
            ["--max-iter", 1, "--eta", 1.001],
            {"max_iter": 1, "eta": 1.001},
            "within --max-iter 1 steps",
            "within max_iter=1 steps",
        ),
    ],
)
def test_messages_in_both_dialects(run, data, blobs, options, parameters, typed, python):
    said = run("fit", data, "-k", 3, "--drop", "kind", *options).stderr
    assert typed in said
    assert not in_python(said)
    with pytest.raises((ValueError, UserWarning)) as caught:  # warnings are errors
        KernelPowerKMeans(3, **parameters).fit(blobs.drop("kind").to_numpy())
    assert python in str(caught.value)
    assert "--" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n3\n", ["line 3"]),
        (
            "a,b\n1,2\n3,x\n",
            [
                "column 'b'",
                "'x' (line 3) is none",
                "--drop b",
                "--categorical b",
            ],
        ),
        ("a,b\n1,2\n3,\n4,5\n", ["missing", "'b' (1 row)", "--missing impute"]),
        ("a,b\n1,2\n3,inf\n4,5\n", ["'b' holds numbers, but 'inf' (line 3) is none"]),
        ("a,b\n1,2\n3,NaN\n4,5\n", ["missing", "'b' (1 row)"]),
        ("a,b\n1,2\n", ["data.csv: has 1 row, too few for 2 clusters", "lower -k"]),
        ("a\nx y\nz\n", ["embeddings of free text, numbers to fit with --metric cosine"]),
        ("a\nx\ny\n", ["with 2 rows, no column can be used: 'a' (identifier, nearly"]),
        ("a\n1\n1\n", ["'a' (constant, one value)", "one value tells no rows apart"]),
    ],
)
@pytest.mark.usefixtures("folder")
def test_bad_tables(refused, text, words):
    Path("data.csv").write_text(text)
    message = refused("fit", "data.csv", "-k", 2, "--missing", "error")
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "nothing.csv"], ["nothing.csv", "does not exist"]),
        (["fit", "data.cvs"], ["'data.cvs' does not exist; did you mean 'data.csv'?"]),
        (["predict", "data.csv", "./Dta.csv"], ["did you mean 'data.csv'?"]),
        (["fit", "."], ["is a directory"]),
        (
            ["fit", "data.csv", "--report", "page.html"],
            ["'page.html' has no place", "--report takes no value", "--output-dir"],
        ),
        (["fit", "data.csv", "--plot", "a.png"], ["--plot-file names the file"]),
        (["fit", "data.csv", "data.csv"], ["'data.csv' has no place: fit takes DATA and options."]),
        (["fit", "data.csv", "--take", "a", "--take=b"], ["--take is given 2 times", "keep one"]),
        (["fit", "data.csv", "-k", 3, "--n-clusters", 3, "-k3"], ["-k is given 3 times"]),
        (["demo", "data.csv"], ["'data.csv' has no place: demo takes options."]),
        (["fit", "data.csv", "--gamma", "wide"], ["--gamma", "'wide'", "rms, median, scale"]),
        (["fit", "data.csv", "--n-init", "2.5"], ["--n-init", "a whole number", "auto"]),
        (["fit", "data.csv", "-k", "1.5"], ["'-k': '1.5' is not a whole number"]),
        (["fit", "data.csv", "--eta", "x"], ["'x' is not one of: auto, a number"]),
        (
            ["fit", "data.csv", "--n-neighbors", "1"],
            ["--n-neighbors must", "[2, inf)", "auto", "Got 1"],
        ),
        (
            ["fit", "data.csv", "--density", "-1"],
            ["--density must", "[0.0, ", "auto", "Got -1"],
        ),
        (["fit", "data.csv", "--t", "-1"], ["--t must", "[0.0, inf)", "auto", "Got -1"]),
        (["fit", "data.csv", "--t", "nan"], ["--t must", "[0.0, inf)", "Got nan"]),
        (["fit", "data.csv", "--t", "soon"], ["--t", "'soon'", "a number", "auto"]),
        (["fit", "data.csv", "--kernel", "magic"], ["'magic'", "rbf"]),
        (["fit", "data.csv", "--columns", "lenght"], ["did you mean 'length'"]),
        (["fit", "data.csv", "--label-column", "class"], ["--label-column", "'class'"]),
        (["predict", "nothing.skops", "data.csv"], ["nothing.skops", "does not exist"]),
        (["predict", "data.csv", "data.csv"], ["is not a model file"]),
    ],
)
@pytest.mark.usefixtures("data")
def test_bad_usage(refused, arguments, words):
    message = " ".join(refused(*arguments).split())
    assert all(word in message for word in words), message


@pytest.fixture
def no_fit(monkeypatch) -> None:
    def fail(*args, **kwargs):
        raise AssertionError("the fit began")

    monkeypatch.setattr(command, "fit_task", fail)


@pytest.mark.usefixtures("no_fit")
@pytest.mark.parametrize(
    "file", ["data.labels.csv", "data.model.skops", "data.summary.json", "data.png"]
)
def test_existing_files_are_refused_before_the_fit(refused, data, file):
    Path(file).write_text("mine")
    message = refused("fit", data, "--drop", "kind", "--plot")
    assert file in message
    assert "--force" in message
    assert Path(file).read_text() == "mine"


@pytest.mark.usefixtures("no_fit")
def test_unwritable_output_is_refused_before_the_fit(refused, data):
    Path("taken").touch()
    assert "cannot write" in refused("fit", data, "--drop", "kind", "-o", "taken/deep")


@pytest.mark.usefixtures("no_fit")
def test_the_input_is_not_overwritten_even_if_forced(refused, data):
    message = refused("fit", data, "--drop", "kind", "--labels", "data.csv", "--force")
    assert "the input would be overwritten" in message


@pytest.mark.parametrize(
    "options",
    [
        ["-k", 0],
        ["-k", "1-3"],
        ["--eta", 0.5],
        ["--decimal", "x"],
        ["--thousands", "a"],
        ["--separator", "ab"],
        ["--encoding", "klingon"],
        ["--memory-budget", "much"],
    ],
)
def test_bad_options_come_before_files_that_exist(fit, refused, data, options):
    assert fit().exit_code == 0
    message = refused("fit", data, "-k", 3, *options)
    assert "would overwrite" not in message
    assert str(options[0]) in message
    if options[0] not in ("-k", "--eta"):
        assert refused("predict", "data.model.skops", data, *options) == message


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--splits", 1], "--splits"),
        (["-k", "1-2"], "-k is 2 or more"),
        (["--kernels", "rbf,graph"], "--kernels takes a single"),
    ],
)
def test_bad_options_of_a_choice_come_before_files_that_exist(refused, data, options, words):
    Path("data.choose.json").touch()
    assert words in refused("choose", data, *options)


def test_force_overwrites(fit):
    Path("data.labels.csv").write_text("old")
    assert fit("--force").exit_code == 0
    assert Path("data.labels.csv").read_text().startswith("row,label,")


@pytest.mark.usefixtures("no_fit")
@pytest.mark.parametrize(
    ("module", "extra"),
    [("polars", "cli"), ("skops", "cli"), ("rich", "cli"), ("matplotlib", "plot")],
)
def test_missing_extras_are_named_before_the_fit(refused, data, monkeypatch, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    message = refused("fit", data, "--plot", code=1)
    assert f'pip install "kernelmeans[{extra}]"' in message
    assert len(message.splitlines()) == 1


def test_missing_click_is_a_message(monkeypatch):
    monkeypatch.setitem(sys.modules, "click", None)
    with pytest.raises(SystemExit) as caught:
        kernelmeans.cli.main()
    assert 'pip install "kernelmeans[cli]"' in str(caught.value.code)


def raising(error: BaseException):
    def fit(*args, **kwargs):
        raise error

    return fit


def test_interruption_has_its_own_exit_code(run, data, monkeypatch):
    monkeypatch.setattr(command, "fit_task", raising(KeyboardInterrupt()))
    result = run("fit", data, "-k", 3, "--drop", "kind")
    assert result.exit_code == 130
    assert result.stderr.startswith("Interrupted")
    assert list(Path().iterdir()) == [data]


def test_ctrl_c_while_the_command_line_is_read(run, monkeypatch):
    monkeypatch.setattr(app, "parse_args", raising(KeyboardInterrupt()))
    result = run("--help")
    assert result.exit_code == 130
    assert result.stderr == "Interrupted.\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("error", [ValueError, pl.exceptions.PanicException])
def test_a_signal_that_a_library_answers_in_its_own_way(
    run, data, monkeypatch, request, number, error
):
    """An archive that is being written, and polars within its own code."""
    usual = {signal.SIGINT: signal.default_int_handler}
    # A shell may have started the tests in the background, where Ctrl-C is ignored.
    before = signal.signal(number, usual.get(number, signal.SIG_DFL))
    request.addfinalizer(lambda: signal.signal(number, before))

    def fit(*given: object) -> None:
        with suppress(KeyboardInterrupt, SystemExit):
            signal.raise_signal(number)
        raise error("of a library")

    monkeypatch.setattr(command, "fit_task", fit)
    result = run("fit", data, "-k", 3, "--drop", "kind")
    assert result.exit_code == 128 + number
    assert "of a library" not in result.stderr
    assert list(Path().iterdir()) == [data]


def test_memory_errors_name_the_remedies(refused, data, monkeypatch):
    monkeypatch.setattr(command, "fit_task", raising(MemoryError("9 TB")))
    message = refused("fit", data, "-k", 3, "--drop", "kind", code=1)
    assert "9 TB" in message
    assert "--no-cache-kernel" in message


def test_a_kernel_beyond_the_budget_is_refused(refused, data):
    message = refused("fit", data, "-k", 3, "--drop", "kind", "--memory-budget", "1KB", code=1)
    assert "bytes" in message
    assert "--no-cache-kernel" in message


@pytest.mark.parametrize(
    "given", ["--kernel graph", "--kernel precomputed", "--metric precomputed"]
)
def test_a_table_of_features_is_no_matrix_between_rows(refused, data, given):
    message = refused("fit", data, "-k", 2, *given.split())
    assert f"{given} takes a table that relates all rows to each other" in message
    assert "has 60 rows and 4 columns of features: leave the option out" in message
    pl.DataFrame({"my name": ["a", "b"], "a": [1.0, 0.5], "b": [0.5, 1.0]}).write_csv("square.csv")
    message = refused("fit", "square.csv", "-k", 2, *given.split())
    assert "of features: add --id-column 'my name' if it names the rows, or leave" in message


def test_a_sparse_precomputed_kernel_is_refused(refused, folder):
    scipy.sparse.save_npz("K.npz", scipy.sparse.eye_array(9, format="csr"))
    assert "dense" in refused("fit", "K.npz", "-k", 2, "--kernel", "precomputed")


def test_a_failure_while_writing_leaves_nothing(refused, data, monkeypatch):
    monkeypatch.setattr(
        "kernelmeans.plotting.plot_fit", lambda *args, **settings: FigureOnFullDisk()
    )
    message = refused("fit", data, "-k", 3, "--drop", "kind", "--plot", code=1)
    assert "No space left on device" in message


class FigureOnFullDisk:
    def savefig(self, file, **settings):
        file.write(b"half")
        raise OSError(28, "No space left on device")


def test_warnings_are_lines_without_source_and_only_once(fit, monkeypatch):
    real = command.fit_task

    def warning_fit(*args, **kwargs):
        for _ in range(3):
            warnings.warn("careful,\n  there", UserWarning, stacklevel=1)
        warnings.warn("for programmers", DeprecationWarning, stacklevel=1)
        return real(*args, **kwargs)

    monkeypatch.setattr(command, "fit_task", warning_fit)
    result = fit("--json")
    assert result.exit_code == 0
    assert result.stderr == "Warning: careful, there\n"
    assert fit("--quiet", "--force").output == ""
    for printed in (result.stdout, Path("data.summary.json").read_text()):
        assert json.loads(printed)["warnings"] == ["careful, there"]


def test_a_refusal_after_the_checks_of_files_leaves_no_folder(refused, data):
    assert "--id-column" in refused("fit", data, "-o", "new/deep", "--id-column", "none")
    assert not Path("new").exists()
