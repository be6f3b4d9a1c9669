"""
A film of the annealing
=======================

You learn what happens during a fit: rows belong to all clusters at first, centroids part as the
power falls, and in the end each row has one cluster.
"""

# %%
# One run, step by step
# ---------------------
#
# Six blobs on a ring, and six centroids that begin in the same blob. k-means is stuck there.
# Annealing is not. :class:`~kernelmeans.PowerKMeans` has no kernel, so that its centroids are
# places in the picture. A run that is cut off after some steps is the beginning of the whole run.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
from matplotlib.colors import to_rgb
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from kernelmeans import PowerKMeans
from kernelmeans.plotting.palette import COLORS

angles = np.arange(6) * np.pi / 3
middles = 3 * np.column_stack([np.cos(angles), np.sin(angles)])
X, truth = make_blobs(360, centers=middles, cluster_std=0.55, random_state=0)
start = np.flatnonzero(truth == 0)[:6]
plain = KMeans(6, init=X[start], n_init=1).fit(X)
whole = PowerKMeans(6, init=start, s0=-0.05, eta=1.06, n_swaps=0).fit(X)
for each in (plain, whole):
    print(f"{type(each).__name__:<11} ARI {adjusted_rand_score(truth, each.labels_):.2f}")


def after(n_steps: int) -> PowerKMeans:
    """The model as it is after some steps."""
    model = PowerKMeans(**whole.get_params()).set_params(max_iter=n_steps)
    with warnings.catch_warnings():
        # It is cut off on purpose.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


# %%
# Four moments
# ------------
#
# A row has the mixed colours of the clusters that it belongs to. Crosses are centroids.

colors = np.array([to_rgb(each) for each in COLORS[:6]])


def draw(ax: plt.Axes, n_steps: int) -> None:
    """The rows and centroids after some steps."""
    model = after(n_steps)
    ax.clear()
    ax.scatter(*X.T, s=8, c=np.clip(model.memberships_ @ colors, 0, 1))
    ax.scatter(*model.cluster_centers_.T, s=60, c="black", marker="X", edgecolors="white")
    ax.set(xticks=[], yticks=[], aspect="equal")
    power = model.power_history_[-1]
    ax.set_title(f"step {n_steps}, " + (f"power {power:.2f}" if np.isfinite(power) else "hard"))


# sphinx_gallery_alt = "Six blobs after 1, 8, 14 and 59 steps. At first all rows have one mixed"
# sphinx_gallery_alt = "colour; in the end each blob has its own colour and a centroid in its"
# sphinx_gallery_alt = "middle."
# sphinx_gallery_thumbnail_number = 1
figure, panels = plt.subplots(2, 2, figsize=(4.6, 4.9), layout="constrained")
for ax, n_steps in zip(panels.flat, (1, 8, 14, whole.n_iter_), strict=True):
    draw(ax, n_steps)

# %%
# The film
# --------
#
# ``film.save("annealing.gif")`` writes it to a file.

# sphinx_gallery_alt = "A film: six centroids begin in the blob on the right, part step by step,"
# sphinx_gallery_alt = "and end in the middle of a blob each, while the colours of the rows become"
# sphinx_gallery_alt = "clear."
figure, ax = plt.subplots(figsize=(3.6, 3.8), layout="constrained")
steps = range(1, whole.n_iter_ + 1)
film = FuncAnimation(figure, lambda step: draw(ax, step), steps, interval=150)

# %%
# At first rows belong to no cluster more than to another. Then centroids part in groups, and each
# group parts again. The last steps are *hard*: each row pulls the nearest centroid only.
#
# :doc:`/how_it_works` shows what comes after the annealing, and :doc:`/guide/annealing` says how
# the power falls.
