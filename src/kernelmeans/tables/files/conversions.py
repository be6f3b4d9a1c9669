"""Files of other programs: the line of Python or R that makes a table of them."""

import json
from pathlib import Path

from kernelmeans.tables.files.settings import suffix_of

_PANDAS = "import pandas; pandas.{}.to_csv({{csv}}, index=False)"
_NETWORKX = (
    "import networkx, scipy.sparse; scipy.sparse.save_npz({{npz}}, networkx.to_scipy_sparse_array("
    "networkx.{}({{file}}).to_undirected())) # then --kernel graph"
)
#: Unpacked as it is: pandas would make numbers of codes, and guesses no separator.
_UNPACK = "import {0}, pathlib; pathlib.Path({{csv}}).write_bytes({0}.open({{file}}).read())"
_HDF = _PANDAS.format("read_hdf({file})")
#: Lines by the files in the folders that they read.
_FOLDERS = {
    "matrix.mtx*": "import scanpy; scanpy.read_10x_mtx({file}).write_h5ad({h5ad})",
    "*.csv": "import polars; "
    'polars.read_csv({file} + "/*.csv", infer_schema=False).write_csv({csv})',
}
#: Lines by the suffixes of the files that they read.
_LINES = {
    # SciPy reads words as bytes.
    ".arff": "import pandas, scipy.io.arff; pandas.DataFrame(scipy.io.arff.loadarff({file})[0])"
    '.apply(lambda column: column.str.decode("utf-8") if column.dtype == object else column)'
    ".to_csv({csv}, index=False)",
    ".arrow .feather .ipc": "import polars; polars.read_ipc({file}).write_parquet({parquet})",
    ".bz2": _UNPACK.format("bz2"),
    ".dta": _PANDAS.format("read_stata({file})"),
    ".gexf": _NETWORKX.format("read_gexf"),
    ".gml": _NETWORKX.format("read_gml"),
    ".graphml": _NETWORKX.format("read_graphml"),
    ".h5": "import scanpy; scanpy.read_10x_h5({file}).write_h5ad({h5ad}) # of pandas: " + _HDF,
    ".hdf .hdf5": _HDF,
    ".json .json.gz": _PANDAS.format("read_json({file}, dtype=False)"),  # 007 stays text
    ".jsonl .jsonl.gz .ndjson": "import polars; polars.read_ndjson({file}, "
    "infer_schema_length=None).write_parquet({parquet})",
    ".libsvm .svm .svmlight": "import scipy.sparse, sklearn.datasets; scipy.sparse.save_npz({npz}, "
    "sklearn.datasets.load_svmlight_file({file})[0])",
    ".mtx .mtx.gz": "import scipy.io, scipy.sparse; scipy.sparse.save_npz({npz}, "
    "scipy.sparse.csr_array(scipy.io.mmread({file}))) # .T after mmread({file}) swaps the axes",
    ".ods .xlsb .xlsm": _PANDAS.format("read_excel({file})"),
    ".orc": _PANDAS.format("read_orc({file})"),
    ".pickle .pkl": _PANDAS.format("read_pickle({file})") + " # may run code: trust who wrote it",
    ".rda .rdata": "write.csv(get(load({file})), {csv}, row.names = FALSE)",
    ".rds": "write.csv(readRDS({file}), {csv}, row.names = FALSE)",
    ".sas7bdat": _PANDAS.format('read_sas({file}, encoding="infer")'),
    ".sav .zsav": _PANDAS.format("read_spss({file})") + " # needs pyreadstat",
    ".xml": _PANDAS.format("read_xml({file}, dtype=str)"),
    ".xpt": _PANDAS.format('read_sas({file}, encoding="latin-1")'),
    ".xz": _UNPACK.format("lzma"),
    ".zst": _UNPACK.format("zstandard"),
}
_CALLS = {suffix: line for suffixes, line in _LINES.items() for suffix in suffixes.split()}


def conversion(path: Path) -> str | None:
    """Return the line that makes a table of a file, or None if none is known.

    Parameters
    ----------
    path : Path
        A file of another program, or a folder of 10x Genomics or of CSV files.

    Returns
    -------
    str or None
        The language and the line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from kernelmeans.tables.files.conversions import conversion
    >>> conversion(Path("x.rds"))
    'in R: write.csv(readRDS("x.rds"), "x.csv", row.names = FALSE)'
    """
    suffix = suffix_of(path)
    if suffix in (".mtx", ".mtx.gz") and any(path.parent.glob("barcodes.tsv*")):
        path = path.parent.resolve()
    if path.is_dir():
        # No file can be called after . and .., which are slips as a rule.
        suffix, known = "", {} if path.name in ("", "..") else _FOLDERS
        call = next((line for name, line in known.items() if any(path.glob(name))), None)
    else:
        call = _CALLS.get(suffix)
    if call is None:
        return None
    file = path.as_posix()
    stem = file[: len(file) - len(suffix)].removesuffix(".csv")  # of .csv.bz2
    made = {kind: f"{stem}.{kind}" for kind in ("csv", "npz", "h5ad", "parquet")}
    quoted = {name: json.dumps(text, ensure_ascii=False) for name, text in made.items()}
    line = call.format(file=json.dumps(file, ensure_ascii=False), **quoted)
    return f"in {'R' if line.startswith('write.csv') else 'Python'}: {line}"
