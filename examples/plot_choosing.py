"""
How many clusters?
==================

You learn how to let :class:`~kernelmeans.ClusterSearch` choose the number of clusters and the
kernel without labels, how to read its picture, and that *one cluster* is an answer too.
"""

# %%
# Search
# ------
#
# Two moons and three blobs: five groups. Each candidate is fitted to random halves of the rows. A
# cluster counts if other halves show it again.

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, silhouette_score

from kernelmeans import ClusterSearch, KernelPowerKMeans
from kernelmeans.plotting import draw_flow, draw_scores
from kernelmeans.plotting.palette import COLORS

moons, moon = make_moons(300, noise=0.05, random_state=0)
middles = [[3.1, 0.9], [4.3, 0.9], [3.7, -0.2]]
blobs, blob = make_blobs(300, centers=middles, cluster_std=0.17, random_state=0)
X, truth = np.concatenate([moons, blobs]), np.concatenate([moon, blob + 2])

grid = {"n_clusters": range(2, 7), "kernel": ["heat", "rbf"]}
search = ClusterSearch(KernelPowerKMeans(), grid, n_splits=10, random_state=0).fit(X)
print(fill(search.verdict_))
print(search.best_params_, f"ARI {adjusted_rand_score(truth, search.labels_):.2f}")

# %%
# A silhouette prefers round clusters of equal size. With k-means it takes another number:

silhouettes = {
    k: silhouette_score(X, KMeans(k, n_init=5, random_state=0).fit_predict(X)) for k in range(2, 7)
}
print("the best silhouette has", max(silhouettes, key=silhouettes.get), "clusters")

# %%
# Read the scores
# ---------------
#
# At the top is how well two halves agree, and below it how well the least stable cluster is found
# again. Above the line at 0.75 every cluster is. The search takes the most clusters for which that
# holds, unless fewer are found again more surely. Of the kernels it takes the one that keeps near
# neighbours together best.

# sphinx_gallery_alt = "Scores against the number of clusters for two kernels. With the heat kernel"
# sphinx_gallery_alt = "the least stable cluster is found again at two, four and five clusters, and"
# sphinx_gallery_alt = "not at six. Five has a ring."
# sphinx_gallery_thumbnail_number = 3
figure, panels = plt.subplots(3, 1, figsize=(4.6, 6.4), sharex=True, layout="constrained")
draw_scores(panels, search)
for ax in panels:
    ax.label_outer()
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)

# %%
# The next picture shows where rows go from one number of clusters to the next. Clusters that are
# there stay together. Those that are not are cut, in another way each time.

# sphinx_gallery_alt = "Bands of rows flow from two clusters on the left to six on the right. They"
# sphinx_gallery_alt = "split cleanly up to five clusters."
figure, ax = plt.subplots(figsize=(4.6, 3.6), layout="constrained")
draw_flow(ax, search)
ax.set_title("")

# %%
# These are the clusters:

# sphinx_gallery_alt = "Two moons and three blobs, each in a colour of its own."
figure, ax = plt.subplots(figsize=(4.6, 2.6), layout="constrained")
ax.scatter(*X.T, s=6, c=np.array(COLORS)[search.labels_])
ax.set(xticks=[], yticks=[], title=f"{search.best_params_['n_clusters']} clusters")

# %%
# Where there are none
# --------------------
#
# Rows without clusters are cut in the same place every time if they are long. So the search
# compares with data of the same extent that has no clusters.

noise = np.random.default_rng(0).normal(size=(200, 2)) * [3, 1]
empty = ClusterSearch(KernelPowerKMeans(), {"n_clusters": range(2, 5)}, n_splits=10, random_state=0)
print(fill(empty.fit(noise).verdict_))

# %%
# :doc:`/choosing` says how the rule works and when it fails, and :doc:`/benchmarks` how often it
# is right.
