import subprocess
import sys

import numpy as np

from backends import over_backends
from kernelmeans._arrays import like, namespace, overwrite, put_first, reduce, take, to_numpy


@over_backends
def test_arrays_come_back_as_they_were(backend):
    for dtype in ("float32", "float64", "int32", "bool"):
        values = np.arange(6).reshape(2, 3).astype(dtype)
        back = to_numpy(backend.array(values))
        assert type(back) is np.ndarray
        assert back.dtype == values.dtype
        np.testing.assert_array_equal(back, values)


@over_backends
def test_values_of_the_host_follow_an_array(backend):
    x = backend.array(np.ones((2, 3), np.float32))
    for values in (np.arange(3.0), 0.25):
        there = like(values, x)
        assert (namespace(there), there.device, there.dtype) == (namespace(x), x.device, x.dtype)
        np.testing.assert_array_equal(to_numpy(there), values)


@over_backends
def test_entries_are_taken_and_put(backend):
    values = np.arange(24.0).reshape(3, 2, 4)
    x = backend.array(values)
    np.testing.assert_array_equal(to_numpy(take(x, np.array([1, 0, 1]), 1)), values[:, [1, 0, 1]])

    indices = np.array([[0, 1, 2, 0], [2, 2, 1, 0]], np.int32)
    rows, columns = np.indices(indices.shape)
    for new in (np.arange(-8.0, 0).reshape(2, 4), np.inf):
        expected = values.copy()
        expected[indices, rows, columns] = new
        there = new if np.isscalar(new) else backend.array(new)
        got = put_first(backend.array(values), backend.array(indices), there)
        np.testing.assert_array_equal(to_numpy(got), expected)


@over_backends
def test_functions_are_applied_and_reduced(backend):
    values = np.arange(1.0, 7).reshape(2, 3)
    x = backend.array(values)
    np.testing.assert_array_equal(to_numpy(reduce("sum", x, axis=0)), values.sum(axis=0))
    assert reduce("min", x) == 1
    xp = namespace(x)
    np.testing.assert_array_equal(to_numpy(overwrite(x, xp.subtract, x, x)), np.zeros((2, 3)))


def test_numpy_arrays_are_overwritten_and_never_copied():
    x = np.ones((2, 3))
    assert to_numpy(x) is x
    assert overwrite(x, np.add, x, x) is x
    assert put_first(x[:, None], np.zeros((1, 3), int), 5.0).base is x
    np.testing.assert_array_equal(x, [[5] * 3, [2] * 3])


def test_the_package_does_not_import_pytorch():
    code = "import sys, kernelmeans.solver; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
