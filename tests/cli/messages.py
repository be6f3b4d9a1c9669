"""Messages of the command line."""

import re

from kernelmeans.cli.options import flags


def in_python(text: str, *, views: bool = False) -> list[str]:
    """Options that a text names as Python does, outside of calls of other packages.

    A file of views names some as Python does.
    """
    text = re.sub(r"\w+\([^()]*\)", "", text)
    names = flags(views=views).keys() - ({"columns", "kernels"} if views else set())
    return re.findall(rf"(?<![\w-])({'|'.join(names)})=", text)
