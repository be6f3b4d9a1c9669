"""
Texts
=====

You learn how to cluster texts by their words, with ``metric="cosine"``, and how to name the
clusters by the words that are typical of them.
"""

# %%
# Texts of known topics
# ---------------------
#
# The texts are generated, so that this page needs no download, and so that the truth is known.
# Each of the 1500 messages has five to thirty words. A few are of its topic. Most are words that
# all topics share, and some are of another topic by mistake. Real texts are harder. Replace
# ``texts`` by yours.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from kernelmeans import KernelPowerKMeans

TOPICS = {
    "delivery": "parcel late address courier tracking door box shipped depot signature",
    "payment": "card invoice refund bank charged twice price discount receipt total",
    "account": "password login email reset locked profile code username verify access",
    "quality": "broken scratch screen battery noise defect repair warranty part cracked",
    "praise": "great thanks friendly quick love perfect recommend happy helpful excellent",
}
SHARED = (
    "hello please order today again still would could about really need want know time week "
    "product shop team answer question help message number phone call wait since before after"
)
rng = np.random.default_rng(0)
topic = rng.choice(len(TOPICS), 1500, p=[0.35, 0.25, 0.2, 0.15, 0.05])
words = [text.split() for text in TOPICS.values()]


def write(own: int) -> str:
    """A message about a topic."""
    length = rng.integers(5, 31)
    other = rng.integers(len(words))
    source = rng.choice(3, length, p=[0.28, 0.65, 0.07])
    return " ".join(rng.choice([words[own], SHARED.split(), words[other]][each]) for each in source)


texts = [write(own) for own in topic]
print(*texts[:3], sep="\n")

# %%
# Cluster them
# ------------
#
# Tf-idf counts words, and gives rare ones more weight. The result is a sparse matrix, and stays
# one. The cosine metric compares the directions of rows, so that long and short messages can be
# alike.

vectorizer = TfidfVectorizer()
X = vectorizer.fit_transform(texts)
models = {
    "k-means": KMeans(5, n_init=10, random_state=0),
    "heat, cosine": KernelPowerKMeans(5, metric="cosine", random_state=0),
    "cosine kernel": KernelPowerKMeans(5, kernel="cosine", random_state=0),
}
for name, model in models.items():
    print(f"{name:<16} ARI {adjusted_rand_score(topic, model.fit_predict(X)):.2f}")

# %%
# Name the clusters
# -----------------
#
# A word is typical of a cluster if its mean weight there is far above the mean of all texts.

labels, names = models["heat, cosine"].labels_, vectorizer.get_feature_names_out()
means = np.array([X[labels == cluster].mean(axis=0).A1 for cluster in range(5)])
excess = means - X.mean(axis=0).A1
for cluster in range(5):
    typical = names[np.argsort(-excess[cluster])[:5]]
    print(f"cluster {cluster}, {(labels == cluster).sum()} texts: {', '.join(typical)}")

# %%
# The same as a picture: five words of each cluster, dark where the cluster uses them more than
# others.

# sphinx_gallery_alt = "A heat map of 25 words in five clusters. Each cluster has five dark words"
# sphinx_gallery_alt = "of its own, and is pale elsewhere."
shown = np.concatenate([np.argsort(-row)[:5] for row in excess])
figure, ax = plt.subplots(figsize=(4.2, 6), layout="constrained")
ax.imshow(excess[:, shown].T, cmap="Blues", vmin=0, aspect="auto")
ax.set(xticks=range(5), yticks=range(25), yticklabels=names[shown], xlabel="cluster")

# %%
# New texts go through the same vectorizer:

new = ["my parcel is late, the courier has the wrong address", "charged twice, I want a refund"]
print(models["heat, cosine"].predict(vectorizer.transform(new)))

# %%
# If a model makes embeddings of your texts, cluster these: :doc:`/gallery/plot_embeddings`.
# :doc:`/choosing` has a table of kernels, and :doc:`/guide/kernel` says what they see.
