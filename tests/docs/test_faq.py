"""The page of questions explains every warning, and quotes no message that is not there."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADINGS = re.findall(r"^### `(.+)`$", (ROOT / "docs/faq.md").read_text("utf-8"), re.MULTILINE)
GAP = "\N{HORIZONTAL ELLIPSIS}"


def is_call_of(name, node):
    return isinstance(node, ast.Call) and ast.unparse(node.func) == name


def text_of(node):
    """A string of the source, with a gap for whatever is put in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(text_of, node.values))
    if isinstance(node, ast.FormattedValue) and is_call_of("option", node.value):
        # The page quotes Python's words.
        name, *value = node.value.args
        given = [repr(one.value) if isinstance(one, ast.Constant) else GAP for one in value]
        return "=".join([text_of(name), *given])
    return node.value if isinstance(node, ast.Constant) else GAP


def is_text(node):
    whole = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return whole or isinstance(node, ast.JoinedStr)


@cache
def nodes():
    texts = [path.read_text("utf-8") for path in (ROOT / "src/kernelmeans").rglob("*.py")]
    return [node for text in texts for node in ast.walk(ast.parse(text))]


def warnings_of_source():
    calls = (node for node in nodes() if isinstance(node, ast.Call))
    named = (call for call in calls if ast.unparse(call.func) in ("warn_user", "warnings.warn"))
    texts = [text_of(call.args[0]) for call in named if is_text(call.args[0])]
    # Those whose words are put in say them elsewhere in the source.
    return [text for text in texts if re.search("[a-z]", text)]


#: The words of each heading, in their order.
WORDS = [re.compile(".*".join(map(re.escape, heading.split(GAP)))) for heading in HEADINGS]


def test_every_warning_is_explained():
    messages = warnings_of_source()
    assert len(messages) >= 20
    assert not [one for one in messages if not any(words.search(one) for words in WORDS)]


def test_headings_quote_messages():
    messages = [text_of(node) for node in nodes() if is_text(node)]
    assert len(HEADINGS) >= 50
    unknown = [words.pattern for words in WORDS if not any(map(words.search, messages))]
    assert not unknown


def test_headings_say_enough():
    """No heading matches whatever there is."""
    assert not [heading for heading in HEADINGS if len(heading.replace(GAP, "").split()) < 3]
