"""The paper's tables and figures, and some of our own, as experiments that anyone can run.

``kernelmeans-paper all --out DIR`` runs them. An experiment (`experiments`) is a declared grid of
cells, a function that runs one cell, and one that makes a section of the report from their
outcomes. Cells are saved as they are finished (`store`), run in processes of their own (`runner`)
and know nothing of each other.
"""
