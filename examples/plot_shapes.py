"""
Clusters that are not round
===========================

You learn which shapes k-means cuts into pieces, and that :class:`~kernelmeans.KernelPowerKMeans`
finds them with nothing set but the number of clusters.

The reason is in :doc:`/how_it_works`: rows are alike if they are *connected*, not if they are near
the same centre.
"""

# %%
# Three sets of rows
# ------------------
#
# Two moons, two rings, and three blobs of which one is much wider than the others. The true groups
# are known here. They are used for the comparison only.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans
from kernelmeans.plotting.palette import COLORS

sizes, widths = [500, 100, 100], [1.4, 0.4, 0.4]
middles = [[0, 0], [5.5, -1.5], [5.5, 1.5]]
sets = {
    "moons": make_moons(600, noise=0.08, random_state=0),
    "rings": make_circles(600, factor=0.5, noise=0.06, random_state=0),
    "unequal blobs": make_blobs(sizes, centers=middles, cluster_std=widths, random_state=0),
}

# %%
# Two methods
# -----------
#
# The adjusted Rand index (ARI) is 1 if all rows are grouped as in truth, and near 0 if they are
# grouped at random.

# sphinx_gallery_alt = "Moons, rings and unequal blobs. On the left k-means cuts each shape in"
# sphinx_gallery_alt = "pieces. On the right KernelPowerKMeans finds each shape whole."
figure, panels = plt.subplots(3, 2, figsize=(4.6, 6), layout="constrained")
for row, (name, (X, truth)) in zip(panels, sets.items(), strict=True):
    k = truth.max() + 1
    models = KMeans(k, n_init=10, random_state=0), KernelPowerKMeans(k, random_state=0)
    for ax, model in zip(row, models, strict=True):
        labels = model.fit_predict(X)
        score = adjusted_rand_score(truth, labels)
        ax.scatter(*X.T, s=4, c=np.array(COLORS)[labels])
        ax.set(xticks=[], yticks=[], title=f"{type(model).__name__}\nARI {score:.2f}")
    row[0].set_ylabel(name)

# %%
# k-means draws straight borders half way between two centres. So it cuts moons and rings. It saves
# more by halving the wide blob than by parting the two small ones.
#
# **When it fails.** Spirals whose arms nearly touch, and the smallest of several groups:
# :doc:`/gallery/plot_sizes` has an example, and :doc:`/benchmarks` has figures.
#
# **When k-means is enough.** Round clusters of about the same size are found by both. k-means is
# faster then. :doc:`/coming_from` says when to stay with it.
#
# **What else there is.** :doc:`/guide/kernel` has the other kernels, and :doc:`/choosing` says
# which one fits which data.
