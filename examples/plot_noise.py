"""
Rows in noise
=============

You learn how to leave rows that belong nowhere without a cluster, by ``outliers="auto"``, and how
that compares with HDBSCAN.
"""

# %%
# Shapes in noise
# ---------------
#
# Two moons and a blob, and 400 rows at random all around: one row in five. These carry the label
# -1, as those that a method leaves out do.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans
from kernelmeans.plotting.palette import COLORS, GREY

rng = np.random.default_rng(0)
moons, moon = make_moons(1000, noise=0.06, random_state=0)
shapes = np.concatenate([moons, rng.normal([0.5, 2], 0.22, (500, 2))])
noise = rng.uniform(shapes.min(axis=0) - 0.5, shapes.max(axis=0) + 0.5, (400, 2))
X = np.concatenate([shapes, noise])
truth = np.concatenate([moon, np.full(500, 2), np.full(400, -1)])

# %%
# Leave rows out
# --------------
#
# HDBSCAN needs the size of the smallest cluster, and finds their number. ``KernelPowerKMeans``
# needs the number. The adjusted Rand index (ARI) is that of the 1500 rows of the shapes. Some noise
# falls on the shapes, so that nobody can tell it from them.

models = {
    "HDBSCAN, min_cluster_size=5": HDBSCAN(min_cluster_size=5, copy=True),
    "HDBSCAN, min_cluster_size=38": HDBSCAN(min_cluster_size=38, copy=True),
    "KernelPowerKMeans": KernelPowerKMeans(3, outliers="auto", random_state=0),
}
for name, model in models.items():
    labels = model.fit(X).labels_
    agreement = adjusted_rand_score(truth[:1500], labels[:1500])
    lost, left_out = (labels[:1500] == -1).mean(), (labels[1500:] == -1).mean()
    print(f"{name}: {labels.max() + 1} clusters, ARI {agreement:.2f}")
    print(f"    left out: {left_out:.0%} of the noise, {lost:.1%} of the shapes")

# %%
# With its default of 5 HDBSCAN takes chance groups of noise for clusters. With a fiftieth of the
# rows it is as good as ``outliers="auto"``.

# sphinx_gallery_alt = "Two moons and a blob in noise, three times. HDBSCAN with its default splits"
# sphinx_gallery_alt = "off many small groups of noise. HDBSCAN with a larger size, and"
# sphinx_gallery_alt = "KernelPowerKMeans, find three shapes and leave the noise around them grey."
figure, panels = plt.subplots(3, 1, figsize=(4.6, 8.4), layout="constrained")
for ax, (name, model) in zip(panels, models.items(), strict=True):
    # The largest clusters have the first colours. Noise is last.
    sizes = np.bincount(model.labels_[model.labels_ >= 0])
    colors = np.array([*np.array(COLORS)[np.argsort(np.argsort(-sizes))], GREY])
    ax.scatter(*X.T, s=4, c=colors[model.labels_])
    ax.set(xticks=[], yticks=[], title=name)

# %%
# New rows, and how strange they are
# ----------------------------------
#
# ``predict`` leaves new rows out by the same measure, and ``outlier_score`` says how strange a row
# is. Above 1 it has no cluster. HDBSCAN of scikit-learn has no ``predict``.

model = models["KernelPowerKMeans"]
new = [[0, 1], [0.5, 2.2], [1.8, 2], [5, 5]]
for label, score in zip(model.predict(new), model.outlier_score(new), strict=True):
    print(f"label {label:>2}, score {score:.2f}")

# %%
# **Where HDBSCAN is better.** Wide clusters may run into the noise, without a gap of density
# between. ``outliers="auto"`` then leaves out little. Give a fraction, such as ``outliers=0.1``, if
# you know about how much is noise. HDBSCAN also needs no number of clusters;
# :class:`~kernelmeans.ClusterSearch` can find it, but takes longer.
#
# :doc:`/guide/outliers` says how the score is made.
