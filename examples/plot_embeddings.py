"""
Embeddings of texts
===================

You learn how to cluster the embeddings of texts, how to say what the clusters are, and what becomes
of new texts.
"""

# %%
# Texts, and a model
# ------------------
#
# The texts are made, so that this page needs no download and the truth is known: 2025 short
# messages about eight topics. The largest topic has 800 texts, and the smallest 25. Real texts are
# harder.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from kernelmeans import KernelPowerKMeans, describe
from kernelmeans.plotting import draw_clusters

TOPICS = {
    "football": "goal league coach striker keeper referee penalty stadium",
    "space": "orbit comet probe planet rocket telescope moon astronaut",
    "baking": "flour oven butter recipe sugar dough yeast cake",
    "health": "doctor vaccine clinic patient fever nurse dose therapy",
    "money": "bank interest loan stocks inflation budget tax savings",
    "music": "guitar concert album singer drums melody tour festival",
    "travel": "flight hotel beach passport luggage museum island ferry",
    "garden": "soil seeds tomato compost rose pruning harvest mulch",
}
SHARED = "today people new good first long think year really time little week always home story"
SIZES = [800, 500, 300, 200, 100, 60, 40, 25]
rng = np.random.default_rng(0)
topic = rng.permutation(np.repeat(range(8), SIZES))
words = [text.split() for text in TOPICS.values()]


def write(own: int) -> str:
    """A text: half of its words are of its topic."""
    of_topic = rng.random(rng.integers(6, 16)) < 0.55
    return " ".join(rng.choice(words[own] if each else SHARED.split()) for each in of_topic)


texts = [write(own) for own in topic]
print(*texts[:3], sep="\n")

# %%
# A model turns each text into numbers, its embedding. Here the model is simple, too: each word has
# a vector, those of a topic are alike, and a text is the mean of its words. With a model of your
# own this is ``X = your_model.encode(texts)``.

vectors = {word: rng.normal(size=64) for word in SHARED.split()}
for of_topic in words:
    middle = rng.normal(size=64)
    vectors |= {word: middle + 1.5 * rng.normal(size=64) for word in of_topic}


def encode(texts: list[str]) -> np.ndarray:
    """Embeddings, 64 numbers for each text."""
    means = [np.mean([vectors[word] for word in text.split()], axis=0) for text in texts]
    return np.array(means, dtype=np.float32)


X = encode(texts)

# %%
# Cluster them
# ------------
#
# The direction of an embedding says what a text is about, and not its length. So the metric is
# ``"cosine"``. k-means and HDBSCAN get rows of length 1, which comes to the same.

model = KernelPowerKMeans(8, metric="cosine", random_state=0)
unit = normalize(X)
found = {
    "KernelPowerKMeans": model.fit_predict(X),
    "k-means": KMeans(8, n_init=10, random_state=0).fit_predict(unit),
    "HDBSCAN": HDBSCAN(min_cluster_size=15, copy=True).fit_predict(unit),
}
for name, labels in found.items():
    score = adjusted_rand_score(topic, labels)
    print(f"{name:<18} ARI {score:.2f}, {(labels < 0).sum()} texts without a cluster")

# %%
# k-means divides the largest topic, and joins small ones. HDBSCAN finds all topics, if its smallest
# cluster is smaller than the smallest topic.
#
# Say what they are
# -----------------
#
# The numbers of an embedding say nothing to a reader. The words do: ``describe`` names those that
# set a cluster apart, and its most typical texts.

table = pd.DataFrame({"text": texts})
print(describe(model, table, X=X))

# %%
# Names for a picture are the words that a cluster uses most, compared with all texts:

counts = pd.Series(texts).str.get_dummies(" ")
excess = counts.groupby(model.labels_).mean() - counts.mean()
names = excess.idxmax(axis=1).tolist()

# sphinx_gallery_alt = "A map of the texts: eight groups of very different size in eight colours,"
# sphinx_gallery_alt = "each named by a word of its topic."
figure, ax = plt.subplots(figsize=(4.6, 4), layout="constrained")
draw_clusters(ax, model, X, names=names)
ax.get_legend().remove()

# %%
# New texts
# ---------
#
# They go through the same model. To leave out texts that are unlike all others, set ``outliers``:
# see :doc:`/guide/outliers`.

new = ["coach goal stadium really good", "little tomato seeds home compost"]
print([names[label] for label in model.predict(encode(new))])

# %%
# **When k-means is enough.** If the topics are many, small and about equally large, k-means of
# embeddings is as good or better: :doc:`/benchmarks` has such sets.
#
# :doc:`/guide/embeddings` has the number of clusters, many rows and the command line. Texts without
# a model, by their words alone, are in :doc:`/gallery/plot_texts`.
