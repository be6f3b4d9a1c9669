"""Tables as people have them: what each column is, and numbers made of them."""

from kernelmeans.tables.columns import Column
from kernelmeans.tables.inspection import Inspection
from kernelmeans.tables.kinds import column_kind
from kernelmeans.tables.transformer import TableTransformer

__all__ = ["Column", "Inspection", "TableTransformer", "column_kind"]
