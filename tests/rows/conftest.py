"""One matrix in every form that rows are read from."""

import pytest

from kernelmeans.rows import Rows
from rows.forms import FORMS


@pytest.fixture
def X(rng):  # noqa: N802 (the field's name)
    return rng.normal(size=(40, 4))


@pytest.fixture(params=FORMS)
def make(request, tmp_path):
    """Store a matrix in one form."""

    def store(X) -> Rows:
        return FORMS[request.param](tmp_path, X)

    return store


@pytest.fixture
def rows(make, X):
    return make(X)
