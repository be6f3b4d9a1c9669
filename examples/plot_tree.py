"""
A tree of clusters
==================

You learn how to see which clusters are alike, merge them into fewer, and give new rows labels on
several levels.
"""

# %%
# More clusters than digits
# -------------------------
#
# Twenty clusters of handwritten digits are too many: people write a seven in more than one way.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score, confusion_matrix

from kernelmeans import KernelPowerKMeans
from kernelmeans.plotting import draw_tree

X, digit = load_digits(return_X_y=True)
train, new = slice(0, 1500), slice(1500, None)
model = KernelPowerKMeans(20, random_state=0).fit(X[train])

# %%
# The tree
# --------
#
# Names are the most frequent digits. Clusters of one digit are merged first, and then digits that
# look alike.

# sphinx_gallery_alt = "A tree that lies on its side: clusters of the same digit are joined near"
# sphinx_gallery_alt = "the left, and different digits farther to the right."
table = confusion_matrix(digit[train], model.labels_)[:, :20]
names = [f"{most}s" for most in table.argmax(axis=0)]
figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
draw_tree(ax, model, names)

# %%
# Layers
# ------
#
# ``cut`` merges clusters until so many are left. A cluster of one layer is part of a single cluster
# of the layer before, for new rows too.

layers = np.column_stack([model.cut(k, X[new]) for k in (3, 8, 20)])
print(layers[:5])
for k in (20, 14, 10):
    print(f"{k} clusters: ARI {adjusted_rand_score(digit[new], model.cut(k, X[new])):.2f}")

# %%
# :doc:`/guide/reading` says how clusters are merged. ``tree_`` has ``children_`` and
# ``distances_`` as those of :class:`sklearn.cluster.AgglomerativeClustering`.
