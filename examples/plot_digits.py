"""
Handwritten digits
==================

You learn how to cluster rows of many columns, compare the clusters with classes that are known,
and look at what each cluster is.
"""

# %%
# Fit
# ---
#
# Each of the 1797 rows is a picture of 8 x 8 pixels. The columns have one unit, so that they need
# no scaling.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score, confusion_matrix

from kernelmeans import KernelPowerKMeans
from kernelmeans.plotting import draw_clusters

X, digit = load_digits(return_X_y=True)
model = KernelPowerKMeans(10, random_state=0).fit(X)
plain = KMeans(10, n_init=10, random_state=0).fit(X)
for each in (plain, model):
    print(f"{type(each).__name__:<18} ARI {adjusted_rand_score(digit, each.labels_):.2f}")

# %%
# The clusters were made without the classes. In nine of them 95 % of the rows or more are one
# digit:

table = confusion_matrix(model.labels_, digit)
names = table.argmax(axis=1)
for cluster, (most, counts) in enumerate(zip(names, table, strict=True)):
    print(f"cluster {cluster}: {counts.sum()} rows, {counts[most] / counts.sum():.0%} are a {most}")

# %%
# Look at the clusters
# --------------------
#
# Typical rows are those nearest to their centroid. Border rows are nearly as near to another one.
# ``distances_`` has both distances of each row.

# sphinx_gallery_alt = "For each of the ten clusters three typical digits, which are clear, and"
# sphinx_gallery_alt = "three border digits, which are hard to read."
own, second = model.distances_.T
figure, panels = plt.subplots(10, 6, figsize=(4, 7), layout="constrained")
for cluster, row in enumerate(panels):
    members = np.flatnonzero(model.labels_ == cluster)
    typical = members[np.argsort(own[members])[:3]]
    border = members[np.argsort((own / second)[members])[-3:]]
    for ax, shown in zip(row, [*typical, *border], strict=True):
        ax.imshow(X[shown].reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
    row[0].set_ylabel(f"{names[cluster]}s", rotation=0, ha="right", va="center")
panels[0, 1].set_title("typical")
panels[0, 4].set_title("border")

# %%
# A map shows which clusters lie side by side. Of 64 columns a map keeps two, so that clusters
# which touch here may be apart.

# sphinx_gallery_alt = "A map of the digits: ten groups of dots in different colours and shapes,"
# sphinx_gallery_alt = "named by their most frequent digit."
figure, ax = plt.subplots(figsize=(4.6, 4), layout="constrained")
draw_clusters(ax, model, X, names=[f"{name}s" for name in names])
ax.get_legend().remove()
plt.setp(ax.texts, fontsize=11)

# %%
# :doc:`/guide/reading` explains labels, distances and maps. ``kernelmeans demo`` does all of this
# on the command line.
