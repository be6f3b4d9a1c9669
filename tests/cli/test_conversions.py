"""Files of other programs: the refusal is one line that can be pasted, and works."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse

from kernelmeans.tables.files.tables import open_file

pd = pytest.importorskip("pandas", reason="comes with anndata")

FRAME = pd.DataFrame({"size": [0.5, 2.0, 8.0], "kind": ["001", "002", "001"]})
ARFF = """@relation r
@attribute size numeric
@attribute kind {001,002}
@data
0.5,001
2,002
8,001
"""


def write_parts(name: str) -> None:
    Path(name).mkdir()
    for row in range(len(FRAME)):
        FRAME[row:][:1].to_csv(f"{name}/{row}.csv", index=False)


def line_to_paste(refused, name: str) -> str:
    """The line of Python that a refusal of a file names."""
    message = refused("fit", name, "-k", 2).removesuffix("\n")
    assert message.startswith(f"Error: {name}: is not read; this makes a table of it in Python: ")
    assert "\n" not in message
    return message.partition(" in Python: ")[2]


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("x.arff", lambda name: Path(name).write_text(ARFF)),
        ("x.dta", lambda name: FRAME.to_stata(name, write_index=False)),
        ("x.json", FRAME.to_json),
        ("x.jsonl", lambda name: FRAME.to_json(name, orient="records", lines=True)),
        ("X.NDJSON", lambda name: FRAME.to_json(name, orient="records", lines=True)),
        ("x.pkl", FRAME.to_pickle),
        ("a b.csv.xz", lambda name: FRAME.to_csv(name, index=False, sep=";")),
        ("x.csv.bz2", lambda name: FRAME.to_csv(name, index=False)),
        ("x", write_parts),
        ("x.feather", lambda name: pl.DataFrame(FRAME.to_dict("list")).write_ipc(name)),
    ],
)
def test_tables_of_other_programs_name_a_line_that_works(refused, folder, name, write):
    write(name)
    exec(line_to_paste(refused, name), {})
    (made,) = {*folder.iterdir()} - {folder / name}
    assert made.name.partition(".")[0] == name.partition(".")[0]
    assert open_file(made).frame.collect().rows() == list(FRAME.itertuples(index=False, name=None))


@pytest.mark.parametrize("name", [".", "x/.."])
@pytest.mark.usefixtures("folder")
def test_no_file_is_called_after_a_folder_without_a_name(refused, name):
    Path("x").mkdir()
    FRAME.to_csv("data.csv", index=False)
    assert "is a directory; only .zarr directories are read" in refused("fit", name, "-k", 2)


# SciPy will return arrays in place of matrices; the line works with both.
@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`")
@pytest.mark.usefixtures("folder")
def test_matrices_and_graphs_of_other_programs_name_a_line_that_works(refused):
    X = scipy.sparse.csr_array([[0.0, 2, 0], [2, 0, 1], [0, 1, 0]])
    scipy.io.mmwrite("x.mtx", X)
    networkx = pytest.importorskip("networkx")
    networkx.write_graphml(networkx.from_scipy_sparse_array(X), "y.graphml")
    for name, made in (("x.mtx", "x.npz"), ("y.graphml", "y.npz")):
        exec(line_to_paste(refused, name), {})
        np.testing.assert_array_equal(open_file(Path(made)).array.toarray(), X.toarray())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.sav", 'pandas.read_spss("x.sav").to_csv("x.csv", index=False)'),
        ("x.h5", 'scanpy.read_10x_h5("x.h5").write_h5ad("x.h5ad")'),
        ("x.rds", 'in R: write.csv(readRDS("x.rds"), "x.csv", row.names = FALSE)'),
        ("cells/matrix.mtx.gz", 'cells").write_h5ad('),
        ("cells", 'scanpy.read_10x_mtx("cells").write_h5ad("cells.h5ad")'),
    ],
)
@pytest.mark.usefixtures("folder")
def test_files_of_other_programs_are_refused_with_a_line(refused, name, words):
    Path("cells").mkdir()
    for file in ("x.sav", "x.h5", "x.rds", "cells/matrix.mtx.gz", "cells/barcodes.tsv.gz"):
        Path(file).touch()
    assert words in refused("fit", name, "-k", 2)
