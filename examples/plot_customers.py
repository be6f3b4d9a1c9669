"""
A table of customers, as it comes
=================================

You learn how to cluster a raw table with words, dates and gaps, say what each cluster is, write a
report for others, and place the customers of the next month.
"""

# %%
# The table
# ---------
#
# The 4000 customers are simulated. Five segments are known, and overlap. No column tells them
# apart alone. The module :download:`customers.py <../../examples/customers.py>` draws them. Save
# it beside this example.

from tempfile import TemporaryDirectory
from textwrap import fill

import matplotlib.pyplot as plt
import polars as pl
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from customers import customers, next_month
from kernelmeans import ClusterReport, KernelPowerKMeans, describe
from kernelmeans.models import Model
from kernelmeans.plotting import draw_clusters
from kernelmeans.tables import TableTransformer

table, segment = customers()
print(table.select("customer_id", "signup", "plan", "income", "spend").head(4))

# %%
# Fit
# ---
#
# :class:`~kernelmeans.tables.TableTransformer` decides what each column is, and says so. Skewed
# money is taken as logarithms. Identifiers, counters, copies and names are left out.

model = make_pipeline(TableTransformer(), KernelPowerKMeans(5, random_state=0)).fit(table)
print(model[0].report_)

# %%
# What comes out, beside k-means of the columns that one would choose and scale by hand:

numbers = pl.col("birth_year", "income", "spend", "visits", "minutes", "tickets", "rating")
words = table.select("region", "plan", "payment", "newsletter", "app")
filled = pl.concat(
    [table.select(numbers.fill_null(numbers.median())), words.to_dummies()], how="horizontal"
)
by_hand = make_pipeline(StandardScaler(), KMeans(5, n_init=10, random_state=0)).fit(filled)

labels = model[-1].labels_
print(f"k-means by hand    ARI {adjusted_rand_score(segment, by_hand[-1].labels_):.2f}")
print(f"TableTransformer   ARI {adjusted_rand_score(segment, labels):.2f}")

# %%
# What are they?
# --------------
#
# :func:`~kernelmeans.describe` compares each cluster with all rows.

print(describe(model, table))

# %%
# The five clusters are the five segments. They may have names now:

# sphinx_gallery_alt = "A map of the customers: five groups of dots with their names. Families and"
# sphinx_gallery_alt = "commuters lie side by side."
names = ["families", "students", "retired", "commuters", "businesses"]
figure, ax = plt.subplots(figsize=(4.6, 4), layout="constrained")
draw_clusters(ax, model, table, names=names)
ax.get_legend().remove()
plt.setp(ax.texts, fontsize=10)

# %%
# A page to send
# --------------
#
# :class:`~kernelmeans.ClusterReport` writes one file that needs no network:

report = ClusterReport(model, table, names=names, title="Customers")
print(fill(report.verdict))
with TemporaryDirectory() as folder:
    report.write_html(f"{folder}/customers.report.html")

# %%
# The command line writes such a page too, and after its search says how well each cluster is found
# again:
#
# .. image:: /_static/customers_report.png
#    :alt: The top of a report: a verdict in one sentence, links to sections, and a table of the
#          sizes of the five clusters
#
# Next month
# ----------
#
# Rows and columns of the next file have another order, there is a plan that the model has never
# seen, and five rows are wrong. The pipeline keeps to its decisions. A
# :class:`~kernelmeans.models.Model` of it gives -1 to the rows that it cannot place, and says why.

later, later_segment = next_month(table, segment)
found = Model.of(model).label(later)
known = found.placed & (later_segment >= 0)
print(f"{found.placed.sum()} of {len(later)} rows can be placed")
print(*found.remarks, sep="\n")
print(f"ARI of the next month {adjusted_rand_score(later_segment[known], found.labels[known]):.2f}")

# %%
# :doc:`/guide/data` says how columns are read, and :doc:`/guide/reading` what a report holds. On
# the command line, ``kernelmeans fit customers.csv -k 5 --report`` does all of this.
