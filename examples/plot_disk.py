"""
Rows on disk
============

You learn how to cluster rows that stay on disk, as NumPy, Zarr or Parquet files, block by block.
"""

# %%
# Three files
# -----------
#
# Ten blobs on two rings, turned into 20 columns: 60 000 rows. Here the files are small, so that
# this page is quick to build.

from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import zarr
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans
from kernelmeans.plotting.palette import COLORS
from kernelmeans.rows import open_rows
from kernelmeans.simulate import make_rings

rng = np.random.default_rng(0)
rings, truth = make_rings(points_per_blob=6000, spread=0.3, random_state=0)
turn = np.linalg.qr(rng.normal(size=(20, 20)))[0]
X = np.hstack([rings, rng.normal(0, 0.3, (len(rings), 18))]) @ turn
X = X.astype(np.float32)

scratch = TemporaryDirectory()
folder = Path(scratch.name)
np.save(folder / "rows.npy", X)
zarr.save(folder / "rows.zarr", X)
pl.from_numpy(X).write_parquet(folder / "rows.parquet", row_group_size=10_000)

# %%
# Fit
# ---
#
# :func:`~kernelmeans.rows.open_rows` opens a file without reading it. All three give the same
# clusters.

for name in ("rows.npy", "rows.zarr", "rows.parquet"):
    rows = open_rows(folder / name)
    model = KernelPowerKMeans(10, random_state=0).fit(rows)
    print(f"{name:<12} {rows.shape}  ARI {adjusted_rand_score(truth, model.labels_):.4f}")

# %%
# Allow less memory
# -----------------
#
# The graph of all rows needs them in memory. A fit by anchors (``approximation="landmarks"``) reads
# block by block what does not fit into ``memory_budget``, and computes again what it cannot keep.
# That takes longer, and ends at the same clusters. A budget of 10 MB stands for 10 GB here.

rows = open_rows(folder / "rows.npy")
for budget in ("100MB", "10MB"):
    model = KernelPowerKMeans(10, approximation="landmarks", memory_budget=budget, random_state=0)
    model.fit(rows)
    print(f"{budget:>5}: ARI {adjusted_rand_score(truth, model.labels_):.4f}")
    print(f"       {model.approximation_reason_}")

# %%
# A budget that is too small is refused before the fit begins:

try:
    KernelPowerKMeans(10, memory_budget="2MB", random_state=0).fit(rows)
except MemoryError as error:
    print(fill(str(error)))

# %%
# Predict
# -------
#
# ``predict`` reads block by block too. The picture has every twentieth row in the plane of the
# rings.

# sphinx_gallery_alt = "Ten blobs on two rings around one centre, each in a colour of its own."
labels = model.predict(rows)
place = X[::20] @ turn.T[:, :2]
figure, ax = plt.subplots(figsize=(4.2, 4.2), layout="constrained")
ax.scatter(*place.T, s=3, c=np.array(COLORS)[labels[::20]])
ax.set(xticks=[], yticks=[], aspect="equal")
scratch.cleanup()

# %%
# :doc:`/guide/many_rows` says which formats are fast, and what is held in memory. Rows of a Dask
# array are on :doc:`/guide/cluster_gpu`.
