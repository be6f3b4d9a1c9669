"""
Several views of the same rows
==============================

You learn how to cluster rows by several groups of columns at once, each with a kernel of its own,
and to read how much each of them counts.
"""

# %%
# Three views
# -----------
#
# A view is a group of columns: the sound of a song and the words of its listeners, say. Here the
# left half of each handwritten digit is a view, and the right half is another. The third view says
# nothing: it is drawn at random.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans, MultiKernelPowerKMeans

pixels, digit = load_digits(return_X_y=True)
pictures = pixels.reshape(-1, 8, 8)
left = pictures[:, :, :4].reshape(-1, 32)
right = pictures[:, :, 4:].reshape(-1, 32)
noise = np.random.default_rng(0).normal(0, 8, (len(left), 32))
X = np.hstack([left, right, noise])

# sphinx_gallery_alt = "The left half and the right half of a digit side by side, and a square of"
# sphinx_gallery_alt = "noise."
figure, panels = plt.subplots(1, 3, figsize=(4.6, 2.6), layout="constrained")
shown = {"left": left, "right": right, "noise": noise}
for ax, (name, view) in zip(panels, shown.items(), strict=True):
    ax.imshow(view[5].reshape(8, 4), cmap="gray_r")
    ax.set(title=name, xticks=[], yticks=[])

# %%
# One view, or all columns in one kernel
# --------------------------------------


def agreement(labels: np.ndarray) -> str:
    """The adjusted Rand index with the true digits."""
    return f"ARI {adjusted_rand_score(digit, labels):.2f}"


# A fit warns that the noise alone has hardly any clusters.
warnings.filterwarnings("ignore", "Cluster . is hardly one")
one = KernelPowerKMeans(10, random_state=0)
for name, view in {**shown, "left, right": pixels, "all columns": X}.items():
    print(f"{name:<12} {agreement(one.fit_predict(view))}")

# %%
# A kernel for each view
# ----------------------
#
# A view is a name, a kernel and its columns: numbers, names, slices or masks. The kernels are
# brought on one scale, and their weights are learned.

columns = {"left": slice(0, 32), "right": slice(32, 64), "noise": slice(64, 96)}
views = [(name, "heat", where) for name, where in columns.items()]
model = MultiKernelPowerKMeans(10, kernels=views, random_state=0).fit(X)
print(f"three views  {agreement(model.labels_)}")

# %%
# ``entropy_weight`` says how even the weights are to be. With a small one the noise counts less,
# and yet the clusters are worse: with 0.1 one half has nearly all weight. Even weights are hard to
# beat.

# sphinx_gallery_alt = "Bars of the weights of three views at three values of entropy_weight. The"
# sphinx_gallery_alt = "smaller it is, the less the noise counts."
# sphinx_gallery_thumbnail_number = 2
figure, ax = plt.subplots(figsize=(4.6, 3.2), layout="constrained")
for place, (weight, color) in enumerate({0.1: "#0072B2", 0.5: "#E69F00", 2: "#009E73"}.items()):
    fitted = MultiKernelPowerKMeans(10, kernels=views, entropy_weight=weight, random_state=0).fit(X)
    label = f"{weight:g}: {agreement(fitted.labels_)}"
    ax.bar(np.arange(3) + 0.27 * place, fitted.kernel_weights_, 0.25, label=label, color=color)
ax.set_xticks(np.arange(3) + 0.27, columns)
ax.legend(title="entropy_weight")
ax.set(title="Weight of each view")

# %%
# :doc:`/guide/views` says how weights and scales are found. Views of a file are named in a TOML
# file on the command line.
