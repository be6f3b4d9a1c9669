"""
New rows, and rows unlike all others
====================================

You learn how to give clusters to rows that come later, how certain that is, and how to find rows
that are unlike everything the model has seen.
"""

# %%
# Fit to old rows
# ---------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans
from kernelmeans.models import Model
from kernelmeans.plotting.palette import COLORS

X, truth = make_moons(800, noise=0.12, random_state=1)
X_old, X_new = X[:500], X[500:]
model = KernelPowerKMeans(2, random_state=0).fit(X_old)

# %%
# Predict
# -------
#
# ``predict`` of the training rows is ``labels_``. New rows get the cluster of the training rows
# around them.

assert (model.predict(X_old) == model.labels_).all()
labels = model.predict(X_new)
print(f"ARI of 300 new rows: {adjusted_rand_score(truth[500:], labels):.2f}")

# %%
# How certain is it?
# ------------------
#
# ``transform`` has the distances to all centroids, in the space of the kernel. A row is near
# a border if the smallest is more than half of the second one.

distances = np.sort(model.transform(X_new), axis=1)
margin = 1 - distances[:, 0] / distances[:, 1]
print("margins of five rows:", margin[:5].round(2))
border = margin < 0.5
score = adjusted_rand_score(truth[500:][~border], labels[~border])
print(f"{border.sum()} rows have a margin below 0.5; ARI of the others: {score:.2f}")

# %%
# Rows that are far
# -----------------
#
# ``predict`` gives every row a cluster, also one that belongs nowhere. In the space of the heat
# kernel such a row lies where its nearest training rows lie, and so the distances above cannot
# tell. The distance to the nearest training row can. A new row is called *far* if 99 % of the
# training rows have a nearer neighbour. A :class:`~kernelmeans.models.Model` knows how near these
# are, and ``kernelmeans predict`` on the command line writes the same column.

strange = np.array([[0.5, 2.0], [2.5, 1.2], [-1.6, -0.6]])
rows = np.concatenate([X_new, strange])
far = Model.of(model, X_old).label(rows).far
print("far:", far[:-3].sum(), "of 300 rows like the old ones,", far[-3:].sum(), "of 3 strange ones")

# %%
# The picture has the regions of both clusters, and the new rows.

# sphinx_gallery_alt = "The plane in two pale colours, each with a moon of new rows inside. Rings"
# sphinx_gallery_alt = "are where the moons nearly touch. Crosses mark the far rows: three of them"
# sphinx_gallery_alt = "lie well outside of the moons."
figure, ax = plt.subplots(figsize=(4.6, 3.4), layout="constrained")
x, y = np.meshgrid(np.linspace(-2, 3, 150), np.linspace(-1.2, 2.3, 150))
regions = model.predict(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
ax.contourf(x, y, regions, levels=[-0.5, 0.5, 1.5], colors=COLORS[:2], alpha=0.2)
ax.scatter(*rows[~far].T, s=8, c=np.array(COLORS)[model.predict(rows[~far])])
ax.scatter(*rows[far].T, s=70, c="black", marker="x", label="far")
near = {"s": 60, "facecolors": "none", "edgecolors": "black", "label": "near a border"}
ax.scatter(*X_new[border].T, **near)
ax.legend(fontsize=8)
ax.set(title="300 new rows, and 3 strange ones")

# %%
# :doc:`/guide/models` says how to keep a model for next month. :doc:`/guide/command_line` has the
# columns that ``kernelmeans predict`` writes.
