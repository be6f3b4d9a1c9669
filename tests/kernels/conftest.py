import numpy as np
import pytest
import scipy.sparse


@pytest.fixture(params=["dense", "csr"])
def form(request):
    return np.asarray if request.param == "dense" else scipy.sparse.csr_array
