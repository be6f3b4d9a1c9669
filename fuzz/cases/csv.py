"""Files of tables of every kind, changed in every way, through ``kernelmeans fit``."""

import gzip
import io
import zipfile
from contextlib import nullcontext
from functools import cache

import numpy as np
import openpyxl
import polars as pl
import scipy.sparse

from fuzz import Case, Rng
from fuzz.commands import QUICK, check_same_labels, run, write
from fuzz.draw import pick, rarely
from fuzz.judge import promised
from fuzz.mutations import WILD, cut, flipped, inserted, saved, sound, sparse_members

WEIGHT = 3
EXTREME = True


def case(rng: Rng) -> Case:
    kind = pick(rng, "csv", "csv", "tsv", "people", "npy", "npz", "parquet", "xlsx", "csv.gz")
    change = pick(rng, sound, *CHANGES[kind])
    content = change(originals()[kind], rng)
    name = "t.csv" if kind == "people" else f"t.{kind}"
    kernel = pick(rng, "rbf", "linear", "poly", "cosine", "heat")
    plain = ["--no-scale"], ["--dtype", "float32"], ["--missing", "impute"], ["-q"]
    options = pick(
        rng,
        *plain,
        ["--separator", pick(rng, ",", ";", "tab", "|", "x")],
        ["--decimal", pick(rng, ",", ".", "x")],
        ["--thousands", pick(rng, ",", ".", "space", "none")],
        ["--encoding", pick(rng, "utf-8", "latin-1", "utf-16", "cp1252", "shift_jis", "x")],
        ["--missing-values", pick(rng, "-999", "x,y", "", "1")],
        ["--no-header"],
        ["--missing", pick(rng, "drop", "error")],
    )
    if change is sound:
        options = pick(rng, *plain)
    arguments = ["fit", name, "-k", "2", "--kernel", kernel, *options, *QUICK]

    def check() -> None:
        write({name: content})
        with promised("a sound file") if change is sound else nullcontext():
            run(arguments, damaged=[name])
        if "drop" not in options:
            with promised():
                check_same_labels(name, [one for one in options if one == "--no-header"])

    return Case(f"{kind} {change.__name__} {arguments}", check)


@cache
def originals() -> dict[str, bytes]:
    """A table of each kind, as a file."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    parquet, npz = io.BytesIO(), io.BytesIO()
    pl.DataFrame(X, schema=list("abc")).write_parquet(parquet)
    scipy.sparse.save_npz(npz, scipy.sparse.csr_array(np.maximum(X, 0)))
    people = ["Name,Größe (cm),since,plan,costs"]
    people += [
        f'"{"Ann" if x > 0 else "Bob"}, {i}",{170 + 9 * y:.0f},2024-0{1 + i % 9}-1{i % 10},'
        f'{"AB"[i % 2]},"1,{500 + i}.50 €"'
        for i, (x, y, _) in enumerate(X)
    ]
    return {
        "csv": text(X, ","),
        "tsv": text(X, "\t"),
        "people": "\n".join(people).encode(),
        "npy": saved(X),
        "npz": npz.getvalue(),
        "parquet": parquet.getvalue(),
        "xlsx": workbook(X),
        "csv.gz": text(X, ","),
    }


def text(X: np.ndarray, separator: str) -> bytes:
    """Rows as text."""
    file = io.StringIO()
    np.savetxt(file, X, delimiter=separator, header=separator.join("abc"), comments="", fmt="%.4f")
    return file.getvalue().encode()


def workbook(X: np.ndarray) -> bytes:
    """Rows as an Excel workbook."""
    book, file = openpyxl.Workbook(), io.BytesIO()
    sheet = book.active
    sheet.append(["a", "b", "plan", "since"])
    for i, (x, y, _) in enumerate(X.tolist()):
        sheet.append([x, y, "AB"[i % 2], f"2024-01-{i + 1:02}"])
    book.save(file)
    return file.getvalue()


def other_cell(content: bytes, rng: Rng) -> bytes:
    """One cell, or the name of a column, is odd."""
    lines = content.decode().splitlines()
    separator = "," if "," in lines[0] else "\t"
    row = int(rng.integers(len(lines)))
    cells = lines[row].split(separator)
    odd = "", "x", "inf", "NaN", "1e999", "-1e400", "1e160", "é", "x" * 10**4, "1;2", "0x10", "1_0"
    more = (
        '"',
        '"a\nb"',
        "'",
        " 1 ",
        "1,5",
        "=1+1",
        "\u200b",
        "١٢",
        "\u22121",
        "1 %",
        "TRUE",
        "None",
    )
    cells[rng.integers(3)] = pick(rng, *odd, *more)
    lines[row] = separator.join(cells)
    encoding = pick(rng, "utf-8", "utf-8", "cp1252", "utf-16", "utf-8-sig")
    return "\n".join(lines).encode(encoding, errors="replace") + b"\n"


def other_lines(content: bytes, rng: Rng) -> bytes:
    """Lines are gone, empty, repeated, of other lengths or ends."""
    lines = content.splitlines(keepends=True)
    match rng.integers(8):
        case 0:
            return b"".join(lines[: rng.integers(3)])
        case 1:
            return b"".join(lines) + b"\n" * 5000
        case 2:
            return b"".join(lines).decode().encode("utf-16")
        case 3:
            return b"a,a,a\n" + b"".join(lines[1:])
        case 4:
            return content.replace(b"\n", pick(rng, b"\r\n", b"\r", b"\n\n", b";\n"))
        case 5:
            return b"# a comment\nsep=;\n" + content
        case 6:
            return content.replace(pick(rng, b",", b"\t", b"."), pick(rng, b";", b"|", b" ", b","))
        case _:
            return lines[0] + lines[int(rng.integers(1, len(lines)))] * 20


def other_header(content: bytes, rng: Rng) -> bytes:
    """An array whose header promises something else."""
    shapes = [(10**11, 3), (20, 2**62), (-1, 3), (0, 3), (20,), (3, 20), (20, 3, 1)]
    dtypes = ["<f8", "O", "<c16", "<U5", "<f2", "?", "<M8[s]", "V8"]
    file = io.BytesIO()
    header = {
        "descr": dtypes[rng.integers(len(dtypes))],
        "fortran_order": bool(rng.integers(2)),
        "shape": shapes[rng.integers(len(shapes))],
    }
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + content[128:]


def wild_values(content: bytes, rng: Rng) -> bytes:
    """A few numbers are wild."""
    X = np.load(io.BytesIO(content))
    X.flat[rng.integers(X.size, size=3)] = rng.choice(WILD, size=3)
    return saved(X)


def archived(content: bytes, rng: Rng) -> bytes:
    """A dense array in an archive, with a header that may lie."""
    array = other_header(saved(np.zeros((20, 3))), rng) if rng.integers(2) else b"hello"
    file = io.BytesIO()
    packing = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA][rng.integers(3)]
    with zipfile.ZipFile(file, "w", packing) as archive:
        archive.writestr(str(rng.choice(["X.npy", "X", "shape.npy"])), array)
    return file.getvalue()


def other_sheet(content: bytes, rng: Rng) -> bytes:
    """A workbook of which a member has other words or numbers, or is damaged."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice([*["xl/worksheets/sheet1.xml"] * 5, *members])
    old = pick(rng, b"<v>", b'r="B3"', b't="n"', b't="inlineStr"', b"</row>", b"<row", b'"A1:D21"')
    new = pick(rng, b"", b"<v>1e999", b'r="XFD1048576"', b't="e"', b't="d"', b'"A1:A1"', b"<f>1/0")
    data = members[name]
    members[name] = pick(
        rng,
        data.replace(old, new, 1),
        data.replace(old, new),
        flipped(data, rng),
        cut(data, rng),
    )
    if rarely(rng, 6):
        del members[name]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, member in members.items():
            archive.writestr(each, member)
    return file.getvalue()


def packed(content: bytes, rng: Rng) -> bytes:
    """Text that is packed, changed before or after."""
    if rng.integers(2):
        return gzip.compress(pick(rng, *TEXTS)(content, rng), mtime=0)
    return bytes(pick(rng, *BYTES)(gzip.compress(content, mtime=0), rng))


BYTES = [flipped, cut, inserted]
TEXTS = [*BYTES, other_cell, other_cell, other_lines, other_lines]
CHANGES = {
    **dict.fromkeys(["csv", "tsv", "people"], TEXTS),
    "npy": [*BYTES, other_header, wild_values, other_header],
    "npz": [*BYTES, sparse_members, archived, sparse_members],
    "parquet": [cut],  # other damage may make polars end the process: docs/trust.md
    "xlsx": [*BYTES, *[other_sheet] * 4],
    "csv.gz": [packed],
}
