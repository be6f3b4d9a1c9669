"""Tables, pictures and the page that holds them all."""

from kernelmeans_paper.report.document import Section, write_document
from kernelmeans_paper.report.picture import Picture, new_figure
from kernelmeans_paper.report.table import Entry, Table

__all__ = ["Entry", "Picture", "Section", "Table", "new_figure", "write_document"]
