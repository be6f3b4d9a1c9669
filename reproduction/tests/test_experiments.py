"""Every experiment on a tiny scale: what a cell finds, and what the report makes of it."""

import json
from itertools import cycle, product
from math import comb

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import rankdata, wilcoxon

import data
from kernelmeans_paper import check, printed
from kernelmeans_paper.experiments import (
    EXPERIMENTS,
    consistency,
    cost,
    critical,
    limit,
    multi,
    schedules,
    single,
    sphere,
)
from kernelmeans_paper.grid import Results, Scale
from kernelmeans_paper.methods import AUTOMATIC, PAPERS, SCHEDULES, scheduled

pytestmark = pytest.mark.slow

QUICK = Scale(quick=True, datasets=2)
FULL = Scale()


def made_up(experiment, parameters, rng):
    """An outcome of the right form."""
    if experiment == "limit":
        gaps = [1.0 / 2**i for i in range(len(limit.POWERS))]
        return {"largest": gaps, "median": gaps, "smallest": 0.0, "largest_limit": 1.0}
    if experiment == "hull":
        return {"least": [0.0, -0.5, 0.0], "sum": 1e-12}
    if experiment == "consistency":
        values = {key: rng.uniform(0.1, 1, 3).tolist() for key in ("error", "weight_error")}
        return {**values, "same": 0.5, "margin": 0.1}
    if experiment == "cost":
        return {"seconds": parameters[parameters["axis"]] ** 1.5}
    if parameters.get("task") == "growth":
        growth = rng.uniform(0.5, 2, len(critical.FACTORS)).tolist()
        return {"critical": -2.0, "predicted": growth, "measured": growth}
    runs = 6
    outcome = {key: rng.uniform(0.1, 1, runs).tolist() for key in ("nmi", "ari", "cost")}
    outcome["steps"] = rng.integers(1, 99, runs).tolist()
    outcome |= dict.fromkeys(multi.AVERAGES, outcome["nmi"])
    outcome["critical"] = -2.0
    outcome["best"] = (np.arange(500) % 10).tolist()
    labels = (np.arange(200) % 10).tolist()
    points = rng.standard_normal((200, 2)).tolist()
    outcome["typical"] = {"nmi": 0.5, "labels": labels, "points": points}
    return outcome


def made_up_results(name, scale, seed=0):
    rng = np.random.default_rng(seed)
    cells = EXPERIMENTS[name].cells(scale)
    return Results([(c.parameters, made_up(name, c.parameters, rng)) for c in cells])


def by_name(section):
    return {table.name: table for table in section.tables}


def column(table, heading):
    index = list(table.columns).index(heading) - 1
    return {label: entries[index] for label, entries in table.rows}


@pytest.mark.parametrize("scale", [QUICK, FULL], ids=["quick", "full"])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_parameters_go_through_json_and_differ(name, scale):
    cells = EXPERIMENTS[name].cells(scale)
    assert cells
    for cell in cells:
        assert json.loads(json.dumps(cell.parameters)) == cell.parameters
    assert len({json.dumps(cell.parameters) for cell in cells}) == len(cells)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_cells_on_absent_sets_are_left_out(name):
    experiment = EXPERIMENTS[name]
    needed = experiment.data(FULL)
    cells = experiment.cells(Scale(absent=frozenset(needed)))
    assert all(cell.parameters.get("data") is None for cell in cells)
    used = {cell.parameters.get("data") for cell in experiment.cells(FULL)} - {None}
    assert used == set(needed)


@pytest.mark.parametrize("scale", [QUICK, FULL], ids=["quick", "full"])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_report_can_be_written_in_every_form(name, scale):
    section = EXPERIMENTS[name].report(made_up_results(name, scale), scale)
    assert section.name == name
    assert section.tables
    for table in section.tables:
        assert table.rows, table.name
        for text in (table.markdown(), table.latex(), table.html()):
            assert table.rows[0][0].split()[0] in text
        assert json.loads(table.json())["cells"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_report_can_be_made_of_whatever_is_there(name):
    everything = list(made_up_results(name, QUICK))
    rng = np.random.default_rng(0)
    for share in (0.0, 0.05, 0.5, 0.9):
        left = [entry for entry in everything if rng.uniform() < share]
        for scale in (QUICK, FULL):
            section = EXPERIMENTS[name].report(Results(left), scale)
            assert section.title
            for table in section.tables:
                assert json.loads(table.json())["name"] == table.name


def test_a_report_of_the_one_set_that_needs_no_download_can_be_made():
    results = made_up_results("schedules", FULL).where(data="digits")
    section = EXPERIMENTS["schedules"].report(results, FULL)
    assert {table.name for table in section.tables} == {"schedules_sets", "swap"}
    assert all(json.loads(table.json())["cells"] for table in section.tables)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_part_of_a_report_is_checked_against_the_whole(name):
    """As little as the sets of the check: rows may not depend on others."""
    whole = made_up_results(name, FULL)
    part = [entry for entry in whole if entry[0].get("data") in {None, *check.SETS}]
    chosen = Scale(sets=frozenset(check.SETS))
    stored = {t.name: json.loads(t.json()) for t in EXPERIMENTS[name].report(whole, FULL).tables}
    tables = EXPERIMENTS[name].report(Results(part), chosen).tables
    compared, differences = check.compare(tables, stored)
    assert not differences
    assert (compared > 0) == (name in check.NAMES)


# The motivating figure


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_on_rings_annealing_finds_the_blobs_and_kernel_k_means_does_not(schedule):
    run = EXPERIMENTS["motivating"].run
    annealed, plain = (
        np.mean([run(method, seed, 10)["ari"] for seed in range(2)])
        for method in (f"Kernel power k-means, {schedule}", "Kernel k-means")
    )
    assert annealed >= 0.99
    assert plain <= 0.85


# One kernel, real data


def single_tables(seed=0):
    """Made-up results without Lung, and the tables of them."""
    scale = Scale(absent=frozenset({"lung"}))
    results = made_up_results("single", scale, seed)
    return results, by_name(EXPERIMENTS["single"].report(results, scale))


def contest(results, data, schedule):
    """NMI of the paper's four methods, where those that anneal have this schedule."""
    of_set = results.where(data=data, seeding="random")
    titles = {method: scheduled(method, schedule) for method in printed.SINGLE_METHODS}
    return {method: of_set.one(method=title)["nmi"] for method, title in titles.items()}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_single_marks_ranks_and_bold_are_those_of_the_row(schedule):
    results, tables = single_tables()
    nmi = contest(results, "yale", schedule)
    means = {method: np.mean(values) for method, values in nmi.items()}
    order = sorted(means, key=lambda method: -means[method])
    for method, values in nmi.items():
        entry = column(tables["single"], method)[f"Yale, {schedule}"]
        assert entry.value == pytest.approx(means[method])
        assert entry.best == (method == order[0])
        assert entry.rank == order.index(method) + 1
        shown = column(tables["single_p"], method)[f"Yale, {schedule}"].value
        if method == order[0]:
            assert (entry.mark, shown) == ("", "best")
        else:
            p = wilcoxon(values, nmi[order[0]]).pvalue
            assert entry.mark == ("+" if p < 0.05 else "≈")
            assert shown == pytest.approx(p)


@pytest.mark.parametrize("name", ["single", "single_plusplus"])
def test_single_a_plus_is_always_below_the_best_of_the_row(name):
    marked = []
    for seed in range(3):
        _, tables = single_tables(seed)
        for _, entries in tables[name].rows:
            methods = entries[: len(printed.SINGLE_METHODS)]
            marked += [(entry, methods) for entry in methods if entry.mark == "+"]
    assert marked
    for entry, methods in marked:
        assert entry.value < max(other.value for other in methods if other.best)


def test_single_shows_the_printed_values_and_the_lung_row_as_missing():
    _, tables = single_tables()
    table = tables["single"]
    for index, method in enumerate(printed.SINGLE_METHODS):
        entries = column(table, method)
        assert entries[f"JAFFE, {PAPERS}"].printed == printed.SINGLE["jaffe"][index]
        assert entries[f"JAFFE, {AUTOMATIC}"].printed is None
        assert entries[f"lung_bhattacharjee, {PAPERS}"].printed is None
        assert entries["Lung"].printed == printed.SINGLE["lung"][index]
    assert column(table, "Kernel power k-means")["Lung"].value == "file not here"


def test_single_averages_ranks_of_each_schedule_over_the_same_rows_as_the_paper():
    results, tables = single_tables()
    here = [name for name in printed.SINGLE if name != "lung"]
    everywhere = [*here, *single.OTHER_SETS]
    for schedule in SCHEDULES:
        ranks = {
            name: rankdata(
                [-np.mean(values) for values in contest(results, name, schedule).values()]
            )
            for name in everywhere
        }
        for names, which in ((here, "the paper's sets"), (everywhere, "all sets")):
            expected = np.mean([ranks[name] for name in names], axis=0)
            for index, method in enumerate(printed.SINGLE_METHODS):
                entry = column(tables["single"], method)[f"Average rank, {which}, {schedule}"]
                assert entry.value == pytest.approx(expected[index])
                assert entry.best == (expected[index] == expected.min())
                assert (entry.printed is not None) == (
                    which == "the paper's sets" and schedule == PAPERS
                )


def test_single_shows_the_papers_schedule_first():
    _, tables = single_tables()
    labels = [label for label, _ in tables["single"].rows if label != "Lung"]
    assert labels[1::2] == [label.replace(PAPERS, AUTOMATIC) for label in labels[::2]]
    assert all(label.endswith(PAPERS) for label in labels[::2])


def test_single_says_that_the_papers_average_ranks_are_computed_again():
    """Over eight sets 1.125, where it prints 1.11 over nine."""
    _, tables = single_tables()
    entry = column(tables["single"], "Kernel power k-means")
    assert entry[f"Average rank, the paper's sets, {PAPERS}"].printed == 1.125
    note = next(note for note in tables["single"].notes if "average ranks" in note)
    assert "computed again" in note
    assert "1.11, 3.11, 3.00 and 2.78" in note


def test_single_says_which_rows_come_out():
    def outcome(nmi):
        return {"nmi": [nmi] * 3, "ari": [0.5] * 3, "cost": [1.0] * 3, "steps": [1] * 3}

    values = {
        "yale": (0.60, 0.50, "yes"),  # printed .5921 and .5199
        "jaffe": (0.90, 0.50, "annealed only"),  # .9278 and .8501
        "seeds": (0.60, 0.72, "plain only"),  # .7502 and .7247
        "glioma": (0.50, 0.50, "no"),  # .6297 and .4085
    }
    results = Results(
        [
            ({"data": name, "seeding": "random", "method": method}, outcome(nmi))
            for name, (annealed, plain, _) in values.items()
            for method in single.METHODS
            for nmi in [plain if method == "Kernel k-means" else annealed]
        ]
    )
    table = by_name(EXPERIMENTS["single"].report(results, FULL))["single"]
    found = column(table, "comes out")
    titles = {"yale": "Yale", "jaffe": "JAFFE", "seeds": "Seeds", "glioma": "GLIOMA"}
    assert {name: found[f"{title}, {PAPERS}"].value for name, title in titles.items()} == {
        name: verdict for name, (_, _, verdict) in values.items()
    }


def test_single_gaps_are_above_the_best_run_of_the_row():
    results = made_up_results("single", FULL)
    table = by_name(EXPERIMENTS["single"].report(results, FULL))["single_cost"]
    costs = {
        m: results.one(data="seeds", seeding="random", method=m)["cost"] for m in single.METHODS
    }
    least = min(min(values) for values in costs.values())
    for method, values in costs.items():
        expected = 100 * (np.mean(values) / least - 1)
        assert column(table, method)["Seeds"].value == pytest.approx(expected)


@data.needs_data
@pytest.mark.parametrize("seeding", single.SEEDINGS)
def test_single_runs_are_matched_and_annealing_lowers_the_cost(seeding, monkeypatch):
    monkeypatch.setenv("KERNELMEANS_DATA", str(data.FOLDER))
    run = EXPERIMENTS["single"].run
    theirs, ours, plain = (
        run("lung_discrete", seeding, method, 4)
        for method in (*(f"Kernel power k-means, {s}" for s in SCHEDULES), "Kernel k-means")
    )
    assert max(np.mean(theirs["cost"]), np.mean(ours["cost"])) < np.mean(plain["cost"])
    assert all(len(outcome["nmi"]) == 4 for outcome in (theirs, ours, plain))


# Several kernels


def test_multi_compares_with_the_printed_values_of_the_same_normalisation():
    tables = by_name(EXPERIMENTS["multi"].report(made_up_results("multi", FULL), FULL))
    for name, shown, hidden in (("multi", "MKPK", "RMKKM"), ("multi_max", "RMKKM", "MKPK")):
        index = printed.MULTI_METHODS.index(shown)
        row = f"ORL, {PAPERS}"
        assert column(tables[name], shown)[row].printed == printed.MULTI["orl"][index]
        assert column(tables[name], hidden)[row].printed is None
        assert column(tables[name], shown)[f"ORL, {AUTOMATIC}"].printed is None


def test_multi_ranks_the_runs_of_each_schedule():
    results = made_up_results("multi", FULL)
    table = by_name(EXPERIMENTS["multi"].report(results, FULL))["multi"]
    for schedule in SCHEDULES:
        ranks = []
        for name in printed.MULTI:
            means = {
                method: np.mean(results.one(data=name, method=method)["arithmetic"])
                for method in (f"MKPK, {schedule}", *multi.RANKED[1:])
            }
            ranks.append(rankdata([-value for value in means.values()]))
        shown = [column(table, m)[f"Average rank, {schedule}"].value for m in multi.RANKED]
        assert shown == pytest.approx(np.mean(ranks, axis=0))


# The sphere


def test_sphere_means_are_over_all_data_sets():
    results = made_up_results("sphere", QUICK)
    table = by_name(EXPERIMENTS["sphere"].report(results, QUICK))["sphere_ari"]
    values = [
        outcome["ari"]
        for _, outcome in results.where(k=20, method="Kernel k-means", **sphere.PLAIN)
    ]
    assert len(values) == 2
    assert column(table, "k = 20")["Kernel k-means"].value == pytest.approx(np.mean(values))


def test_sphere_datasets_can_be_raised():
    seeds = {cell.parameters["seed"] for cell in EXPERIMENTS["sphere"].cells(Scale(datasets=7))}
    assert seeds == set(range(7))


@pytest.mark.parametrize("k", [10, 20])
def test_on_the_sphere_annealing_is_well_above_kernel_k_means(k):
    annealed, plain = (
        EXPERIMENTS["sphere"].run(k, 1.0, 0.0, 0, method, 10)["nmi"]
        for method in (f"Kernel power k-means, {AUTOMATIC}", "Kernel k-means")
    )
    assert np.mean(annealed) > np.mean(plain) + 0.05


# Theorems


@pytest.mark.parametrize("kernels", limit.WIDTHS)
def test_limit_gaps_fall_with_the_power_and_stay_within_the_bound(kernels):
    outcome = EXPERIMENTS["limit"].run(k=4, kernels=kernels, centroids=10)
    assert outcome["smallest"] >= 0
    assert all(np.diff(outcome["largest"]) < 0)
    for power, gap in zip(limit.POWERS, outcome["largest"], strict=True):
        assert gap <= (4 ** (-1 / power) - 1) * outcome["largest_limit"]


def test_hull_of_plain_steps_is_never_left_and_of_relaxed_ones_not_in_the_end():
    plain = EXPERIMENTS["hull"].run("wine", "paper's schedule")
    relaxed = EXPERIMENTS["hull"].run("wine", "default")
    assert min(plain["least"]) >= 0
    assert min(relaxed["least"]) < 0 <= relaxed["least"][-1]
    assert max(plain["sum"], relaxed["sum"]) < 1e-9


def test_partitions_are_as_many_as_stirling_says():
    def stirling(m, k):
        terms = ((-1) ** i * comb(k, i) * (k - i) ** m for i in range(k + 1))
        return sum(terms) // np.prod(range(1, k + 1), dtype=int)

    found = list(consistency.partitions(7, 3))
    assert len(found) == len(set(found)) == sum(stirling(7, k) for k in (1, 2, 3))


@pytest.mark.parametrize("kernels", [1, 3])
def test_population_minimiser_is_that_of_a_naive_search(kernels, monkeypatch):
    monkeypatch.setattr(consistency, "ATOMS", 5)
    truth = consistency.draw_population(kernels, seed=3)
    scale = np.mean([variance(K, truth.shares) for K in truth.matrices])
    found = {}
    for labels in product(range(3), repeat=5):
        costs = [partition_cost(K, truth.shares, np.array(labels)) for K in truth.matrices]
        found[labels] = best_weights(np.array(costs), consistency.ENTROPY_WEIGHT * scale)
    best = min(found, key=lambda labels: found[labels][0])
    members = truth.coefficients > 0
    same = np.equal.outer(np.array(best), np.array(best))
    np.testing.assert_array_equal(members.T.astype(int) @ members.astype(int) > 0, same)
    np.testing.assert_allclose(truth.kernel_weights, found[best][1], atol=1e-5)
    others = [
        value
        for labels, (value, _) in found.items()
        if not np.array_equal(np.equal.outer(np.array(labels), np.array(labels)), same)
    ]
    assert truth.margin == pytest.approx(min(others) / found[best][0] - 1, abs=1e-6)


def variance(K, shares):
    return partition_cost(K, shares, np.zeros(len(K), int))


def partition_cost(K, shares, labels):
    """Half the weighted mean squared distance of pairs within clusters."""
    total = 0.0
    for cluster in np.unique(labels):
        rows = np.flatnonzero(labels == cluster)
        mass = shares[rows].sum()
        for i in rows:
            for j in rows:
                total += shares[i] * shares[j] * (K[i, i] + K[j, j] - 2 * K[i, j]) / (2 * mass)
    return total


def best_weights(costs, strength):
    """Least of sum a c + lambda sum a log(L a) over the simplex, numerically."""
    L = len(costs)
    if L == 1:
        return costs[0], np.ones(1)

    def value(a):
        return a @ costs + strength * (a * np.log(np.maximum(L * a, 1e-300))).sum()

    found = minimize(
        value,
        np.full(L, 1 / L),
        bounds=[(1e-9, 1)] * L,
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1},
        tol=1e-14,
    )
    return found.fun, found.x


def test_consistency_errors_fall_with_n():
    run = EXPERIMENTS["consistency"].run
    few, many = (run(kernels=1, power=None, n=n, draws=5) for n in (100, 10000))
    assert np.mean(many["error"]) < 0.3 * np.mean(few["error"])
    assert many["same"] == 1


def test_kernel_weights_approach_the_populations():
    run = EXPERIMENTS["consistency"].run
    few, many = (run(kernels=3, power=None, n=n, draws=5) for n in (1000, 100000))
    assert many["same"] == 1
    assert np.mean(many["weight_error"]) < 0.3 * np.mean(few["weight_error"]) < 1e-3


def test_consistency_at_a_fixed_power_ends_at_a_distance():
    run = EXPERIMENTS["consistency"].run
    soft = run(kernels=1, power=-2.0, n=10**6, draws=2)
    softer = run(kernels=1, power=-32.0, n=10**6, draws=2)
    hard = run(kernels=1, power=None, n=10**6, draws=2)
    assert np.mean(soft["error"]) > 3 * np.mean(softer["error"])
    assert np.mean(soft["error"]) > 10 * np.mean(hard["error"])


def test_cost_exponents_are_those_of_the_times():
    table = by_name(EXPERIMENTS["cost"].report(made_up_results("cost", FULL), FULL))["cost"]
    for entry in column(table, "measured").values():
        assert entry.value == pytest.approx(1.5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("L", [1, 2])
def test_cost_is_the_time_of_the_steps_that_a_long_fit_has_more(L, monkeypatch):
    # A fit takes a second, and each of its steps half of one.
    clock = cycle([0.0, 1 + 5 / 2, 0.0, 1 + 65 / 2])
    monkeypatch.setattr(cost, "process_time", lambda: next(clock))
    assert EXPERIMENTS["cost"].run(axis="L", n=200, k=3, L=L) == {"seconds": 0.5}


# What is ours


def test_growth_about_the_critical_power_is_as_predicted():
    outcome = EXPERIMENTS["critical"].run(task="growth", sphere=3)
    np.testing.assert_allclose(outcome["measured"], outcome["predicted"], rtol=2e-3)
    at_critical = critical.FACTORS.index(1.0)
    assert outcome["predicted"][at_critical] == pytest.approx(1)


def test_a_start_at_the_critical_power_takes_fewer_steps():
    run = EXPERIMENTS["critical"].run
    above, auto = (run(task="start", sphere=5, start=start, starts=3) for start in critical.STARTS)
    assert np.mean(auto["steps"]) < np.mean(above["steps"])
    assert above["critical"] == auto["critical"] < -1


def test_the_best_hard_run_is_that_of_least_cost_at_the_price_of_all():
    results = made_up_results("schedules", QUICK)
    tables = by_name(EXPERIMENTS["schedules"].report(results, QUICK))
    own = results.one(data="seeds", method=schedules.HARD)
    least = min(min(outcome["cost"]) for _, outcome in results.where(data="seeds"))
    gap = 100 * (min(own["cost"]) / least - 1)
    entry = column(tables["schedules_sets"], "Seeds")[schedules.BEST_HARD]
    assert entry.value == pytest.approx(gap)
    assert entry.mark == f" ({sum(own['steps'])})"


def test_swap_moves_are_compared_with_the_best_hard_run():
    results = made_up_results("schedules", QUICK)
    table = by_name(EXPERIMENTS["schedules"].report(results, QUICK))["swap"]
    reference = min(results.one(data="glioma", method=schedules.HARD)["cost"])
    first = results.one(data="glioma", method=schedules.SWAP)["cost"][0]
    assert column(table, "seed 0")["GLIOMA"].value == pytest.approx(100 * (first / reference - 1))
