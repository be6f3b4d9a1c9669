"""Sections of text, tables and pictures, written as files and as one HTML page."""

import base64
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

from kernelmeans_paper.files import write
from kernelmeans_paper.report.picture import Picture
from kernelmeans_paper.report.table import Table


@dataclass(frozen=True)
class Section:
    """A part of the report.

    Attributes
    ----------
    name : str
        Anchor of the section.
    title : str
        Its heading.
    text : sequence of str
        Paragraphs, plain text.
    tables : sequence of Table
        Its tables.
    pictures : sequence of Picture
        Its figures.
    """

    name: str
    title: str
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()


def write_document(
    folder: Path, title: str, sections: Sequence[Section], provenance: Mapping[str, Any]
) -> list[Path]:
    """Write ``index.html``, ``results.md``, ``run.json``, ``tables/`` and ``figures/``.

    Parameters
    ----------
    folder : Path
        Where to; made if it is not there. Files of the same names are replaced.
    title : str
        Heading of the page.
    sections : sequence of Section
        What it holds.
    provenance : mapping of str to Any
        How it came about: versions, machine, seeds, time. As JSON it is ``run.json``.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    OSError
        If a file cannot be written.
    ValueError
        If two tables or two pictures have the same name.
    """
    drawn = [picture for section in sections for picture in section.pictures]
    _check_names([table.name for section in sections for table in section.tables])
    _check_names([picture.name for picture in drawn])
    pictures = {
        picture.name: _drawn(picture, "png") for section in sections for picture in section.pictures
    }
    texts = {
        "index.html": _page(title, sections, provenance, pictures),
        "results.md": _markdown(title, sections, provenance),
        "run.json": json.dumps(provenance, indent=1, allow_nan=False) + "\n",
    }
    for table in (table for section in sections for table in section.tables):
        for suffix, text in _forms(table).items():
            texts[f"tables/{table.name}.{suffix}"] = text
    contents = {name: text.encode() for name, text in texts.items()}
    for picture in drawn:
        contents[f"figures/{picture.name}.png"] = pictures[picture.name]
        contents[f"figures/{picture.name}.svg"] = _drawn(picture, "svg")
    for name, content in contents.items():
        write(folder / name, content)
    return [folder / name for name in contents]


def _check_names(names: Sequence[str]) -> None:
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"the names {twice} are given twice; their files would be the same.")


def _forms(table: Table) -> dict[str, str]:
    return {"md": table.markdown(), "tex": table.latex(), "json": table.json()}


def _drawn(picture: Picture, kind: str) -> bytes:
    buffer = BytesIO()
    picture.write(buffer, kind)
    return buffer.getvalue()


def _page(
    title: str,
    sections: Sequence[Section],
    provenance: Mapping[str, Any],
    pictures: Mapping[str, bytes],
) -> str:
    """One file that needs no other: pictures are part of it."""
    from jinja2 import Environment, StrictUndefined

    template = files(__package__).joinpath("page.html.jinja").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    encoded = {name: base64.b64encode(png).decode() for name, png in pictures.items()}
    page = environment.from_string(template)
    return page.render(title=title, sections=sections, provenance=provenance, pictures=encoded)


def _markdown(title: str, sections: Sequence[Section], provenance: Mapping[str, Any]) -> str:
    parts = [f"# {title}\n"]
    for section in sections:
        parts.append(f"## {section.title}\n")
        parts += [f"{paragraph}\n" for paragraph in section.text]
        for picture in section.pictures:
            caption = html.escape(picture.caption)
            parts.append(f"![{caption}](figures/{picture.name}.png)\n\n*{picture.caption}*\n")
        parts += [table.markdown() for table in section.tables]
    parts.append("## How it was made\n")
    parts += [f"- {key}: {value}" for key, value in _flat(provenance)]
    return "\n".join(parts) + "\n"


def _flat(provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (key, ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value)
        for key, value in provenance.items()
    ]
