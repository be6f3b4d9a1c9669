"""The entries to cite say what ``CITATION.cff`` says, and nothing that it does not."""

import re

import pytest

import kernelmeans
from site_pages import SITE

ROOT = SITE.parents[1]
CITATION = (ROOT / "CITATION.cff").read_text("utf-8")
ENTRIES = re.findall(
    r"^@(.*?)^}", (ROOT / "docs" / "paper.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.partition("{")[2].split(",")[0])
def test_entry_is_that_of_the_citation_file(entry):
    fields = re.findall(r"^  (\w+) = {(.*?)},?$", entry, re.DOTALL | re.MULTILINE)
    assert {"title", "author"} <= dict(fields).keys()
    for name, value in fields:
        words = re.split(r"[\s,{}]+|--|\band\b", value) if name in ("author", "pages") else [value]
        for word in words:
            assert " ".join(word.split()) in CITATION, name


def test_entries_are_found():
    assert len(ENTRIES) == 3
    assert f"version: {kernelmeans.__version__}" in CITATION
