"""How examples are run for the gallery, and how their pictures get into its pages."""

import re
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.animation import Animation
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper

# Links of a page of Markdown to an example, and to notes on benchmarks, as a forge follows them.
EXAMPLE = re.compile(r"\]\((?:\.\./)+examples/(plot_\w+)\.py\)")
NOTES = re.compile(r"\]\((?:\.\./)+benchmarks/NOTES\.md")
FILTERS = list(warnings.filters)


def strictly(gallery_conf: Any, example: str, when: str) -> None:
    """Examples raise where they would warn, and draw so that a telephone can show it."""
    warnings.filters[:] = FILTERS
    if when == "before":
        warnings.simplefilter("error")
    plt.rcParams.update({"figure.dpi": 160, "font.size": 10, "axes.titlesize": "medium"})


def with_text(block: Any, block_vars: Any, gallery_conf: Any) -> str:
    """Pictures of a block of an example, with the text that its comments give for them.

    Films are closed until a reader opens them, and stop when they are closed.
    """
    found = block_vars["example_globals"].values()
    films = [film for film in found if isinstance(film, Animation)]
    film = next((film for film in films if plt.fignum_exists(film._fig.number)), None)
    if film:
        path = Path(block_vars["image_path_iterator"].next()).with_suffix(".gif")
        film.save(path, writer="pillow", dpi=100)
        plt.close("all")
        lines = figure_rst([path], gallery_conf["src_dir"]).splitlines()
        rst = "\n".join([".. dropdown:: Play the film", *(f"   {line}" for line in lines)])
    else:
        rst = matplotlib_scraper(block, block_vars, gallery_conf)
    text = " ".join(re.findall(r'^# sphinx_gallery_alt = "(.*)"$', block.content, re.MULTILINE))
    if bool(rst) != bool(text):
        raise ValueError(f"a picture and its sphinx_gallery_alt: {block.content}")
    return re.sub("(?<=:alt: ).*", text, rst)


def to_gallery(app: Any, name: str, source: list[str]) -> None:
    """Links to examples lead to their pages in the gallery, those to notes to the page of these."""
    source[0] = EXAMPLE.sub(r"](/gallery/\1.rst)", source[0])
    source[0] = NOTES.sub("](/notes.md", source[0])


def setup(app: Any) -> None:
    """Connect what is defined here."""
    app.connect("source-read", to_gallery)
