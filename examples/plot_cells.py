"""
Single cells, with scanpy's graph
=================================

You learn how to cluster cells by the graph that ``scanpy.pp.neighbors`` has made, and how to write
the clusters back to ``adata.obs``.
"""

# %%
# Cells
# -----
#
# 1200 cells of six types are simulated: counts of 400 genes, of which each type has some of its
# own. A cell has few counts, and some cells have ten times more than others. Two types are rare,
# and two are related. With data of your own this is ``adata = anndata.read_h5ad("cells.h5ad")``.

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from kernelmeans import KernelPowerKMeans
from kernelmeans.plotting.palette import COLORS

TYPES = ["T CD4", "T CD8", "B", "monocyte", "dendritic", "NK"]
rng = np.random.default_rng(0)
kind = rng.choice(6, 1200, p=[0.35, 0.2, 0.2, 0.15, 0.05, 0.05])
level = rng.gamma(0.5, 1, (6, 400)) ** 0.5
level[1, 150:] = level[0, 150:]
depth = rng.lognormal(0, 0.5, 1200)
counts = rng.poisson(level[kind] * depth[:, None]).astype(np.float32)
adata = anndata.AnnData(csr_array(counts))
adata.obs["cell_type"] = pd.Categorical.from_codes(kind, TYPES)
print(adata)
print(f"{(counts == 0).mean():.0%} of the counts are zero")

# %%
# What scanpy does
# ----------------
#
# These are the usual steps: every cell to the same depth, logarithms, 20 principal components, and
# the graph of 15 neighbours. scanpy is not installed where this page is built. The lines below do
# what these calls do. For the same components their edges are those of scanpy 1.11, to five
# digits.
#
# .. code-block:: python
#
#    scanpy.pp.normalize_total(adata, target_sum=1e4)
#    scanpy.pp.log1p(adata)
#    scanpy.pp.pca(adata, n_comps=20)
#    scanpy.pp.neighbors(adata, n_neighbors=15)


def fuzzy_graph(X: np.ndarray, n_neighbors: int = 15) -> csr_array:
    """Edges between 0 and 1, as UMAP and scanpy weigh them."""
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(X)
    distances, neighbors = search.kneighbors(X)
    beyond = np.maximum(distances - distances[:, 1:2], 0)[:, 1:]
    # The width of a cell is such that its edges sum to log2 of their number.
    low, high = np.zeros((len(X), 1)), np.full((len(X), 1), distances.max())
    for _ in range(60):
        width = (low + high) / 2
        wide = np.exp(-beyond / width).sum(axis=1, keepdims=True) > np.log2(n_neighbors)
        low, high = np.where(wide, low, width), np.where(wide, width, high)
    starts = np.arange(0, beyond.size + 1, n_neighbors - 1)
    weights, ends = np.exp(-beyond / width).ravel(), neighbors[:, 1:].ravel()
    one_way = csr_array((weights, ends, starts), shape=(len(X), len(X)))
    return one_way + one_way.T - one_way * one_way.T


depths = adata.X.sum(axis=1)[:, None]
logarithms = np.log1p(adata.X.toarray() / depths * 1e4)
adata.obsm["X_pca"] = PCA(20, random_state=0).fit_transform(logarithms)
adata.obsp["connectivities"] = fuzzy_graph(adata.obsm["X_pca"])

# %%
# Cluster the graph
# -----------------
#
# The clusters go back to ``adata.obs`` as a category, as scanpy's plots want them.

model = KernelPowerKMeans(6, kernel="graph", random_state=0)
labels = model.fit_predict(adata.obsp["connectivities"])
adata.obs["clusters"] = pd.Categorical(labels).rename_categories(str)

plain = KMeans(6, n_init=10, random_state=0).fit(adata.obsm["X_pca"])
print(f"k-means of the components   ARI {adjusted_rand_score(kind, plain.labels_):.2f}")
print(f"KernelPowerKMeans           ARI {adjusted_rand_score(kind, labels):.2f}")
print(pd.crosstab(adata.obs["cell_type"], adata.obs["clusters"]))

# %%
# The picture shows the first two of the 20 components:

# sphinx_gallery_alt = "Cells by two principal components, in six colours by cluster. Some clusters"
# sphinx_gallery_alt = "overlap here, because they differ in other components."
figure, ax = plt.subplots(figsize=(4.6, 3.8), layout="constrained")
for cluster, of_type in adata.obs.groupby("clusters", observed=True)["cell_type"]:
    place = adata.obsm["X_pca"][adata.obs["clusters"] == cluster, :2]
    name = f"{cluster}: {of_type.mode()[0]}"
    ax.scatter(*place.T, s=6, color=COLORS[int(cluster)], label=name)
ax.legend(markerscale=2, fontsize=8)
ax.set(xticks=[], yticks=[], xlabel="component 1", ylabel="component 2")

# %%
# k-means of the components is as good here, because the simulated types are round. Real types
# often are not, and a graph does not mind.
#
# With Leiden one sets a resolution. Here one sets the number of clusters, and gets the same
# clusters every time. :doc:`/guide/graphs` has new cells, and ``.h5ad`` files on the command line;
# :doc:`/coming_from` has Leiden side by side.
