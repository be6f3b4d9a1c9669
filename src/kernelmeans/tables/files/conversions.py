"""Files of other programs: the line of Python or R that makes a table of them."""

import json
from pathlib import Path

from kernelmeans.tables.files.settings import suffix_of

_PANDAS = "import pandas; pandas.{}.to_csv({{csv}}, index=False)"
_NETWORKX = (
    "import networkx, scipy.sparse; scipy.sparse.save_npz({{npz}}, networkx.to_scipy_sparse_array("
    "networkx.{}({{file}}).to_undirected())) # then --kernel graph"
)
_SVMLIGHT = (
    "import scipy.sparse, sklearn.datasets; scipy.sparse.save_npz({npz}, "
    "sklearn.datasets.load_svmlight_file({file})[0])"
)
_MATRIX = (
    "import scipy.io, scipy.sparse; scipy.sparse.save_npz({npz}, "
    "scipy.sparse.csr_array(scipy.io.mmread({file}))) # .T after mmread({file}) swaps the axes"
)
_IPC = "import polars; polars.read_ipc({file}).write_parquet({parquet})"
_EXCEL = _PANDAS.format("read_excel({file})")
_HDF = _PANDAS.format("read_hdf({file})")
_JSON = _PANDAS.format("read_json({file})")
_JSON_LINES = _PANDAS.format("read_json({file}, lines=True)")
_PICKLE = _PANDAS.format("read_pickle({file})") + " # may run code: trust who wrote it"
_PACKED = _PANDAS.format("read_csv({file})")
_SPSS = _PANDAS.format("read_spss({file})") + " # needs pyreadstat"
_CELLS = "import scanpy; scanpy.read_10x_mtx({file}).write_h5ad({h5ad})"
_WORKSPACE = "write.csv(get(load({file})), {csv}, row.names = FALSE)"
_CALLS = {
    # SciPy reads words as bytes.
    ".arff": "import pandas, scipy.io.arff; pandas.DataFrame(scipy.io.arff.loadarff({file})[0])"
    '.apply(lambda column: column.str.decode("utf-8") if column.dtype == object else column)'
    ".to_csv({csv}, index=False)",
    ".arrow": _IPC,
    ".bz2": _PACKED,
    ".dta": _PANDAS.format("read_stata({file})"),
    ".feather": _IPC,
    ".gexf": _NETWORKX.format("read_gexf"),
    ".gml": _NETWORKX.format("read_gml"),
    ".graphml": _NETWORKX.format("read_graphml"),
    ".h5": "import scanpy; scanpy.read_10x_h5({file}).write_h5ad({h5ad}) # of pandas: " + _HDF,
    ".hdf": _HDF,
    ".hdf5": _HDF,
    ".ipc": _IPC,
    ".json": _JSON,
    ".json.gz": _JSON,
    ".jsonl": _JSON_LINES,
    ".jsonl.gz": _JSON_LINES,
    ".libsvm": _SVMLIGHT,
    ".mtx": _MATRIX,
    ".mtx.gz": _MATRIX,
    ".ndjson": _JSON_LINES,
    ".ods": _EXCEL,
    ".orc": _PANDAS.format("read_orc({file})"),
    ".pickle": _PICKLE,
    ".pkl": _PICKLE,
    ".rda": _WORKSPACE,
    ".rdata": _WORKSPACE,
    ".rds": "write.csv(readRDS({file}), {csv}, row.names = FALSE)",
    ".sas7bdat": _PANDAS.format('read_sas({file}, encoding="infer")'),
    ".sav": _SPSS,
    ".svmlight": _SVMLIGHT,
    ".xlsb": _EXCEL,
    ".xlsm": _EXCEL,
    ".xml": _PANDAS.format("read_xml({file})"),
    ".xpt": _PANDAS.format('read_sas({file}, encoding="latin-1")'),
    ".xz": _PACKED,
    ".zsav": _SPSS,
    ".zst": _PACKED,
}


def conversion(path: Path) -> str | None:
    """Return the line that makes a table of a file, or None if none is known.

    Parameters
    ----------
    path : Path
        A file of another program, or a folder of 10x Genomics.

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
        suffix, call = "", _CELLS if any(path.glob("matrix.mtx*")) else None
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
