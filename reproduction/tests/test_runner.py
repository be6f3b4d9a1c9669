"""Cells in processes: the same outcomes whatever runs beside them, and nothing lost."""

import pytest

import data
from deadly import DeadlyStore
from kernelmeans_paper.grid import Cell
from kernelmeans_paper.methods import AUTOMATIC, PAPERS
from kernelmeans_paper.runner import run_cell, run_cells
from kernelmeans_paper.store import Store

TINY = [
    Cell("motivating", {"method": f"Kernel power k-means, {PAPERS}", "seed": 0, "starts": 2}),
    Cell("motivating", {"method": "Kernel k-means", "seed": 0, "starts": 2}),
    Cell("limit", {"k": 3, "kernels": 3, "centroids": 4}),
    Cell("hull", {"source": "wine", "schedule": "default"}),
    Cell("consistency", {"kernels": 3, "power": None, "n": 30, "draws": 2}),
    Cell(
        "sphere",
        {"k": 10, "imbalance": 1.0, "noise": 0.0, "seed": 0, "method": "Spectral", "starts": 2},
    ),
    Cell("critical", {"task": "growth", "sphere": 5}),
    Cell("critical", {"task": "start", "sphere": 5, "start": "s0 = auto", "starts": 2}),
]
#: The same on real data.
REAL = [
    Cell(
        "single",
        {
            "data": "glioma",
            "seeding": "k-means++",
            "method": f"Power k-means, {PAPERS}",
            "starts": 2,
        },
    ),
    Cell("multi", {"data": "yale", "method": f"MKPK, {AUTOMATIC}", "starts": 2}),
    Cell("schedules", {"data": "seeds", "method": "DEFAULT (annealed, swap moves)"}),
]


def outcomes(store, cells):
    found = [store.read(cell) for cell in cells]
    return [content and content["outcome"] for content in found]


@pytest.mark.slow
@pytest.mark.parametrize("cells", [TINY, pytest.param(REAL, marks=data.needs_data)])
def test_outcomes_depend_neither_on_the_order_nor_on_the_number_of_workers(cells, tmp_path):
    here, one, three = (Store(tmp_path / name) for name in ("here", "one", "three"))
    assert [run_cell(cell, here) for cell in cells] == [None] * len(cells)
    assert run_cells(cells, one, 1) == []
    assert run_cells(cells[::-1], three, 3) == []
    assert None not in outcomes(here, cells)
    assert outcomes(one, cells) == outcomes(here, cells)
    assert outcomes(three, cells) == outcomes(here, cells)


@pytest.mark.slow
def test_what_is_finished_is_not_run_again(tmp_path):
    store = Store(tmp_path)
    store.write(TINY[0], {"kept": 1}, seconds=0.0)
    done = []
    run_cells(TINY[:2], store, 1, lambda cell, failure: done.append((cell, failure)))
    assert done == [(cell, None) for cell in TINY[:2]]
    first, second = outcomes(store, TINY[:2])
    assert first == {"kept": 1}
    assert len(second["nmi"]) == 2


@pytest.mark.slow
def test_a_cell_that_fails_is_reported_and_stops_no_other(tmp_path):
    store = Store(tmp_path)
    broken = Cell("limit", {"k": 3, "kernels": 7, "centroids": 4})
    (failure,) = run_cells([broken, TINY[2]], store, 1)
    assert failure.cell == broken
    assert failure.message == "KeyError: 7"
    assert "Traceback" in failure.trace
    assert outcomes(store, [broken, TINY[2]])[0] is None
    assert outcomes(store, [TINY[2]])[0]["largest"]


@pytest.mark.slow
def test_a_killed_process_is_an_error_with_the_remedy(tmp_path):
    with pytest.raises(RuntimeError, match="run the same command again, with fewer --workers"):
        run_cells(TINY[2:4], DeadlyStore(tmp_path), 1)


def test_cells_that_measure_time_run_last_and_one_at_a_time(tmp_path, monkeypatch):
    groups = []

    def note(cells, store, workers, on_done):
        groups.append(([cell.parameters["n"] for cell in cells], workers))
        return []

    monkeypatch.setattr("kernelmeans_paper.runner._run", note)
    cells = [Cell("cost", {"n": n}, alone=n % 2 == 0) for n in range(4)]
    run_cells(cells, Store(tmp_path), 5)
    assert groups == [([1, 3], 5), ([0, 2], 1)]
