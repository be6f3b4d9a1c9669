"""The distance beyond which rows are far."""

import numpy as np

from kernelmeans.models.far import bound


class TestBound:
    def test_one_row_of_a_hundred_is_farther(self):
        distances = np.random.default_rng(0).permutation(1000.0 + np.arange(1000))
        assert (distances > bound(distances, np.ones(1000))).sum() == 10

    def test_weights_are_rows(self):
        rng = np.random.default_rng(0)
        distances, weights = rng.random(300), rng.integers(0, 4, 300)
        again = np.repeat(distances, weights)
        assert bound(distances, weights) == bound(again, np.ones(len(again)))

    def test_rows_as_far_as_many_others_are_not_far(self):
        distances = np.repeat([0.1, 0.5], [50, 50])
        assert not (distances * (1 + 1e-6) > bound(distances, np.ones(100))).any()
