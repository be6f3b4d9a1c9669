"""Sphinx builds the site by this: ``python -m sphinx -W -n -b html docs build/site``."""

import re
import sys
from pathlib import Path
from typing import Any

from numpydoc.docscrape_sphinx import SphinxDocString
from sphinx_gallery.sorting import ExplicitOrder

import kernelmeans
from kernelmeans.cli import options

project = "kernelmeans"
author = "The kernelmeans developers"
copyright = f"2026, {author}"
version = release = kernelmeans.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "myst_parser",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx_llms_txt",
    "_gallery",
]
# Where the last one is.
sys.path.insert(0, str(Path(__file__).parent))

# Single backticks in docstrings are names of Python objects.
default_role = "autolink"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# Where other projects document what docstrings refer to. The lists are kept in this folder, so that
# no network is needed.
intersphinx_mapping = {
    name: (address, f"inventories/{name}.txt")
    for name, address in {
        "joblib": "https://joblib.readthedocs.io/en/stable/",
        "sklearn": "https://scikit-learn.org/stable/",
    }.items()
}

# Two hyphens are the beginning of an option.
smartquotes = False
toc_object_entries_show_parents = "hide"
autosummary_generate = True
autodoc_typehints = "none"
# Longer signatures have a line for each parameter.
python_maximum_signature_line_length = 80
# Methods are documented once, by the template of classes.
numpydoc_show_class_members = False
# Attributes that are properties keep what the docstring of the class says of them.
process = SphinxDocString._process_param
SphinxDocString._process_param = lambda self, name, text, _: process(self, name, text, False)

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "ignore_pattern": "^(?!plot_)",
    # As questions come up.
    "within_subsection_order": ExplicitOrder(
        f"plot_{name}.py"
        for name in (
            *("shapes", "sizes", "noise", "digits", "tree", "customers", "choosing", "new_rows"),
            *("texts", "embeddings", "views", "communities", "cells", "million", "disk", "film"),
        )
    ),
    "image_scrapers": ("_gallery.with_text",),
    "reset_modules": ("matplotlib", "_gallery.strictly"),
    "reset_modules_order": "both",
    "capture_repr": (),
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_signature": False,
    "min_reported_time": float("inf"),
    "write_computation_times": False,
    "doc_module": ("kernelmeans",),
    "backreferences_dir": "reference/backreferences",
}

# The text of the site in one file, for language models, with the docstrings of the estimators.
llms_txt_uri_template = "{base_url}{docname}.html"
llms_txt_code_files = [
    f"+:../src/kernelmeans/{path}.py"
    for path in ("estimators/single", "estimators/multi", "search/search", "tables/transformer")
]

html_theme = "pydata_sphinx_theme"
html_title = "kernelmeans"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_favicon = "_static/moons.svg"
html_context = {"default_mode": "auto"}
# Pages that have no pages below them have no list of those.
html_sidebars = {page.stem: [] for page in Path(__file__).parent.glob("*.md")}
html_theme_options = {
    "logo": {
        "text": project,
        "alt_text": "",
        "image_light": "_static/moons.svg",
        "image_dark": "_static/moons.svg",
    },
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def under_headings(app: Any, context: Any, lines: list[str]) -> None:
    """List the options of a command under the headings of its help.

    Defaults of switches, and of options that take nothing by default, say nothing. Others are
    shown as a shell takes them, without quotes.
    """
    empty = ":default: ````", ":default: ``False``"
    texts: list[list[str]] = []
    for line in lines:
        if line.startswith(".. option::"):
            texts.append([])
        if line.strip() not in empty:
            texts[-1].append(re.sub("``'(.*)'``", r"``\1``", line))
    shown = [one.name for one in context.command.params if one.param_type_name == "option"]
    headings: dict[str, list[str]] = {}
    for name, text in zip(shown, texts, strict=True):
        headings.setdefault(options._HEADING.get(name, "All commands"), []).extend(text)
    lines.clear()
    for heading, text in headings.items():
        lines += [f"**{heading}**", "", *text]


def without_versions(app: Any, what: str, name: str, obj: Any, opts: Any, lines: list[str]) -> None:
    """Leave out versions in inherited docstrings, which are those of scikit-learn."""
    lines[:] = [line for line in lines if not line.strip().startswith(".. versionadded::")]


def setup(app: Any) -> None:
    """Connect what is defined here."""
    app.connect("autodoc-process-docstring", without_versions, priority=100)
    app.connect("sphinx-click-process-options", under_headings)
