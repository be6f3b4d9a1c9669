"""
A million rows
==============

You learn that a million rows take the same call as a thousand, what is approximated then, and how
much memory to allow.
"""

# %%
# The rows
# --------
#
# A ring with four blobs inside, in four-byte numbers: a million rows of two columns.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans
from kernelmeans.plotting.palette import COLORS

rng = np.random.default_rng(0)
truth = rng.integers(5, size=1_000_000)
angle = np.where(truth == 0, rng.random(len(truth)), truth / 4) * 2 * np.pi
radius = np.where(truth == 0, 6, 2.5)
X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
X = (X + rng.normal(0, 0.3, X.shape)).astype(np.float32)

# %%
# The fit
# -------
#
# All pairs of a million rows would be 4 TB. The default kernel needs no pairs. In few columns, it
# joins each row to some of 2000 *anchors* instead of other rows. ``memory_budget`` is the most
# that a fit may take. If it needed more, it would say so before it begins.

model = KernelPowerKMeans(5, memory_budget="2GB", random_state=0).fit(X)
print(model.approximation_, "-", model.approximation_reason_)
print(f"KernelPowerKMeans  ARI {adjusted_rand_score(truth, model.labels_):.3f}")

# %%
# The quickest method for so many rows is k-means in small batches. It finds round clusters only:

batches = MiniBatchKMeans(5, random_state=0).fit(X)
print(f"MiniBatchKMeans    ARI {adjusted_rand_score(truth, batches.labels_):.3f}")

# %%
# Every hundredth row in a picture:

# sphinx_gallery_alt = "A ring and four blobs inside of it. k-means cuts the ring and joins its"
# sphinx_gallery_alt = "parts to blobs; KernelPowerKMeans finds ring and blobs."
figure, panels = plt.subplots(1, 2, figsize=(4.6, 2.7), layout="constrained")
for ax, each in zip(panels, (batches, model), strict=True):
    ax.scatter(*X[::100].T, s=1, c=np.array(COLORS)[each.labels_[::100]], linewidths=0)
    ax.set(title=type(each).__name__, aspect="equal", xticks=[], yticks=[])

# %%
# :doc:`/guide/many_rows` says what is approximated, and by how much. Rows on several machines are
# clustered by the same call too: :doc:`/guide/cluster_gpu`.
