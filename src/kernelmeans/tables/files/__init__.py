"""Files of tables: how they are read, and what of them stays on disk."""

from kernelmeans.tables.files.settings import DASH, Reading, shown, stem_of

__all__ = ["DASH", "Reading", "shown", "stem_of"]
