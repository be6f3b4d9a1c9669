"""
Communities of a graph
======================

You learn how to cluster the vertices of a graph by its edges alone, and how to place a vertex that
comes later.
"""

# %%
# A graph of known communities
# ----------------------------
#
# 600 people in five groups of unequal size. Two people of the same group know each other with a
# probability of 12 %, two of different groups with 2 %. This is a *stochastic block model*.

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans

rng = np.random.default_rng(0)
truth = np.repeat(range(5), [200, 150, 120, 80, 50])
chance = np.where(truth[:, None] == truth, 0.12, 0.02)
above = np.triu(rng.random(chance.shape) < chance, 1)
edges = csr_array(above + above.T, dtype=float)
print(f"{edges.nnz // 2} friendships, {edges.sum(axis=0).mean():.0f} of each person on average")

# %%
# Cluster it
# ----------
#
# With ``kernel="graph"`` X is the matrix of edges. They must be the same in both directions.

model = KernelPowerKMeans(5, kernel="graph", random_state=0).fit(edges)
spectral = SpectralClustering(5, affinity="precomputed", random_state=0).fit(edges)
for each in (spectral, model):
    print(f"{type(each).__name__:<18} ARI {adjusted_rand_score(truth, each.labels_):.2f}")

# %%
# The matrix of edges, before and after: vertices in random order, and sorted by their cluster.

# sphinx_gallery_alt = "The matrix of edges twice. In random order it is an even grey; sorted by"
# sphinx_gallery_alt = "cluster it has five dense squares on the diagonal."
figure, panels = plt.subplots(2, 1, figsize=(4.2, 8), layout="constrained")
orders = {"in random order": rng.permutation(600), "sorted by cluster": np.argsort(model.labels_)}
for ax, (title, order) in zip(panels, orders.items(), strict=True):
    ax.spy(edges[order][:, order], markersize=0.4, color="#0072B2")
    ax.set(title=title, xticks=[], yticks=[])

# %%
# A new vertex
# ------------
#
# New people are given by whom they know: one row each, with a column for every vertex of the fit.

friends = rng.random((5, 600)) < np.where(np.arange(5)[:, None] == truth, 0.12, 0.02)
found = model.predict(csr_array(friends, dtype=float))
largest = [np.bincount(model.labels_[truth == group]).argmax() for group in range(5)]
for group in range(5):
    print(f"group {group} is cluster {largest[group]}: its new member is in {found[group]}")

# %%
# :doc:`/guide/graphs` has edges with weights, distances instead of edges, and graphs in several
# pieces.
