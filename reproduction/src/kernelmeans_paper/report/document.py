"""Sections of text, tables and pictures, written as files and as one HTML page."""

import base64
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

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
    tables = [table for section in sections for table in section.tables]
    pictures = [picture for section in sections for picture in section.pictures]
    for names in ([table.name for table in tables], [picture.name for picture in pictures]):
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"the names {twice} are given twice; their files would be the same.")
    contents = {}
    for picture in pictures:
        for kind in ("png", "svg"):
            contents[f"figures/{picture.name}.{kind}"] = picture.drawn(kind)
    for table in tables:
        forms = {"md": table.markdown(), "tex": table.latex(), "json": table.json()}
        for kind, text in forms.items():
            contents[f"tables/{table.name}.{kind}"] = text.encode()
    images = {
        p.name: base64.b64encode(contents[f"figures/{p.name}.png"]).decode() for p in pictures
    }
    contents["run.json"] = (json.dumps(provenance, indent=1, allow_nan=False) + "\n").encode()
    contents["results.md"] = _markdown(title, sections, provenance).encode()
    contents["index.html"] = _page(
        title=title, sections=sections, provenance=provenance, pictures=images
    ).encode()
    for name, content in contents.items():
        write(folder / name, content)
    return [folder / name for name in contents]


def _page(**content: Any) -> str:
    """One file that needs no other: pictures are part of it."""
    template = files(__package__).joinpath("page.html.jinja").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(template).render(**content)


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
    for key, value in provenance.items():
        shown = value
        if isinstance(value, dict):
            shown = ", ".join(f"{name} {version}" for name, version in value.items())
        parts.append(f"- {key}: {shown}")
    return "\n".join(parts) + "\n"
