"""Reads the file of a table into Python."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def read_table(
    path: str | Path,
    *,
    header: bool = True,
    separator: str | None = None,
    missing_values: Sequence[str] = (),
    encoding: str | None = None,
    sheet: str | None = None,
    take: str | None = None,
) -> Any:
    r"""Read the file of a table as ``kernelmeans fit`` reads it.

    It finds the separator, the encoding, and the names below a title. Numbers with units or special
    marks stay text. `TableTransformer` reads them later.

    Parameters
    ----------
    path : str or Path
        A file with the suffix .csv, .tsv, .tab, .txt, .data or .dat, packed (.gz, .zip) or not,
        .xlsx, .h5ad, .parquet, .npy or .npz, or a folder .zarr. The extras ``cli``, ``excel``,
        ``h5ad`` and ``disk`` install the packages that read it.
    header : bool, default=True
        Text and Excel: the first line holds the names of the columns.
    separator : str or None, default=None
        Text: the character between values, if the guess is wrong.
    missing_values : sequence of str, default=()
        Text, Excel and Parquet: further words or numbers for missing values.
    encoding : str or None, default=None
        Text: its encoding, if it is neither UTF-8 nor UTF-16 nor cp1252.
    sheet : str or None, default=None
        Excel: name or number of the sheet; the first when None.
    take : str or None, default=None
        H5AD: the matrix, such as ``"X"``, ``"layers:counts"`` or ``"obsm:X_pca"``.

    Returns
    -------
    polars.DataFrame, ndarray or CSR matrix of shape (n_rows, n_columns)
        A data frame if the columns have names, else an array. A sparse matrix has no names.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it cannot be read, or holds no rows.

    Warns
    -----
    UserWarning
        If a guess may be wrong, for example the separator, or if a sparse matrix loses its names.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernelmeans.tables import TableTransformer, read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("height;weight\n1,71;60,5 kg\n1,85;81 kg\n1,62;57,5 kg\n")
    ...     table = read_table(path)
    >>> TableTransformer(scale=False).fit_transform(table).tolist()
    [[1.71, 60.5], [1.85, 81.0], [1.62, 57.5]]
    """
    import scipy.sparse

    from kernelmeans._warnings import warn_user
    from kernelmeans.tables.files import Reading
    from kernelmeans.tables.files.tables import open_file

    path = Path(path)
    path.stat()  # a missing file raises FileNotFoundError
    reading = Reading(
        header=header,
        separator=separator,
        missing_values=missing_values,
        encoding=encoding,
        sheet=sheet,
        take=take,
    )
    table = open_file(path, reading)
    frame = table.whole(table.names, "float64")
    if frame is not None:
        return frame
    X = table.matrix(table.names, "float64")
    if table.named and scipy.sparse.issparse(X) and not (take or "").startswith("obsp:"):
        warn_user(
            f"{path}: a sparse matrix has no column names in Python. A model fitted to it takes "
            "columns by their places. kernelmeans fit keeps the names: load_model(...).label(path) "
            "of its model finds columns by name."
        )
    return X
