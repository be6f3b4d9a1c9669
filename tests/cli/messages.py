"""Messages of the command line."""

import re

from kernelmeans.cli.options import flags


def in_python(text: str, *, views: bool = False) -> list[str]:
    """Options that a text names as Python does, outside of calls of other packages."""
    text = re.sub(r"\w+\([^()]*\)", "", text)
    return re.findall(rf"(?<![\w-])({'|'.join(flags(views=views))})=", text)
