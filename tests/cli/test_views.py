"""Views and kernels from a TOML file, through ``fit --views`` and ``predict``."""

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse
import skops.io
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans
from kernelmeans._errors import InputError
from kernelmeans.cli.demo import write_digits
from kernelmeans.cli.views import read_views
from kernelmeans.models import load_model
from kernelmeans.models.archive import TRUSTED_TYPES

pytestmark = pytest.mark.slow

X, SPECIES = load_iris(return_X_y=True)
NAMES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
EXAMPLE = """
kernel_scaling = "cosine"
entropy_weight = 0.5

[[view]]
name = "sepal"
columns = ["sepal*"]
kernel = "rbf"
gamma = "median"

[[view]]
columns = ["petal_width", "sepal_length"]
kernel = "poly"
degree = 2
gamma = 0.3
coef0 = 1.5

[[view]]
kernel = "linear"
"""


@pytest.fixture
def flowers(folder: Path) -> Path:
    frame = pl.DataFrame(X, schema=NAMES).with_columns(species=pl.Series(SPECIES))
    frame.write_parquet("iris.parquet")
    return Path("iris.parquet")


@pytest.fixture
def fit(run, flowers):
    """Run ``fit`` on the flowers with the views of a text."""

    def invoke(text: str, *arguments: object, code: int = 0):
        Path("views.toml").write_text(text)
        common = ["-k", 3, "--label-column", "species", "--views", "views.toml"]
        result = run("fit", flowers, *common, *arguments)
        assert result.exit_code == code, result.output
        return result

    return invoke


@pytest.fixture
def message(refused, flowers):
    """The message with which the views of a text are refused."""

    def invoke(text: str | bytes, *arguments: object) -> str:
        Path("views.toml").write_bytes(text.encode() if isinstance(text, str) else text)
        command = ["fit", flowers, "--drop", "species", "--views", "views.toml"]
        return " ".join(refused(*command, *arguments).split())

    return invoke


def summary(stem: str = "iris") -> dict:
    return json.loads(Path(f"{stem}.summary.json").read_text())


def labels(file: str = "iris.labels.csv") -> np.ndarray:
    return pl.read_csv(file)["label"].to_numpy()


def expected(kernels, data=X, **settings) -> MultiKernelPowerKMeans:
    Z = StandardScaler().fit_transform(data)
    return MultiKernelPowerKMeans(3, kernels=kernels, random_state=0, **settings).fit(Z)


@pytest.fixture(scope="module")
def example() -> MultiKernelPowerKMeans:
    kernels = [
        ({"kernel": "rbf", "gamma": "median"}, [0, 1]),
        ({"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 1.5}, [0, 3]),
        "linear",
    ]
    return expected(kernels, kernel_scaling="cosine", entropy_weight=0.5)


def test_views_may_be_graphs(fit):
    fit(
        '[[view]]\nn_neighbors = 6\ndensity = 1.5\n[[view]]\ncolumns = ["sepal*"]\nkernel = "rbf"\n'
    )
    kernels = [
        ({"kernel": "heat", "n_neighbors": 6, "density": 1.5}, [0, 1, 2, 3]),
        ("rbf", [0, 1]),
    ]
    assert summary()["cost"] == pytest.approx(expected(kernels).inertia_)
    assert [kernel["kernel"] for kernel in summary()["kernels"]] == ["heat", "rbf"]


def test_an_infinite_entropy_weight_can_be_read_in_the_summary(fit):
    fit('entropy_weight = inf\n[[view]]\nkernel = "widths"\n')
    assert summary()["parameters"]["entropy_weight"] == "inf"
    np.testing.assert_allclose([kernel["weight"] for kernel in summary()["kernels"]], 0.2)


def test_writes_what_the_estimator_finds(fit, example):
    fit(EXAMPLE)
    np.testing.assert_array_equal(labels(), example.labels_)
    found = summary()
    assert found["cost"] == pytest.approx(example.inertia_)
    assert found["critical_power"] == pytest.approx(example.critical_power_)
    assert found["parameters"]["entropy_weight"] == 0.5
    assert "plain" not in found
    assert "gamma" not in found


def test_summary_has_the_kernels(fit, example):
    fit(EXAMPLE)
    kernels = summary()["kernels"]
    assert [kernel["name"] for kernel in kernels] == ["sepal", "poly", "linear"]
    assert [kernel["kernel"] for kernel in kernels] == ["rbf", "poly", "cosine"]  # normalized
    assert [kernel["columns"] for kernel in kernels] == [2, 2, 4]
    weights = [kernel["weight"] for kernel in kernels]
    np.testing.assert_allclose(weights, example.kernel_weights_)
    np.testing.assert_allclose([k["factor"] for k in kernels], example.kernel_factors_)
    Z = StandardScaler().fit_transform(X)[:, :2]
    median = KernelPowerKMeans(3, kernel="rbf", gamma="median", random_state=0).fit(Z).gamma_
    assert kernels[0]["gamma"] == pytest.approx(median)
    assert {name: kernels[1][name] for name in ("gamma", "degree", "coef0")} == {
        "gamma": 0.3,
        "degree": 2,
        "coef0": 1.5,
    }


def test_text_has_the_weights_and_no_comparison(fit, example):
    text = fit(EXAMPLE).stdout
    for name, weight in zip(["sepal", "poly", "linear"], example.kernel_weights_, strict=True):
        assert re.search(rf"^.{{18}}{name} +{100 * weight:.1f} %", text, re.M), text
    assert text.count("kernel weights") == 1
    assert re.search(r"^cost +\S+$", text, re.M)
    assert "plain" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_options_apply_beside_views(fit):
    options = {"s0": -3.0, "init": "random", "n_init": 2, "n_swaps": 4}
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    fit('[[view]]\ncolumns=["petal*"]\n[[view]]', "--seed", 7, *arguments)
    Z = StandardScaler().fit_transform(X)
    kernels = [("heat", [2, 3]), "heat"]
    model = MultiKernelPowerKMeans(3, kernels=kernels, random_state=7, **options).fit(Z)
    np.testing.assert_array_equal(labels(), model.labels_)
    found = summary()["parameters"]
    assert {name: found[name] for name in options} == options


def test_no_scale_leaves_the_columns_alone(fit):
    fit("[[view]]", "--no-scale", "--dtype", "float32")
    single = X.astype(np.float32)
    model = MultiKernelPowerKMeans(3, kernels=["heat"], random_state=0).fit(single)
    np.testing.assert_array_equal(labels(), model.labels_)
    assert summary()["cost"] == pytest.approx(model.inertia_, rel=1e-5)


def test_predict_gives_the_labels_of_the_fit(fit, run, flowers):
    fit(EXAMPLE)
    new = pl.read_parquet(flowers).select(reversed([*NAMES, "species"]))
    new.write_csv("new.csv")
    assert run("predict", "iris.model.skops", "new.csv").exit_code == 0
    np.testing.assert_array_equal(labels("new.labels.csv"), labels())


def test_columns_of_no_view_are_ignored_and_said(fit, run, flowers):
    frame = pl.read_parquet(flowers).with_columns(note=pl.lit("text"))
    frame.write_parquet(flowers)
    result = fit('[[view]]\ncolumns = ["petal_width", "sepal_length"]\n')
    note = "columns in no view of views.toml are ignored: 'sepal_width', 'petal_length', 'note'"
    assert note in result.stderr
    model = expected(["heat"], X[:, [0, 3]])
    np.testing.assert_array_equal(labels(), model.labels_)
    assert load_model(Path("iris.model.skops")).columns == ["sepal_length", "petal_width"]
    frame.drop("sepal_width", "note").write_csv("new.csv")
    assert run("predict", "iris.model.skops", "new.csv").exit_code == 0
    np.testing.assert_array_equal(labels("new.labels.csv"), labels())


def test_no_note_when_every_column_is_used(fit):
    assert "ignored" not in fit(EXAMPLE).stderr


def test_dropped_columns_are_in_no_view(fit):
    fit('[[view]]\ncolumns = ["*_width"]\n[[view]]', "--drop", "sepal_width")
    assert [kernel["columns"] for kernel in summary()["kernels"]] == [1, 3]


def test_families_are_several_kernels(fit):
    fit('[[view]]\nkernel = "widths"\n[[view]]\nname = "paper"\nkernel = "du2015"\n')
    kernels = summary()["kernels"]
    assert [kernel["name"] for kernel in kernels] == [
        *(f"widths {count}" for count in range(1, 6)),
        *(f"paper {count}" for count in range(1, 13)),
    ]
    model = expected(["widths", "du2015"])
    np.testing.assert_array_equal(labels(), model.labels_)
    np.testing.assert_allclose([k["weight"] for k in kernels], model.kernel_weights_)
    gammas = [kernel["gamma"] for kernel in kernels[:5]]
    np.testing.assert_allclose(gammas, gammas[2] * 4.0 ** np.array([2, 1, 0, -1, -2]))


def test_the_family_of_heat_kernels(fit):
    fit('[[view]]\nkernel = "neighbors"\nmetric = "cosine"\n')
    kernels = summary()["kernels"]
    assert [kernel["name"] for kernel in kernels] == ["neighbors 1", "neighbors 2"]
    assert {(kernel["kernel"], kernel["metric"]) for kernel in kernels} == {("heat", "cosine")}
    model = expected([{"kernel": "neighbors", "metric": "cosine"}])
    np.testing.assert_array_equal(labels(), model.labels_)
    numbers = [own.parameters["n_neighbors"] for own in model.kernels_]
    assert [kernel["n_neighbors"] for kernel in kernels] == numbers


def test_of_many_kernels_the_text_has_the_heaviest(fit):
    views = '[[view]]\nkernel = "widths"\n[[view]]\nkernel = "du2015"\n'
    text = fit(f"entropy_weight = 0.2\n{views}").stdout
    kernels = summary()["kernels"]
    heaviest = sorted(kernels, key=lambda kernel: -kernel["weight"])
    for kernel in kernels:
        shown = re.search(rf"\b{kernel['name']} +\d", text) is not None
        assert shown == (kernel in heaviest[:12]), text
    rest = 100 * sum(kernel["weight"] for kernel in heaviest[12:])
    assert f"and 5 more, {rest:.1f} % in all" in text


def test_long_names_are_cut(fit):
    text = fit(f'[[view]]\nname = "{"long " * 30}"\nkernel = "widths"\n').stdout
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(r"long….* 5 +\d", text)


def test_views_of_one_kernel_are_numbered(fit):
    fit('[[view]]\n[[view]]\nkernel="linear"\n[[view]]\ncolumns=["petal*"]\n')
    assert [kernel["name"] for kernel in summary()["kernels"]] == ["heat 1", "linear", "heat 3"]


def test_a_constant_kernel_is_named_with_weight_0(run, folder):
    """Of a sparse matrix, whose columns are used whatever they hold."""
    scipy.sparse.save_npz("X.npz", scipy.sparse.csr_array(np.c_[X, np.zeros(len(X))]))
    rbf = '[[view]]\nkernel = "rbf"\n'
    only = f'{rbf}name = "flat"\ncolumns = [4]\n'
    Path("views.toml").write_text(f"{only}{rbf}columns=[2, 3]\n{rbf}columns=[0]\n")
    result = run("fit", "X.npz", "-k", 3, "--views", "views.toml")
    assert re.search(r"flat +0\.0 %  rbf, constant", result.stdout)
    kernels = summary("X")["kernels"]
    assert [kernel["name"] for kernel in kernels] == ["flat", "rbf 2", "rbf 3"]
    assert kernels[0]["weight"] == kernels[0]["factor"] == 0
    settled = expected([("rbf", [2, 3]), ("rbf", [0])]).kernel_.kernels
    gammas = [kernel.parameters["gamma"] for kernel in settled]
    assert [kernel["gamma"] for kernel in kernels[1:]] == pytest.approx(gammas)


def test_a_view_of_columns_that_are_left_out_is_refused(refused, flowers):
    pl.read_parquet(flowers).with_columns(flat=pl.lit(2.0)).write_parquet(flowers)
    Path("views.toml").write_text('[[view]]\nname = "flat"\ncolumns = ["flat"]\n[[view]]\n')
    found = refused("fit", flowers, "-k", 3, "--views", "views.toml")
    assert "flat: constant, one value" in found
    assert "views.toml: view 1 ('flat'): none of its columns is used" in found


@pytest.mark.parametrize(
    ("text", "estimator"),
    [('"none"', None), ('"min-max"', "min-max"), ('"unit-variance"', "unit-variance")],
)
def test_kernel_scaling(fit, text, estimator):
    fit(f'kernel_scaling = {text}\nentropy_weight = inf\n[[view]]\n[[view]]\nkernel = "poly"\n')
    model = expected(["heat", "poly"], kernel_scaling=estimator, entropy_weight=np.inf)
    assert summary()["cost"] == pytest.approx(model.inertia_)
    np.testing.assert_allclose([k["weight"] for k in summary()["kernels"]], 0.5)


def test_files_without_names_have_indices(run, folder):
    np.save("X.npy", X)
    Path("views.toml").write_text('[[view]]\ncolumns = [0, "1"]\n[[view]]\ncolumns = ["[23]"]\n')
    assert run("fit", "X.npy", "-k", 3, "--views", "views.toml").exit_code == 0
    model = expected([("heat", [0, 1]), ("heat", [2, 3])])
    np.testing.assert_array_equal(labels("X.labels.csv"), model.labels_)


def test_sparse_rows(run, folder):
    scipy.sparse.save_npz("X.npz", scipy.sparse.csr_array(X))
    Path("views.toml").write_text("[[view]]\ncolumns = [0, 3]\n[[view]]\ncolumns = [1, 2]\n")
    assert run("fit", "X.npz", "-k", 3, "--views", "views.toml", "--plot").exit_code == 0
    assert run("predict", "X.model.skops", "X.npz", "-o", "new").exit_code == 0
    np.testing.assert_array_equal(labels("new/X.labels.csv"), labels("X.labels.csv"))


@pytest.mark.usefixtures("folder")
def test_a_name_that_looks_like_a_pattern_is_a_name():
    names = ["a*", "ab", "A"]
    assert found('columns = ["a*"]', names) == ["a*"]
    assert found('columns = ["a?"]', names) == ["a*", "ab"]
    assert found('columns = ["[aA]*", "ab"]', names) == names


def found(text: str, names: list[str]) -> list[str]:
    Path("views.toml").write_text(f"[[view]]\n{text}\n")
    ((_, columns),) = read_views(Path("views.toml")).find(names)
    return sorted(columns, key=names.index)


def test_patterns_mind_the_case(message):
    assert "view 1: columns='Petal*' matches no column" in message('[[view]]\ncolumns=["Petal*"]')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["no view", "[[view]]"]),
        ("view = []", ["no view", "[[view]]"]),
        ("[view]", ["no view", "[[view]]"]),
        ("view = [1]", ["no view", "[[view]]"]),
        ("[[view]", ["cannot be read as TOML", "line 1"]),
        (b"\xff\xfe", ["cannot be read as TOML", "utf-8"]),
        ("entropy = 1\n[[view]]", ["unknown key 'entropy'", "entropy_weight, view. Did you mean"]),
        ("[[view]]\ngama = 1", ["unknown key 'gama'", "Did you mean 'gamma'?"]),
        (
            "entropy_weight = -1\n[[view]]",
            ["views.toml: entropy_weight must", "[0.0, inf]", "Got -1"],
        ),
        ("entropy_weight = nan\n[[view]]", ["views.toml: entropy_weight must", "Got nan"]),
        ("entropy_weight = true\n[[view]]", ["entropy_weight = True", "a number"]),
        ('entropy_weight = "2"\n[[view]]', ["views.toml: entropy_weight must", "Got '2'"]),
        (
            'kernel_scaling = "max"\n[[view]]',
            ["views.toml: kernel_scaling must", "'min-max'", "Got 'max'"],
        ),
        ("kernel_scaling = 1\n[[view]]", ["views.toml: kernel_scaling must", "Got 1"]),
        (
            "[[view]]\n[[view]]\nwidth = 1\nfoo = 2",
            ["view 2: unknown keys 'width', 'foo'; the keys are name, columns, kernel, gamma,"],
        ),
        ('[[view]]\nname = ""', ["view 1", "name = ''", "text"]),
        ("[[view]]\nname = 3", ["view 1", "name = 3", "text"]),
        ('[[view]]\nname = "a"\n[[view]]\nname = "a"', ["'a'", "different name"]),
        (
            '[[view]]\nname = "a"\nkernel = "widths"\n[[view]]\nname = "a 3"',
            ["'a 3'", "different name"],
        ),
        ('[[view]]\nname = "a"\nkernel = "magic"', ["view 1 ('a')", "'magic'", "rbf", "du2015"]),
        ('[[view]]\nkernel = "precomputed"', ["view 1: 'precomputed' is no kernel", "rbf"]),
        ('[[view]]\nkernel = "graph"', ["view 1: kernel='graph' is for X as a whole"]),
        ('[[view]]\nkernel = ["rbf"]', ["view 1: ['rbf'] is no kernel", "rbf"]),
        (
            '[[view]]\nkernel = "rbf"\ngamma = "wide"',
            ["view 1: gamma must", "'median'", "Got 'wide'"],
        ),
        ('[[view]]\nname = "a"\ngamma = 0', ["view 1 ('a'): gamma must", "Got 0"]),
        ('[[view]]\nkernel = "rbf"\ngamma = inf', ["view 1: gamma must", "(0.0, inf)", "Got inf"]),
        ('[[view]]\nkernel = "rbf"\ngamma = true', ["view 1: gamma = True", "a number"]),
        (f"[[view]]\ngamma = {10**400}", ["view 1: gamma = 1000", "64 bits"]),
        ('[[view]]\nkernel = "rbf"\ngamma = 2001-01-01', ["view 1: gamma must", "2001"]),
        ('[[view]]\nkernel = "poly"\ndegree = -1', ["view 1: degree must", "[0.0, inf)", "Got -1"]),
        ('[[view]]\nkernel = "poly"\ncoef0 = "1"', ["view 1: coef0 must", "Got '1'"]),
        (
            '[[view]]\nkernel = "heat"\nn_neighbors = 1',
            ["view 1: n_neighbors must", "[2, inf)", "Got 1"],
        ),
        ('[[view]]\nkernel = "heat"\ndensity = -1', ["view 1: density must", "[0", "Got -1"]),
        ('[[view]]\nkernel = "heat"\nn_neighbors = nan', ["view 1: n_neighbors must", "Got nan"]),
        ('[[view]]\nkernel = "heat"\nt = -1', ["view 1: t must", "[0.0, inf)", "'auto'", "Got -1"]),
        (
            '[[view]]\nkernel = "heat"\nmetric = "l3"',
            ["view 1: metric must", "'cosine'", "Got 'l3'"],
        ),
        ('[[view]]\nkernel = "widths"\ngamma = 1', ["'widths' takes no parameters"]),
        ('[[view]]\nkernel = "neighbors"\nt = 1', ["view 1", "'neighbors' takes only metric"]),
        ("[[view]]\ncolumns = []", ["view 1", "columns = []", "list of names"]),
        ('[[view]]\ncolumns = "petal*"', ["columns = 'petal*'", "list of names"]),
        ("[[view]]\ncolumns = [1.5]", ["columns = [1.5]", "list of names"]),
        ("[[view]]\ncolumns = [true]", ["columns = [True]", "list of names"]),
        ('[[view]]\ncolumns = ["petal_widht"]', ["'petal_widht'", "did you mean 'petal_width'"]),
        ('[[view]]\ncolumns = ["x*"]', ["'x*' matches no column", "'sepal_length'"]),
        ("[[view]]\ncolumns = [7]", ["'7' is no column", "'sepal_length'"]),
        ('[[view]]\nname="a"\ncolumns = ["species"]', ["view 1 ('a')", "'species' is no column"]),
    ],
)
def test_bad_files(message, text, words):
    found = message(text)
    assert "Error: views.toml: " in found
    assert all(word in found for word in words), found


def test_a_missing_file_is_named(refused, flowers):
    found = refused("fit", flowers, "--views", "nothing.toml")
    assert "--views" in found
    assert "'nothing.toml' does not exist" in found


def test_what_the_estimator_refuses_is_printed_as_it_says_it(message):
    text = '[[view]]\n[[view]]\nkernel = "poly"\ngamma = "median"\n'
    assert "view 2: gamma='median' needs a kernel that is a function" in message(text)


def test_a_parameter_that_the_kernel_has_not_is_a_warning(fit):
    result = fit('[[view]]\nkernel = "rbf"\ndegree = 2\n')
    assert "Warning: degree=2 has no effect with kernel='rbf'" in result.stderr


def test_other_refusals_do_not_blame_the_file(message):
    assert "Error: iris.parquet: has 150 rows, too few for 200" in message("[[view]]", "-k", 200)


@pytest.mark.parametrize(
    "arguments",
    [["--kernel", "rbf"], ["--gamma", "rms"], ["--degree", 3], ["--coef0", 1], ["--compare"]],
)
def test_options_of_one_kernel_are_refused_even_with_their_default(message, arguments):
    assert f"{arguments[0]} cannot be combined with --views" in message("[[view]]", *arguments)


def test_all_options_of_one_kernel_are_named(message):
    found = message("[[view]]", "--coef0", 2, "--kernel", "poly")
    assert "--kernel, --coef0 cannot be combined" in found


@pytest.mark.parametrize("scaling", ["unit-variance", "cosine", "min-max", "none"])
def test_a_model_of_views_needs_only_the_published_types(fit, scaling):
    """Kernels with features and without, slices and lists of columns, a family."""
    text = '[[view]]\nkernel="linear"\ncolumns=["*width"]\n[[view]]\nkernel="widths"\n[[view]]\n'
    fit(f'kernel_scaling = "{scaling}"\n{text}kernel = "sigmoid"\ngamma = 0.01\n')
    model = load_model(Path("iris.model.skops"))
    np.testing.assert_array_equal(model.pipeline.predict(X), labels())


def rewritten(change) -> None:
    """Replace the model file by one of a changed content."""
    path = Path("iris.model.skops")
    content = skops.io.load(path, trusted=list(TRUSTED_TYPES))
    change(content["pipeline"][-1])
    path.unlink()
    skops.io.dump(content, path)


class Evil:
    """A type that no model has."""

    made = 0

    def __init__(self):
        self.content = "x"

    def __setstate__(self, state):
        Evil.made += 1


def hide_in_kernel(model) -> None:
    model.kernel_.kernels[0] = Evil()


def hide_in_predictor(model) -> None:
    model._predictor.members[0] = Evil()


def hide_in_view(model) -> None:
    model._input.views[0] = model._input.views[0]._replace(spec={"kernel": Evil()})


@pytest.mark.parametrize("change", [hide_in_kernel, hide_in_predictor, hide_in_view])
def test_a_foreign_type_is_found_wherever_it_hides(fit, change):
    fit(EXAMPLE)
    rewritten(change)
    made = Evil.made
    with pytest.raises(InputError, match=r"refused.*Evil"):
        load_model(Path("iris.model.skops"))
    assert Evil.made == made


@pytest.mark.parametrize("foreign", [None, "the other kind"])
def test_a_predictor_of_another_kind_is_refused(fit, foreign):
    fit(EXAMPLE)

    def change(model):
        other = model._predictor.members[0] if foreign == "the other kind" else foreign
        model._predictor = other

    rewritten(change)
    with pytest.raises(InputError, match="incomplete"):
        load_model(Path("iris.model.skops"))


def take_a_member_away(model) -> None:
    model._predictor.members.pop()


def put_an_estimator_in_its_place(model) -> None:
    model._predictor.members[0] = LogisticRegression()


def move_the_columns(model) -> None:
    model._predictor.columns[0] = slice(0, 4)


@pytest.mark.parametrize(
    "change", [take_a_member_away, put_an_estimator_in_its_place, move_the_columns]
)
def test_parts_that_do_not_fit_together_are_refused(fit, refused, flowers, change):
    fit(EXAMPLE)
    rewritten(change)
    refused("predict", "iris.model.skops", flowers, "--labels", "new.csv")


def test_the_example_of_the_guide_works(run, folder):
    guide = Path(__file__).parents[2] / "docs" / "guide" / "command_line.md"
    (example,) = re.findall(r"```toml\n(.*?)```", guide.read_text(), re.DOTALL)
    Path("views.toml").write_text(example)
    write_digits(Path("digits.csv"))
    pl.read_csv("digits.csv").head(200).write_csv("digits.csv")
    command = ["fit", "digits.csv", "-k", 10, "--label-column", "digit", "--views", "views.toml"]
    assert run(*command).exit_code == 0
    digits = pl.read_csv("digits.csv").drop("digit")
    used = [one.name for one in digits if one.n_unique() > 1]
    halves = [sum(name[6] in rows for name in used) for rows in ("0123", "4567")]
    kernels = summary("digits")["kernels"]
    assert [kernel["columns"] for kernel in kernels] == [*halves, *[sum(halves)] * 5]
    assert kernels[0]["name"] == "upper half"
