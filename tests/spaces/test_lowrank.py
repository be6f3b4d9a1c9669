"""Spaces of landmarks and random features: held, in parts, and several side by side."""

import pickle
from functools import cached_property
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import data
from kernelmeans.engines import Threads
from kernelmeans.kernels import Kernel
from kernelmeans.lowrank import Explicit, Fourier, Nystroem, approximate
from kernelmeans.rows import open_rows
from kernelmeans.solver import Annealed, Constant, Hard, solve
from kernelmeans.spaces import EntropyRule, FeatureSpace, GramSpace, ProductSpace, stream
from oracle import rbf
from spaces.conformance import N, SpaceConformance
from spaces.test_product import FACTORS

pytestmark = pytest.mark.slow

#: Rows that are landmarks: few and far apart, so that float32 keeps all that they span.
LANDMARKS = np.arange(0, N, 25)
GAMMA = 1.0
RBF = Kernel("rbf", {"gamma": GAMMA})
LINEAR = Kernel("linear", {})
POLY = Kernel("poly", {"gamma": 0.5, "degree": 2, "coef0": 1.0}).normalize()
#: Parts of very different sizes.
EDGES = [0, 1, 8, 120, 121, 260, N]
PARTS = [slice(*pair) for pair in pairwise(EDGES)]


def spanned(K, landmarks):
    """K[:, S] K_SS^-1 K[S]: the kernel as far as landmarks span it."""
    own = K[np.ix_(landmarks, landmarks)]
    return K[:, landmarks] @ np.linalg.solve(own, K[landmarks])


def poly(X):
    K = (0.5 * X @ X.T + 1) ** 2
    norms = np.sqrt(np.diagonal(K))
    return K / norms[:, None] / norms


class Held(SpaceConformance):
    """Landmarks for a kernel of which a dense matrix can be had."""

    landmarks = LANDMARKS

    def dense(self, X):
        raise NotImplementedError

    def found(self, X, weight):
        """Feature map; landmarks are training rows, whichever rows are asked about."""
        raise NotImplementedError

    def _with_landmarks(self, X):
        """The dense matrix of the landmarks, which come first, and these rows."""
        landmarks = self.make_rows(N).astype(X.dtype)[self.landmarks]
        return self.dense(_stack(landmarks, X))

    def gram(self, X):
        m = len(self.landmarks)
        return spanned(self._with_landmarks(X), np.arange(m))[m:, m:]

    def left_out(self, X):
        m = len(self.landmarks)
        K = self._with_landmarks(X)
        return np.diagonal(K - spanned(K, np.arange(m)))[m:]

    def diagonal(self, X):
        return np.diagonal(self.dense(X)).astype(X.dtype)

    def make_space(self, X, weight, threads):
        features = self.found(X, weight)
        return FeatureSpace.hold(features, X, weight, threads)


class TestLandmarks(Held):
    def dense(self, X):
        X = _double(X)
        return rbf(X, X, GAMMA)

    def found(self, X, weight):
        return Nystroem.whitened(RBF, X, self.landmarks)

    def test_landmarks_leave_something_out(self, space, K, weight):
        total = weight.astype(float) @ (np.diagonal(K) + self.rho)
        fraction = weight.astype(float) @ self.rho / total
        assert 0.05 < fraction < 0.9
        assert space.trace.total == pytest.approx(total, rel=1e-5)
        assert space.trace.residual / total == pytest.approx(fraction, rel=1e-4)


class TestLandmarksOfCSR(TestLandmarks):
    def make_rows(self, n, seed=0):
        return scipy.sparse.random_array(
            (n, 12), density=0.4, format="csr", rng=np.random.default_rng(seed)
        )


class TestNormalized(Held):
    """Rows are divided by their norms, landmarks too."""

    landmarks = LANDMARKS[::2]

    def make_rows(self, n, seed=0):
        # Lengths that differ, and directions in which the kernel does.
        return 3 * np.random.default_rng(seed).standard_normal((n, 4))

    def dense(self, X):
        return poly(_double(X))

    def diagonal(self, X):
        """Before any normalization, which is what the predictor takes."""
        X = _double(X)
        return ((0.5 * (X * X).sum(axis=1) + 1) ** 2).astype(X.dtype)

    def found(self, X, weight):
        return Nystroem.whitened(POLY, X, self.landmarks)


class TestPivotsOfAMatrix(SpaceConformance):
    # Rows of a kernel matrix are no places in feature space.
    test_centroids_on_rows_of_input = None

    def make_rows(self, n, seed=0):
        X = super().make_rows(n, seed)
        return rbf(X, X, GAMMA)

    def make_space(self, X, weight, threads):
        found = approximate(Kernel("precomputed", {}), X, weight, "rpcholesky", 20, seed=0)
        self.pivots = found.landmarks
        return FeatureSpace.hold(found, X, weight, threads)

    @pytest.fixture(name="K")
    def dense_answer(self, rows, space):
        """The pivots are the package's choice; what follows from them is not."""
        K = rows.astype(np.float64)
        part = spanned(K, self.pivots)
        self.rho = np.diagonal(K - part)
        return part

    def diagonal(self, X):
        return np.diagonal(X)

    def test_pivots_are_samples_with_weight(self, space, weight):
        assert len(set(self.pivots.tolist())) == 20
        assert weight[self.pivots].all()


class TestFourier(SpaceConformance):
    COUNT = 30

    def waves(self, dtype):
        return Fourier.draw(RBF, 4, self.COUNT, 0, np.dtype(dtype)).frequencies

    def make_space(self, X, weight, threads):
        features = Fourier(RBF, self.waves(weight.dtype))
        return FeatureSpace.hold(features, X, weight, threads)

    def gram(self, X):
        """Means of cosines of differences, which is what cosines and sines add up to."""
        angles = X.astype(np.float64) @ self.waves(X.dtype).astype(np.float64)
        return np.cos(angles[:, None] - angles).mean(axis=-1)

    def test_it_has_no_certificate(self, space):
        assert space.trace is None


def parted(features, X, weight, threads, rows=None, parts=PARTS):
    sample = FeatureSpace.hold(features, X, weight, threads)
    return stream(sample, X if rows is None else rows, parts, weight)


class Parted:
    """The same space, but its features are recomputed part by part."""

    #: Whether the rows are on disk.
    stored = False

    def make_space(self, X, weight, threads):
        features = self.found(X, weight)
        rows = None
        if self.stored:
            np.save(self.folder / "X.npy", X)
            rows = open_rows(self.folder / "X.npy")
        return parted(features, X, weight, threads, rows)

    @pytest.fixture(autouse=True)
    def keep_folder(self, tmp_path):
        self.folder = tmp_path


class TestPartedLinear(Parted, SpaceConformance):
    def found(self, X, weight):
        return Explicit(LINEAR)

    def gram(self, X):
        X = X.astype(np.float64)
        return X @ X.T


class TestPartedLandmarks(Parted, TestLandmarks):
    pass


class TestPartedFromDisk(Parted, TestLandmarks):
    stored = True


class TestPartedLandmarksOfCSR(Parted, TestLandmarksOfCSR):
    pass


class TestPartedNormalized(Parted, TestNormalized):
    pass


class TestPartedFourier(Parted, TestFourier):
    def found(self, X, weight):
        return Fourier(RBF, self.waves(weight.dtype))


class Mix(SpaceConformance):
    """Landmarks of two columns, and random features and the linear kernel of the others."""

    COLUMNS = (slice(0, 2), slice(1, 4), np.array([3, 0]))
    #: How each of them is held.
    FORMS = ("held", "held", "held")

    @cached_property
    def waves(self):
        return Fourier.draw(RBF, 3, 30, 0, np.dtype(np.float64)).frequencies

    def make_space(self, X, weight, threads):
        maps = [
            Nystroem.whitened(RBF, X[:, self.COLUMNS[0]], LANDMARKS[:6]),
            Fourier(RBF, self.waves.astype(X.dtype)),
            Explicit(LINEAR),
        ]
        kernels = RBF, RBF, LINEAR
        members = [
            self.member(form, kernel, own, np.ascontiguousarray(X[:, columns]), weight, threads)
            for form, kernel, own, columns in zip(
                self.FORMS, kernels, maps, self.COLUMNS, strict=True
            )
        ]
        return ProductSpace(members, self.COLUMNS, EntropyRule(1.0), FACTORS)

    @staticmethod
    def member(form, kernel, features, X, weight, threads):
        if form == "matrix":
            return GramSpace.hold(kernel, X, weight, threads)
        if form == "parted":
            return parted(features, X, weight, threads)
        return FeatureSpace.hold(features, X, weight, threads)

    def parts(self, X):
        """Inner products in each member, and what the first leaves out."""
        first, second, third = (_double(X)[:, own] for own in self.COLUMNS)
        landmarks = self.make_rows(N).astype(X.dtype)[LANDMARKS[:6], self.COLUMNS[0]]
        K = rbf(*[np.vstack([landmarks, first])] * 2, GAMMA)
        part = spanned(K, np.arange(6))
        angles = second @ self.waves.astype(X.dtype).astype(np.float64)
        fourier = np.cos(angles[:, None] - angles).mean(axis=-1)
        return np.stack([part[6:, 6:], fourier, third @ third.T]), np.diagonal(K - part)[6:]

    def gram(self, X):
        return np.einsum("l,lij->ij", FACTORS / 3, self.parts(X)[0])

    def left_out(self, X):
        return FACTORS[0] / 3 * self.parts(X)[1]

    def diagonal(self, X):
        grams, left_out = self.parts(X)
        grams[0] += np.diag(left_out)
        return np.stack([np.diagonal(K) for K in grams], axis=1).astype(X.dtype)


class TestHeldSideBySide(Mix):
    def test_nothing_is_in_parts(self, space):
        assert space.chunks is None


class TestPartedSideBySide(Mix):
    FORMS = ("parted", "parted", "parted")

    def test_parts_are_opened_together(self, space):
        assert space.chunks.slices == PARTS


class TestHeldAndParted(Mix):
    FORMS = ("held", "parted", "parted")

    def test_parts_are_opened_together(self, space):
        assert space.chunks.slices == PARTS


class TestMatrixHeldAndParted(Mix):
    """Matrices know centroids by all their coefficients: no part does."""

    FORMS = ("parted", "held", "matrix")

    def test_parts_are_not_used(self, space):
        assert space.chunks is None


class TestPartsMakeNoDifference:
    """The same steps, whether features are held or recomputed."""

    X = data.blobs(N, 4, 6, spread=0.8)[0]
    v = np.random.default_rng(4).uniform(0.2, 3, N)
    # Nobody counts in some parts.
    v[120:270] = 0
    STARTS = np.array([[0, 10, 20], [1, 11, 21], [2, 12, 22], [3, 13, 23], [4, 14, 24]])
    SCHEDULES = (
        Hard(max_iter=200),
        Annealed(s0=-3.0, critical_power=-2.0, eta=1.06, relaxation=1.8, softness=0.01),
        Constant(s0=-3.0, critical_power=-2.0, max_iter=60),
        # The noise on its weights belongs to the samples, not to their places in a part.
        Annealed(s0=-1.0, critical_power=-2.0, eta=1.3),
    )

    def maps(self, name, X):
        kernel = Kernel("rbf", {"gamma": 0.05})
        if name == "linear":
            return Explicit(LINEAR)
        if name == "fourier":
            return Fourier.draw(kernel, X.shape[1], 40, 0, X.dtype)
        return Nystroem.whitened(kernel, X, LANDMARKS)

    def both(self, name, weight, threads, dtype="float64"):
        X, weight = self.X.astype(dtype), weight.astype(dtype)
        features = self.maps(name, X)
        held = FeatureSpace.hold(features, X, weight, threads)
        return held, parted(features, X, weight, threads)

    names = pytest.mark.parametrize("name", ["linear", "landmarks", "fourier"])

    @names
    @pytest.mark.parametrize("schedule", SCHEDULES, ids=["hard", "annealed", "constant", "noisy"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_to_the_solver(self, name, schedule, weighted, threads):
        weight = self.v if weighted else np.ones(N)
        held, parts = (
            solve(space, space.at(self.STARTS), schedule, [3, 4, 5])
            for space in self.both(name, weight, threads)
        )
        assert_array_equal(parts.labels[:, weight > 0], held.labels[:, weight > 0])
        assert_allclose(parts.inertia, held.inertia, rtol=1e-9)
        assert_array_equal(parts.n_iter, held.n_iter)
        for one, other in zip(parts.objective_history, held.objective_history, strict=True):
            assert_allclose(one, other, rtol=1e-8)

    @names
    @pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-10), ("float32", 1e-4)])
    def test_to_what_a_survey_finds(self, name, dtype, rtol, threads):
        held, parts = self.both(name, self.v, threads, dtype)
        assert parts.magnitude == pytest.approx(held.magnitude, rel=rtol)
        if name == "fourier":
            assert parts.trace is held.trace is None
        else:
            size = rtol * held.trace.total
            assert_allclose(parts.trace, held.trace, rtol=0, atol=size)

    @names
    @settings(max_examples=10)
    @given(cuts=st.sets(st.integers(1, N - 1), max_size=8))
    def test_wherever_they_are_cut(self, name, cuts):
        with Threads(1) as threads:
            held, _ = self.both(name, self.v, threads)
            parts = [slice(*pair) for pair in pairwise([0, *sorted(cuts), N])]
            features = self.maps(name, self.X)
            space = parted(features, self.X, self.v, threads, parts=parts)
            schedule = self.SCHEDULES[0]
            results = [solve(s, s.at(self.STARTS), schedule, [1, 2, 3]) for s in (held, space)]
        counting = self.v > 0
        assert_array_equal(results[0].labels[:, counting], results[1].labels[:, counting])
        assert_allclose(results[0].inertia, results[1].inertia, rtol=1e-9)

    @names
    def test_the_floor_is_the_same(self, name, threads):
        """Samples near the origin alone in a part are held above the rounding of all."""
        X, weight = self.X.copy(), np.ones(N)
        X[1:8] = X.mean(axis=0)
        features = self.maps(name, X)
        held = FeatureSpace.hold(features, X, weight, threads)
        space = parted(features, X, weight, threads)
        assert space.part(PARTS[1]).floor(held.at(self.STARTS)) == pytest.approx(
            held.floor(held.at(self.STARTS)), rel=1e-6
        )

    @names
    def test_to_the_bit_on_any_number_of_threads(self, name):
        answers = []
        for workers in (1, 2, 5):
            with Threads(workers) as threads:
                _, space = self.both(name, self.v, threads)
                found = solve(space, space.at(self.STARTS), self.SCHEDULES[1], [3, 4, 5])
            answers.append(b"".join(own.tobytes() for own in found.objective_history))
        assert answers[0] == answers[1] == answers[2]

    def test_rows_on_disk_that_are_not_finite_are_refused(self, tmp_path, threads):
        X = self.X.copy()
        features = Nystroem.whitened(RBF, X, LANDMARKS)
        sample = FeatureSpace.hold(features, X, np.ones(N), threads)
        X[205, 2] = np.nan
        np.save(tmp_path / "X.npy", X)
        with pytest.raises(ValueError, match="NaN or infinite values between rows 121 and 260"):
            stream(sample, open_rows(tmp_path / "X.npy"), PARTS, np.ones(N))

    def test_a_kernel_that_overflows_on_a_row_is_refused(self, threads):
        X = self.X.copy()
        kernel = Kernel("poly", {"gamma": 1.0, "degree": 2, "coef0": 1.0})
        features = Nystroem.whitened(kernel, X, LANDMARKS)
        sample = FeatureSpace.hold(features, X, np.ones(N), threads)
        X[205] = 1e170
        with pytest.raises(ValueError, match=r"kernel='poly'.*NaN or infinite on these data"):
            stream(sample, X, PARTS, np.ones(N))


def _double(X):
    return (X.toarray() if scipy.sparse.issparse(X) else X).astype(np.float64)


def _stack(first, second):
    return np.vstack([_double(first), _double(second)])


def test_a_space_that_has_travelled_has_aligned_arrays():
    """Dask puts arrays at any address; NumPy would round their products differently."""
    X = np.random.default_rng(0).standard_normal((30, 3))
    features = Nystroem(RBF, X[:5], RBF.diagonal(X[:5]))
    space = FeatureSpace.hold(features, X, np.ones(30), Threads(1))
    buffers = []
    data = pickle.dumps(space, protocol=5, buffer_callback=buffers.append)
    askew = [memoryview(bytearray(b"x" + bytes(own.raw())))[1:] for own in buffers]
    arrived = pickle.loads(data, buffers=askew)
    pairs = [
        (space.source.Z, arrived.source.Z),
        (space.features.origin, arrived.features.origin),
        (space.features.landmarks, arrived.features.landmarks),
    ]
    for sent, found in pairs:
        assert_array_equal(found, sent)
        assert found.flags.aligned
    assert not np.frombuffer(askew[0]).flags.aligned
