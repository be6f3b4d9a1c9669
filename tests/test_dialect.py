"""How messages name parameters and rows, in Python and on a command line."""

import threading
from contextlib import suppress

import numpy as np
import pytest

from kernelmeans._dialect import first_row, learn, option, parameter_of, row_name, speaking

OPTIONS = {"missing": "--missing", "cache_kernel": "--cache-kernel", "n_clusters": "-k"}


@pytest.mark.parametrize(
    ("given", "python", "typed"),
    [
        (("missing", "impute"), "missing='impute'", "--missing impute"),
        (("missing", "two words"), "missing='two words'", "--missing 'two words'"),
        (("missing", None), "missing=None", "--missing none"),
        (("missing",), "missing", "--missing"),
        (("missing=",), "missing=", "--missing"),
        (("n_clusters", 2.5), "n_clusters=2.5", "-k 2.5"),
        (("gamma", np.float64(2.5)), "gamma=2.5", "gamma=2.5"),
        (("n_neighbors", np.int64(3)), "n_neighbors=3", "n_neighbors=3"),
        (("cache_kernel", True), "cache_kernel=True", "--cache-kernel"),
        (("cache_kernel", False), "cache_kernel=False", "--no-cache-kernel"),
        (("diagonal", None), "diagonal=None", "diagonal=None"),
    ],
)
def test_option(given, python, typed):
    assert option(*given) == python
    with speaking(OPTIONS):
        assert option(*given) == typed
    assert option(*given) == python


def test_parameters_that_open_a_message():
    assert parameter_of("eta", "PowerKMeans") == "The 'eta' parameter of PowerKMeans"
    with speaking({"eta": "--eta"}):
        assert parameter_of("eta", "PowerKMeans") == "--eta"
        assert parameter_of("gamma", "view 1") == "view 1: gamma"


def test_what_is_learned_is_forgotten_at_the_end_even_after_an_error():
    with suppress(ValueError), speaking(OPTIONS):
        learn({"kernels": "views.toml"}, lines=[2, 7])
        assert option("kernels") == "views.toml"
        assert f"{row_name(1)}{first_row()}" == "line 7"
        raise ValueError
    assert f"{row_name(1)}{first_row()}" == "row 1, the first data row being 0"
    assert option("kernels") == "kernels"
    assert "kernels" not in OPTIONS


def test_python_learns_nothing():
    learn({"missing": "--missing"}, lines=[1])
    assert option("missing") == "missing"
    assert row_name(0) == "row 0"


def test_all_threads_speak_alike():
    said = []
    with speaking(OPTIONS):
        thread = threading.Thread(target=lambda: said.append(option("n_clusters", 3)))
        thread.start()
        thread.join()
    assert said == ["-k 3"]
