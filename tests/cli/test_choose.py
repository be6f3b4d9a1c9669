"""The search on the command line: ``kernelmeans choose``, and ``fit`` without a number."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse
import sklearn
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

import kernelmeans.search.race
from kernelmeans import ClusterSearch, KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans.cli import progress

QUICK = ["--splits", 4, "-k", "2-4"]
pytestmark = pytest.mark.usefixtures("short_searches")


@pytest.fixture
def iris(folder) -> str:
    iris = load_iris()
    frame = pl.DataFrame(iris.data, schema=["sepal, long", "sepal's", "petal long", "petal wide"])
    frame.with_columns(kind=pl.Series(iris.target_names[iris.target])).write_csv("my iris.csv")
    return "my iris.csv"


@pytest.fixture
def noise(folder) -> str:
    X = np.random.default_rng(0).uniform(size=(60, 2))
    pl.DataFrame(X, schema=["x", "y"]).write_csv("noise.csv")
    return "noise.csv"


@pytest.fixture
def no_search(monkeypatch) -> None:
    monkeypatch.setattr(ClusterSearch, "fit", None)


def results(file: str = "data.choose.json") -> dict:
    return json.loads(Path(file).read_text())


@pytest.mark.slow
def test_the_command_that_it_names_fits_what_it_has_chosen(run, iris):
    Path("out put").mkdir()
    options = ["--label-column", "kind", "--no-scale", "--drop", "sepal's", "-o", "out put"]
    options += ["--n-swaps", 0, "--approximation", "none", "--seed", 3]
    result = run("choose", iris, "--kernels", "heat, rbf", "-k", "2-3", "--splits", 4, *options)
    assert result.exit_code == 0, result.output
    command = re.search(r"^Next: (.*)$", result.stdout, re.M)[1]
    chosen = results("out put/my iris.choose.json")
    assert chosen["command"] == command
    X = load_iris().data[:, [0, 2, 3]]
    grid = {"kernel": ["heat", "rbf"], "n_clusters": [2, 3]}
    estimator = KernelPowerKMeans(n_swaps=0, approximation=None, random_state=3)
    search = ClusterSearch(estimator, grid, n_splits=4, random_state=3).fit(X)
    assert chosen["chosen"] == search.best_index_
    assert chosen["clusters"] == search.best_params_["n_clusters"] in (2, 3)
    program, *arguments = shlex.split(command)
    assert program == "kernelmeans"
    assert arguments[:5] == ["fit", iris, "-k", str(chosen["clusters"]), "--kernel"]
    assert run(*arguments).exit_code == 0
    labels = pl.read_csv("out put/my iris.labels.csv")["label"]
    np.testing.assert_array_equal(labels, search.labels_)


@pytest.mark.slow
def test_table_and_results_say_what_the_search_says(run, iris):
    result = run("choose", iris, "--label-column", "kind", "--kernels", "heat,rbf", *QUICK)
    Z = StandardScaler().fit_transform(load_iris().data)
    grid = {"kernel": ["heat", "rbf"], "n_clusters": [2, 3, 4]}
    search = ClusterSearch(KernelPowerKMeans(random_state=0), grid, n_splits=4, random_state=0)
    expected = search.fit(Z).results_
    *heads, lines = result.stdout.partition("\n\n")[0].split("\n", 2)
    lines = lines.splitlines()
    assert heads[0].split() == ["in", "smallest", "prediction", "near", "found"]
    names = "k kernel stability noise Jaccard strength neighbours again ARI"
    assert heads[1].split() == names.split()
    found = results("my iris.choose.json")
    assert len(lines) == len(found["candidates"]) == 6
    for row, (line, candidate) in enumerate(zip(lines, found["candidates"], strict=True)):
        numbers = {
            "stability": expected["mean_stability"][row],
            "stability_without_clusters": expected["mean_reference"][row],
            "smallest_jaccard": expected["min_jaccard"][row],
            "prediction_strength": expected["mean_prediction_strength"][row],
            "neighbor_consistency": expected["neighbor_consistency"][row],
        }
        written = {name: np.nan if candidate[name] is None else candidate[name] for name in numbers}
        assert written == pytest.approx(numbers, nan_ok=True)
        assert candidate["jaccard"] == pytest.approx(expected["jaccard"][row].tolist())
        k, kernel, *shown = line[1:].split()
        assert line[0] == ("*" if row == search.best_index_ else " ")
        assert (int(k), kernel) == (candidate["clusters"], candidate["kernel"])
        assert shown[:5] == [
            "-" if np.isnan(value) else f"{value:.2f}" for value in numbers.values()
        ]
        assert candidate["found_again"] == expected["valid"][row]
        assert shown[5] == ("yes" if expected["valid"][row] else "no")
        assert candidate["splits"] == expected["n_splits"][row]
    plan = "2 to 4 clusters with kernel heat, rbf, in at most 4 splits of 150 rows"
    assert f"Note: trying {plan}; splits end as soon as" in result.stderr
    # Two clusters are as clear by either kernel: rounding may choose.
    verdict = re.sub(r"kernel='(\w+)'", r"--kernel \1", search.verdict_)
    assert " ".join(result.stdout.split()).count(verdict) == 1
    assert found["verdict"] == verdict
    assert re.search(r"clusters with --kernel (heat|rbf): ", verdict)
    assert (found["rows"], found["rows_used"], found["splits"]) == (150, 150, search.n_splits_)
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_fit_without_a_number_fits_what_choose_chooses(run, data, blobs, monkeypatch):
    monkeypatch.setattr("kernelmeans.search.ladder.FIRST_TOP", 3)  # the default takes long
    run("choose", data, "--drop", "kind", "--splits", 4)
    result = run("fit", data, "--drop", "kind", "--plot")
    assert result.exit_code == 0, result.output
    assert "Note: trying 2, 3 and other numbers of clusters near the best" in result.stderr
    chosen, summary = results("data.choose.json"), results("data.summary.json")
    assert chosen["columns"] == summary["columns"]
    left_out = {"seconds", "command", "files", "columns"}
    for found in (chosen, summary["search"]):
        for candidate in found["candidates"]:
            del candidate["seconds_of_a_fit"]
    search = {name: value for name, value in chosen.items() if name not in left_out}
    assert {name: summary["search"][name] for name in search} == search
    assert summary["clusters"] == chosen["clusters"] in (2, 3)
    found_again = "found again in 3 splits"
    assert result.stdout.index(found_again) < result.stdout.index("rows   ")
    Z = StandardScaler().fit_transform(blobs.drop("kind").to_numpy())
    model = KernelPowerKMeans(chosen["clusters"], random_state=0).fit(Z)
    np.testing.assert_array_equal(pl.read_csv("data.labels.csv")["label"], model.labels_)
    assert Path("data.png").stat().st_size > 10_000
    assert Path("data.choose.png").stat().st_size > 10_000
    assert summary["files"]["scores"] == "data.choose.png"


def test_fit_prints_one_json(run, data):
    result = run("fit", data, "--drop", "kind", "-k", "2-3", "--json")
    assert json.loads(result.stdout) == results("data.summary.json")


def compared(candidates):
    """The candidates that were compared with data without clusters."""
    return [one for one in candidates if one["stability_without_clusters"] is not None]


def test_noise_has_no_clusters(run, noise):
    result = run("choose", noise, *QUICK)
    assert result.exit_code == 0, result.output
    assert "\nNo clusters that would be found again" in result.stdout
    found = results("noise.choose.json")
    assert (found["chosen"], found["clusters"]) == (None, 1)
    most = max(compared(found["candidates"]), key=lambda one: one["stability"])
    command, remark = found["command"].split("  # ")
    assert command == f"kernelmeans fit noise.csv -k {most['clusters']} --kernel heat"
    assert remark == "the most stable, though not found again"
    assert f"\nNext: {command}  # {remark}\n" in result.stdout


@pytest.mark.usefixtures("folder")
def test_three_values_are_three_clusters(run, refused):
    colours = np.repeat(["red", "green", "blue"], [20, 25, 30])
    pl.DataFrame({"colour": colours, "kind": colours}).write_csv("colours.csv")
    arguments = ["colours.csv", "--label-column", "kind", "--splits", 4]
    result = run("choose", *arguments, "-k", "2-5")
    assert result.stderr.count("Warning: ") == 1
    assert "it finds only 3 clusters" in result.stderr
    found = results("colours.choose.json")
    assert (found["clusters"], found["candidates"][found["chosen"]]["ari"]) == (3, 1)
    for candidate in found["candidates"][2:]:
        assert (candidate["ari"], candidate["stability"]) == (None, None)
    assert "Ask for at most 3" in refused("choose", *arguments, "-k", "4-5", "--force")


@pytest.mark.usefixtures("folder")
def test_five_rows_are_too_few_for_a_choice(run, refused, blobs):
    # Of one number of clusters that one would be chosen, whether it is found again or not.
    blobs[:5].write_csv("five.csv")
    message = refused("fit", "five.csv")
    assert "at least 6 rows are needed; there are 5: give fit a number of clusters" in message
    assert run("fit", "five.csv", "-k", 2).exit_code == 0


def test_a_fit_of_noise_tells_which_categories_to_leave_out(run, noise):
    rows = pl.read_csv(noise)
    plans = pl.Series("plan", ["basic", "plus", "pro"]).sample(
        len(rows), with_replacement=True, seed=0
    )
    rows.with_columns(plans).write_csv("plans.csv")
    result = run("fit", "plans.csv", "-k", "4-6")
    assert result.exit_code == 3
    assert "What may help: fewer categories, as in --drop plan; " in result.stderr
    assert "fewer categories" not in run("fit", noise, "-k", "2-3").stderr


@pytest.mark.parametrize("switch", [[], ["--json"]])
def test_a_fit_of_noise_writes_nothing_and_says_why(run, noise, switch):
    result = run("fit", noise, "-k", "2-3", *switch)
    assert result.exit_code == 3
    last = result.stderr.splitlines()[-1]
    assert last.startswith("Error: no clusters that would be found again in 4 splits")
    found = json.loads(result.stdout)["candidates"] if switch else []
    assert "Tried: 2 to 3 clusters with kernel heat. A cluster is found again from " in last
    for one in sorted(compared(found), key=lambda one: -one["stability"])[:1]:
        words = (
            "the most stable of those compared are {clusters} clusters, with stability "
            "{stability:.2f} and Jaccard overlap "
        )
        assert f"{words}{{smallest_jaccard:.2f}} of".format(**one) in last
        assert f"-k {one['clusters']} fits them all the same" in last
    assert "more rows" in last
    assert "--kernel rbf" in last
    assert [path.name for path in Path().iterdir()] == [noise]
    if switch:
        assert json.loads(result.stdout)["chosen"] is None
    else:
        assert "\n  k  kernel" in result.stdout
    assert run("fit", noise, "-k", "2").exit_code == 0


@pytest.mark.slow
def test_more_clusters_are_advised_where_no_range_was_given(run, noise):
    advice = "more clusters, if you expect them, as in -k 12-36"
    assert advice in run("fit", noise).stderr
    assert "more clusters" not in run("fit", noise, "-k", "2-3").stderr


def test_a_fit_of_noise_writes_the_scores_that_were_asked_for(run, noise):
    result = run("fit", noise, "-k", "2-3", "--plot", "--summary", "scores.json")
    assert result.exit_code == 3
    assert sorted(path.name for path in Path().iterdir()) == [
        *("noise.choose.png", noise, "scores.json")
    ]
    assert Path("noise.choose.png").stat().st_size > 10_000
    found = json.loads(Path("scores.json").read_text())
    assert found["chosen"] is None
    assert found["verdict"].startswith("no clusters")
    assert found["files"] == {"summary": "scores.json", "plot": "noise.choose.png"}
    assert "\nWritten: scores.json, noise.choose.png\n" in result.stdout


def test_a_fit_of_noise_writes_the_report_that_was_asked_for(run, noise):
    result = run("fit", noise, "-k", "2-3", "--report", "--kernel", "rbf", "--json")
    assert result.exit_code == 3
    page = Path("noise.report.html").read_text()
    found = json.loads(result.stdout)
    assert found["files"] == {"report": "noise.report.html"}
    assert sorted(path.name for path in Path().iterdir()) == [noise, "noise.report.html"]
    for one in found["candidates"]:
        assert f">{one['stability']:.2f}<" in page
        assert f">{one['smallest_jaccard']:.2f}<" in page
    assert f"N{found['verdict'][1:]}." in page
    assert "Tried: 2 to 3 clusters with kernel rbf" in page
    assert "--kernel heat" in page


def test_rows_that_are_drawn_are_announced(run, noise, monkeypatch):
    for module in ("cli.choose", "search.search"):
        monkeypatch.setattr(f"kernelmeans.{module}.MOST_ROWS", 50)
    result = run("fit", noise, "-k", "2-3")
    assert " in at most 4 splits of 50 of 60 rows" in result.stderr
    assert "splits of 50 of 60 rows" in result.stderr.splitlines()[-1]
    assert "more rows" not in result.stderr


@pytest.mark.slow
def test_all_cores_search_unless_told_otherwise(run, data, monkeypatch):
    searches, fit = [], ClusterSearch.fit

    def seen(self, X, **given):
        searches.append(self.n_jobs)
        return fit(self, X, **given)

    monkeypatch.setattr(ClusterSearch, "fit", seen)
    for command in ("choose", "fit"):
        for jobs in ([], ["--jobs", 2]):
            arguments = ["--drop", "kind", "-k", "2-3", "--force", *jobs]
            result = run(command, data, *arguments)
            assert result.exit_code == 0, result.output
            assert "--jobs" not in result.stdout  # the command of the next fit takes no time
            assert "no effect" not in result.stderr
    assert searches == [-1, 2] * 2
    result = run("fit", data, "--drop", "kind", "-k", 2, "--force", "--jobs", 2)
    assert "Note: --jobs has no effect where -k is a single number" in result.stderr


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("file", ["noise.choose.png", "noise.png"])
def test_pictures_that_exist_are_refused_before_the_search(refused, noise, file):
    Path(file).write_text("mine")
    assert file in refused("fit", noise, "--plot")


@pytest.mark.parametrize("weights", [False, True])
def test_the_choice_is_fitted_to_all_rows_once_more_for_weights_alone(
    run, data, blobs, weights, monkeypatch
):
    blobs.with_columns(w=pl.Series(np.tile([1.0, 2.0], 30))).write_csv("data.csv")
    fits, fit = [], KernelPowerKMeans.fit

    def counted(self, X, *args, **parameters):
        fits.append((len(X), self.n_clusters))
        return fit(self, X, *args, **parameters)

    monkeypatch.setattr(KernelPowerKMeans, "fit", counted)
    option = ["--weight-column", "w"] if weights else ["--drop", "w"]
    result = run("fit", data, "--drop", "kind", *option, "-k", "2-3")
    assert result.exit_code == 0, result.output
    # Of the search, of its choice, and with weights.
    assert fits.count((60, 3)) == 2 + weights
    summary = results("data.summary.json")
    model = KernelPowerKMeans(3, random_state=0)
    table = pl.read_csv("data.csv")
    w = table["w"].to_numpy() if weights else None
    X = table.drop("kind", "w").to_numpy()
    Z = StandardScaler().fit(X, sample_weight=w).transform(X)
    assert summary["cost"] == pytest.approx(model.fit(Z, sample_weight=w).inertia_)
    assert summary["seconds"] > 0


def test_a_kernel_is_chosen_at_a_given_number(run, iris):
    options = ["-k", 3, "--kernels", "linear,rbf,linear", "--splits", 4]
    result = run("choose", iris, "--drop", "kind", *options)
    assert result.exit_code == 0, result.output
    assert "Note: trying 3 clusters with kernel linear, rbf, in at most 4" in result.stderr
    found = results("my iris.choose.json")
    assert [candidate["kernel"] for candidate in found["candidates"]] == ["linear", "rbf"]
    grid = {"kernel": ["linear", "rbf"]}
    estimator = KernelPowerKMeans(3, random_state=0)
    search = ClusterSearch(estimator, grid, n_splits=4, random_state=0)
    search.fit(StandardScaler().fit_transform(load_iris().data))
    assert found["chosen"] == search.best_index_
    assert f"-k 3 --kernel {search.best_params_['kernel']} " in found["command"]


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("command", ["fit", "choose"])
@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ("5-2", "'5-2' is not a whole number, a range such as 2-12, or auto"),
        ("1-3", "-k is 2 or more: one cluster is always a possible answer"),
        ("-1-3", "-k is 2 or more"),
        ("x", "'x' is not a whole number, a range such as 2-12, or auto"),
        ("2-", "'2-' is not a whole number"),
        ("2-4-6", "'2-4-6' is not a whole number"),
        ("2-9999999999", "is not a whole number"),
        ("2-31", "62 rows are needed; there are 60"),
    ],
)
def test_numbers_that_cannot_be_tried(refused, data, command, numbers, words):
    message = " ".join(refused(command, data, "--drop", "kind", "-k", numbers).split())
    assert words in message


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-k", -2], ["-k is 2 or more"]),
        (["--kernels", "heat,magic"], ["--kernels", "'magic'", "rbf"]),
        (["--kernels", ""], ["--kernels", "'' is not one of"]),
        (["--kernels", "heat,", "rbf"], ["--kernels", "'heat,' ends with a comma", "no spaces"]),
        (["--kernels", "precomputed,rbf"], ["--kernels takes a single kernel"]),
        (["--kernels", "heat,rbf", "--metric", "precomputed"], ["--kernels takes a single kernel"]),
        (["--kernels", "rbf", "--views", "data.csv"], ["--kernels cannot be combined"]),
        (["--gamma", -1], ["gamma", "-1"]),
        (["--splits", 1], ["--splits must be an int", "Got 1"]),
        (["--splits", "many"], ["--splits", "a whole number"]),
        (["--scoring", "cost"], ["--scoring", "'cost'", "jaccard"]),
        (["--results", "data.csv", "--force"], ["the input would be overwritten"]),
    ],
)
def test_bad_usage(refused, data, arguments, words):
    message = " ".join(refused("choose", data, "--drop", "kind", *arguments).split())
    assert all(word in message for word in words), message


@pytest.mark.slow
@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"), reason="no callbacks before 1.9"
)
@pytest.mark.parametrize(("seconds", "n_lines"), [(0.0, 3), (3600.0, 0)])
def test_progress_is_printed_from_time_to_time(run, data, monkeypatch, seconds, n_lines):
    monkeypatch.setattr(progress, "_EVERY", seconds)
    result = run("choose", data, "--drop", "kind", *QUICK)
    lines = [line for line in result.stderr.splitlines() if line.startswith("choosing: ")]
    assert bool(lines) == bool(n_lines)
    assert len(lines) >= n_lines
    assert all("done" in line or "step" in line for line in lines)
    assert all(re.match(r"choosing: (all rows|splits|reference|pieces): \d", one) for one in lines)
    assert "choosing: " not in run("choose", data, "--drop", "kind", *QUICK, "-q", "--force").stderr


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", ["fit", "choose"])
def test_tables_of_too_few_rows(refused, command):
    Path("data.csv").write_text("a,b\n1,2\n3,1\n4,5\n")
    message = refused(command, "data.csv")
    assert "6 rows are needed; there are 3: give fit a number of clusters" in message


@pytest.mark.usefixtures("folder")
def test_few_rows_are_tried_in_fewer_clusters(run):
    np.save("data.npy", np.random.default_rng(0).normal(size=(11, 2)))
    result = run("choose", "data.npy", "--kernels", "rbf", "--splits", 3)
    assert result.exit_code == 0
    assert "Warning: n_samples=11 is few for a search: models of 5 rows" in result.stderr
    assert [row["clusters"] for row in results()["candidates"]] == [2, 3, 4, 5]


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("file", ["data.choose.json", "data.choose.png"])
def test_existing_files_are_refused_before_the_search(refused, data, file):
    Path(file).write_text("mine")
    message = refused("choose", data, "--drop", "kind", "--plot")
    assert file in message
    assert "--force" in message


def test_quiet_and_json(run, data):
    options = ["--drop", "kind", *QUICK]
    assert run("choose", data, *options, "--quiet").output == ""
    assert json.loads(run("choose", data, *options, "--json", "--force").stdout) == results()


@pytest.mark.parametrize("ending", ["png", "pdf"])
def test_picture(run, data, ending):
    start = {"png": b"\x89PNG", "pdf": b"%PDF"}[ending]
    result = run("choose", data, "--drop", "kind", *QUICK, "--plot-file", f"picture.{ending}")
    assert result.exit_code == 0, result.output
    assert Path(f"picture.{ending}").read_bytes().startswith(start)
    assert results()["files"]["plot"] == f"picture.{ending}"


def test_weights_count_in_the_fit_only(run, data, blobs):
    blobs.with_columns(w=pl.Series(np.tile([1.0, 2.0], 30))).write_csv("data.csv")
    result = run("choose", data, "--drop", "kind", "--weight-column", "w", *QUICK)
    assert "Note: the search counts every row once" in result.stderr
    assert results()["clusters"] == 3
    assert results()["command"].endswith(" --drop kind --weight-column w")


def test_matrices_between_rows(run, folder, blobs):
    Z = StandardScaler().fit_transform(blobs.select("length", "mass", "area").to_numpy())
    graph = kneighbors_graph(Z, 12)
    np.save("K.npy", rbf_kernel(Z, gamma=0.3))
    scipy.sparse.save_npz("graph.npz", graph + graph.T)
    for kernel, file in (("precomputed", "K.npy"), ("graph", "graph.npz")):
        result = run("choose", file, *QUICK, "--kernels", kernel)
        assert result.exit_code == 0, result.output
        found = results(f"{Path(file).stem}.choose.json")
        assert found["clusters"] == 3
        assert found["command"] == f"kernelmeans fit {file} -k 3 --kernel {kernel}"
        assert "not compared with data without clusters" in found["verdict"]


@pytest.mark.filterwarnings("ignore:gamma=0.5 has no effect with kernel='heat'")
@pytest.mark.parametrize("kernels", ["heat", "heat,rbf", "rbf"])
def test_the_command_has_no_options_that_its_kernel_does_not_take(run, data, kernels):
    options = ["--gamma", 0.5, "--n-neighbors", 9, "--n-swaps", 2]
    result = run("choose", data, "--drop", "kind", *QUICK, "--kernels", kernels, *options)
    assert result.exit_code == 0, result.output
    found = results()
    chosen = found["candidates"][found["chosen"]]["kernel"]
    of_kernel = {"heat": "--n-neighbors 9", "rbf": "--gamma 0.5"}[chosen]
    expected = f"fit data.csv -k 3 --kernel {chosen} --drop kind {of_kernel} --n-swaps 2"
    assert found["command"] == f"kernelmeans {expected}"


@pytest.mark.slow
def test_views(run, data, blobs):
    Path("views.toml").write_text('[[view]]\ncolumns = ["length"]\n[[view]]\nkernel = "rbf"\n')
    options = ["--views", "views.toml", "-k", "2-3", "--splits", 4]
    result = run("choose", data, "--drop", "kind", *options)
    assert result.exit_code == 0, result.output
    assert "\n  k  stability " in result.stdout  # no column of kernels
    kernels = [({"kernel": "heat"}, [0]), ({"kernel": "rbf"}, [0, 1, 2])]
    estimator = MultiKernelPowerKMeans(kernels=kernels, random_state=0)
    search = ClusterSearch(estimator, {"n_clusters": [2, 3]}, n_splits=4, random_state=0)
    search.fit(StandardScaler().fit_transform(blobs.drop("kind").to_numpy()))
    k = search.best_params_["n_clusters"]
    assert k > 1
    assert results()["command"] == f"kernelmeans fit data.csv -k {k} --drop kind --views views.toml"


@pytest.fixture
def interrupted(monkeypatch):
    """Interrupt a search after some of its tasks."""

    def after(tasks: int) -> None:
        evaluate, done = kernelmeans.search.race.evaluate, []

        def evaluate_some(*args):
            for outcome in evaluate(*args):
                if len(done) == tasks:
                    raise KeyboardInterrupt
                done.append(outcome)
                yield outcome

        monkeypatch.setattr(kernelmeans.search.race, "evaluate", evaluate_some)

    return after


@pytest.mark.parametrize("command", ["fit", "choose"])
def test_interruption_prints_what_is_known(run, data, interrupted, command):
    interrupted(3 + 2 * 2 * 3 + 1)  # three candidates on all rows, on two splits and a bit
    # The fixture counts in this process, and a search on a slow machine starts others.
    result = run(command, data, "--drop", "kind", "-k", "2-4", "--jobs", 1)
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1].startswith("Interrupted")
    assert "\n* 3    heat " in result.stdout
    told = " ".join(result.stdout.split())
    assert re.search(r"found again in 2 splits of 60 rows", told)
    assert ("\nNext: " in result.stdout) == (command == "choose")
    assert list(Path().iterdir()) == [data]


def test_interruption_before_anything_is_known(run, data, interrupted):
    interrupted(3)
    result = run("choose", data, "--drop", "kind", "-k", "2-4")
    assert (result.exit_code, result.stdout) == (130, "")
    assert list(Path().iterdir()) == [data]


def test_help_names_the_kernels_and_the_scores(run):
    text = " ".join(run("choose", "--help").output.split())
    for words in (
        "auto, the default, tries 2 to 8, 10, 12, more while those are found again",
        "Of heat, rbf, laplacian",
        "One of jaccard, stability",
        "--splits NUMBER Most splits, at least 2. [default: 20]",
    ):
        assert words in text
    # The options that are used most come first.
    places = [text.index(f" {option} ") for option in ("--kernels", "--jobs", "--columns", "--eta")]
    assert places == sorted(places)
    assert text.count("--kernels A,B") == text.count("--splits NUMBER") == 1
    assert "choose" in run("--help").output


def test_no_jobs_are_refused_before_any_work(refused, data):
    message = refused("choose", data, "--drop", "kind", "--jobs", 0)
    assert "--jobs must be" in message
    assert "Got 0" in message
