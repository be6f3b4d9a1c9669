"""The README as PyPI shows it: links within the repository have an address."""

import re
import tomllib

import pytest

from site_pages import SITE

ROOT = SITE.parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SUBSTITUTIONS = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]
README = (ROOT / "README.md").read_text("utf-8")


def published():
    text = README
    for one in SUBSTITUTIONS:
        text = re.sub(one["pattern"], one["replacement"], text)
    return text


def test_all_links_lead_to_the_source():
    source = PROJECT["project"]["urls"]["Source"]
    before = re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)\)", README)
    after = re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)\)", published())
    assert len(before) == len(after)
    within = [pair for pair in zip(before, after, strict=True) if ":" not in pair[0][1]]
    assert len(within) > 15
    for (picture, path), (_, address) in within:
        assert (ROOT / path.partition("#")[0]).exists()
        assert address == f"{source}/{'raw' if picture else 'blob'}/main/{path}"


@pytest.mark.parametrize("address", ["https://pypi.org/", "mailto:a@b.org"])
def test_addresses_stay(monkeypatch, address):
    monkeypatch.setitem(globals(), "README", f"[one]({address}) and ![two]({address})")
    assert published() == README
