"""Tables as people have them: what each column is, and numbers made of them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernelmeans.tables.columns import Column
    from kernelmeans.tables.inspection import Inspection
    from kernelmeans.tables.kinds import column_kind
    from kernelmeans.tables.reading import read_table
    from kernelmeans.tables.transformer import TableTransformer

__all__ = ["Column", "Inspection", "TableTransformer", "column_kind", "read_table"]
_MODULES = "columns", "inspection", "kinds", "reading", "transformer"


def __getattr__(name: str) -> Any:
    # Importing scikit-learn takes a second, which the refusal of a file should not.
    if name in __all__:
        modules = (import_module(f"{__name__}.{module}") for module in _MODULES)
        globals()[name] = found = next(vars(one)[name] for one in modules if name in vars(one))
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
