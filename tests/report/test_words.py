"""The verdict, for clusters of all numbers and sizes."""

import pytest

from kernelmeans.report.words import verdict


def told(sizes, near, stability=None):
    """The verdict on clusters of these sizes, of which so many rows are near the border."""
    n_rows = sum(sizes)
    clusters = [
        {
            "cluster": number,
            "name": None,
            "rows": size,
            "fraction": size / n_rows,
            "certainty": {"near_border": border / size} if size else None,
        }
        for number, (size, border) in enumerate(zip(sizes, near, strict=True))
    ]
    certainty = {"near_border": sum(near) / n_rows} if len(sizes) > 1 else None
    found = {"rows": n_rows, "clusters": clusters, "certainty": certainty, "stability": stability}
    return verdict(found).replace("\u00a0", " ").replace("\u202f", " ")


@pytest.mark.parametrize(
    ("sizes", "near", "text"),
    [
        ([1], [0], "1 row in 1 cluster."),
        ([150], [0], "150 rows in 1 cluster."),
        ([1, 1], [0, 0], "2 rows in 2 clusters, of 1 row each (50 %); all rows are clearly"),
        (
            [9000, 6000],
            [0, 0],
            "15 000 rows in 2 clusters, of 6000 (40 %) to 9000 (60 %) rows",
        ),
        (
            [1, 0],
            [0, 0],
            "1 row in 2 clusters, 1 of them empty; the row is clearly nearer to its",
        ),
        (
            [2, 0, 0],
            [2, 0, 0],
            "2 rows in 3 clusters, 2 of them empty; no row is clearly nearer to",
        ),
        (
            [6, 4, 0],
            [0, 0, 0],
            "1 of them empty, the others of 4 (40 %) to 6 (60 %) rows; all",
        ),
        ([5, 5, 0], [0, 0, 0], "1 of them empty, the others of 5 rows each (50 %); all rows are"),
        (
            [90, 10],
            [0, 6],
            "94 % of the rows are clearly nearer to their own centroid than",
        ),
        ([90, 10], [0, 6], "than to another, in cluster 1 only 40 %. Whether these clusters would"),
    ],
)
def test_counts_agree_with_their_words(sizes, near, text):
    assert text in told(sizes, near)


@pytest.mark.parametrize(
    ("chosen", "valid", "text"),
    [
        (2, True, "All clusters are found again in halves of the rows."),
        (2, False, "Not all clusters are found again in halves of the rows."),
        (1, True, "A search has preferred 1 cluster."),
        (None, True, "A search has found no clusters that would be found again."),
    ],
)
def test_a_search_has_the_last_word(chosen, valid, text):
    candidates = [
        {"n_clusters": count, "valid": valid, "chosen": count == chosen} for count in (1, 2)
    ]
    assert told([5, 5], [0, 0], {"candidates": candidates}).endswith(text)
