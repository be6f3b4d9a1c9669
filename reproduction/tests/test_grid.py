"""Cells of a grid, and finding outcomes by parameters."""

from dataclasses import replace

import pytest

from kernelmeans_paper.grid import Cell, Experiment, Results, Scale
from kernelmeans_paper.report import Section

OUTCOMES = [
    ({"data": "yale", "k": 3, "plain": True}, {"nmi": 0.1}),
    ({"data": "yale", "k": 2, "plain": False}, {"nmi": 0.2}),
    ({"data": "seeds", "k": 3, "plain": False}, {"nmi": 0.3}),
    ({"k": 3, "size": 10}, {"nmi": 0.4}),
]


def outcomes(results):
    return [outcome["nmi"] for _, outcome in results]


def experiment(grid, alone=False):
    return Experiment(
        "trial",
        lambda scale: grid,
        run=lambda **parameters: {},
        report=lambda results, scale: Section("trial", "A trial"),
        alone=alone,
    )


def test_cells_can_be_keys():
    cells = {Cell("trial", {"k": 2}): "two", Cell("trial", {"k": 3}): "three"}
    assert cells[Cell("trial", {"k": 3})] == "three"
    assert Cell("other", {"k": 3}) not in cells
    assert Cell("trial", {"k": 4}) not in cells


def test_outcomes_are_found_by_parameters():
    results = Results(OUTCOMES)
    assert outcomes(results) == [0.1, 0.2, 0.3, 0.4]
    assert outcomes(results.where()) == [0.1, 0.2, 0.3, 0.4]
    assert outcomes(results.where(k=3)) == [0.1, 0.3, 0.4]
    assert outcomes(results.where(k=3, plain=False)) == [0.3]
    assert outcomes(results.where(k=3).where(data="yale")) == [0.1]
    assert outcomes(results.where(data="isolet")) == []
    assert outcomes(results.where(nothing=3)) == []
    assert len(results.where(data="yale")) == 2
    assert list(results.where(size=10)) == [OUTCOMES[3]]


def test_only_one_outcome_is_one():
    results = Results(OUTCOMES)
    assert results.one(data="seeds") == {"nmi": 0.3}
    assert results.one(data="isolet") is None
    assert Results([]).one() is None
    with pytest.raises(LookupError, match=r"2 cells .*'yale'"):
        results.one(data="yale")


def test_values_come_once_in_the_order_of_the_cells():
    results = Results(OUTCOMES)
    assert results.values("k") == [3, 2]
    assert results.values("data") == ["yale", "seeds"]
    assert results.values("size") == [10]
    assert results.values("nothing") == []


def test_absent_sets_are_left_out():
    grid = [{"data": name, "k": k} for name in ("yale", "lung", "seeds") for k in (2, 3)]
    grid.append({"k": 4})
    here = experiment(grid).cells(Scale(absent=frozenset({"lung", "orl"})))
    assert [cell.parameters for cell in here] == [*grid[:2], *grid[4:]]
    assert len(experiment(grid).cells(Scale())) == 7


@pytest.mark.parametrize("alone", [True, False])
def test_cells_know_their_experiment(alone):
    [cell] = experiment([{"k": 2}], alone).cells(Scale())
    assert (cell.experiment, cell.parameters, cell.alone) == ("trial", {"k": 2}, alone)


def test_the_grid_is_told_the_scale():
    told = []
    trial = Experiment("t", lambda scale: told.append(scale) or [], dict, Section)
    trial.cells(Scale(quick=True, datasets=3))
    assert told == [Scale(quick=True, datasets=3)]
    assert trial.data(Scale()) == ()


def test_the_papers_twenty_starts_or_five():
    assert Scale().starts == 20
    assert Scale(quick=True).starts == 5


def test_sets_are_chosen_by_name_before_they_are_few():
    names, few = ("yale", "lung", "seeds"), ("lung",)
    assert Scale().choose(names, few) == names
    assert Scale(quick=True).choose(names, few) == few
    for quick in (True, False):
        chosen = Scale(quick, sets=frozenset({"seeds", "yale", "orl"}))
        assert chosen.choose(names, few) == ("yale", "seeds")


def test_what_is_left_out_of_the_full_scale_is_known():
    def data(scale):
        return scale.choose(("yale", "lung", "seeds"), ("lung",))

    trial = replace(experiment([]), data=data)
    assert trial.left_out(Scale()) == []
    assert trial.left_out(Scale(quick=True)) == ["yale", "seeds"]
    assert trial.left_out(Scale(sets=frozenset({"yale"}))) == ["lung", "seeds"]
