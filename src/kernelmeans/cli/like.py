"""Numbers of clusters that a refit takes over from an earlier model."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernelmeans._text import listed
from kernelmeans.cli.errors import estimator_errors
from kernelmeans.cli.labels import Labels
from kernelmeans.cli.placing import NewRows
from kernelmeans.metrics import match_clusters
from kernelmeans.models.model import damaged_model_errors, load_model
from kernelmeans.tables.files.tables import Table


class Earlier:
    """An earlier model, and the clusters that it finds in a table.

    Parameters
    ----------
    path : Path
        The file of the model.
    table : FrameTable or ArrayTable
        The table.
    budget : float
        Bytes to which the file may unpack.
    """

    def __init__(self, path: Path, table: Table, budget: float) -> None:
        self.path = path
        model = load_model(path, budget)
        self.n_clusters, self.columns = model.pipeline[-1]._n_centroids, model.columns
        with estimator_errors(), damaged_model_errors(path, model):
            found = Labels.of_new(NewRows(table, model.columns_in(table), model), model)
        #: The cluster of each row, -1 for rows that the model cannot place.
        self.labels = np.full(len(found.placed), -1)
        self.labels[found.placed] = found.label

    def renumber(self, model: Any, columns: Sequence[str], rows: Any = None) -> Iterator[str]:
        """Give clusters that are found again their earlier numbers.

        Parameters
        ----------
        model : estimator
            A model that is fitted to the table.
        columns : sequence of str
            The columns that it uses. They are decided afresh, because the table may have others.
        rows : ndarray of bool of shape (n_rows,) or None, default=None
            Rows of the table that the model is fitted to; all when None.

        Yields
        ------
        str
            Sentences on other columns, on clusters that are gone, and on those whose numbers are
            too large.
        """
        new, old = (
            [name for name in these if name not in set(others)]
            for these, others in ((columns, self.columns), (self.columns, columns))
        )
        changes = [f"new are {listed(new)}"] * bool(new) + [f"left out are {listed(old)}"] * bool(
            old
        )
        if changes:
            yield (
                f"the columns are decided afresh, and are not those of {self.path}: "
                f"{', '.join(changes)}; --columns and --drop choose them"
            )
        earlier = self.labels if rows is None else self.labels[rows]
        placed = earlier >= 0
        found = match_clusters(model.labels_[placed], earlier[placed]) if placed.any() else {}
        n_clusters = model._n_centroids
        model.renumber([found.get(cluster, -1) for cluster in range(n_clusters)])
        for number in range(self.n_clusters):
            if number not in found.values():
                reused = "; the number is that of a new cluster now" * (number < n_clusters)
                yield f"cluster {number} of {self.path} is not found again{reused}"
            elif number >= n_clusters:
                yield (
                    f"cluster {number} of {self.path} is found again, but under another number, "
                    f"because there are only {n_clusters} clusters"
                )
