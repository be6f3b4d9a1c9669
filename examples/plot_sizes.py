"""
Clusters of unequal size
========================

You learn what k-means and spectral clustering do to small groups beside a large one, and that
:class:`~kernelmeans.KernelPowerKMeans` finds them.
"""

# %%
# One large group, three small ones
# ---------------------------------
#
# 2000, 300, 100 and 30 rows: many customers and a few firms, say, or common cells and a rare type.
# All groups are round, with gaps between them.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans
from kernelmeans.plotting.palette import COLORS

SIZES, WIDTHS = [2000, 300, 100, 30], [1.5, 0.7, 0.6, 0.4]
MIDDLES = [[0, 0], [6, 1], [4.5, 5.5], [-2, 6.5]]
models = {
    "k-means": KMeans(4, n_init=10, random_state=0),
    "spectral clustering": SpectralClustering(4, affinity="nearest_neighbors", random_state=0),
    "KernelPowerKMeans": KernelPowerKMeans(4, random_state=0),
}

# %%
# Six draws of the same groups, because one may be luck. The adjusted Rand index (ARI) is 1 if all
# rows are grouped as they were drawn.

# Spectral clustering warns where gaps divide its graph.
warnings.filterwarnings("ignore", "Graph is not fully connected")
draws = [
    make_blobs(SIZES, centers=MIDDLES, cluster_std=WIDTHS, random_state=seed) for seed in range(6)
]
for name, model in models.items():
    scores = [adjusted_rand_score(truth, model.fit_predict(X)) for X, truth in draws]
    print(f"{name:<20} ARI", *(f"{score:.2f}" for score in scores))

# %%
# k-means always divides the large group: that saves more squared distance than the small groups
# cost. Spectral clustering divides it in half of the draws, as in the second one:

# sphinx_gallery_alt = "One large group, and three small ones beside and above it. k-means cuts the"
# sphinx_gallery_alt = "large one in three, and joins two small ones. Spectral clustering halves"
# sphinx_gallery_alt = "it, and joins the smallest to a half. KernelPowerKMeans finds all four."
X, truth = draws[1]
figure, panels = plt.subplots(3, 1, figsize=(4.6, 9), layout="constrained")
for ax, (name, model) in zip(panels, models.items(), strict=True):
    labels = model.fit_predict(X)
    score = adjusted_rand_score(truth, labels)
    ax.scatter(*X.T, s=5, c=np.array(COLORS)[labels])
    ax.set(xticks=[], yticks=[], aspect="equal", title=f"{name}, ARI {score:.2f}")

# %%
# **Why.** The default kernel cuts where few rows are connected, and weighs rows by how dense they
# lie. The inside of a large group has many connections, however many rows it has.
#
# Where it fails
# --------------
#
# A small group that touches a large one may be missed: the large one is halved instead. Many
# clusters, merged down, find it:

X, truth = make_blobs([2000, 40], centers=[[0, 0], [4.5, 0]], cluster_std=[1, 0.5], random_state=0)
for k in (2, 20):
    labels = KernelPowerKMeans(k, random_state=0).fit(X).cut(2)
    score = adjusted_rand_score(truth, labels)
    print(f"{k} clusters, cut to 2: {np.bincount(labels)} rows, ARI {score:.2f}")

# %%
# :doc:`/benchmarks` has more sizes, and :doc:`/choosing` says how to find the number of clusters.
