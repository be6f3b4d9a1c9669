"""The verdict, for clusters of all numbers and sizes."""

import pytest

from kernelmeans.report.words import grouped, hints, verdict


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
    found = {
        "rows": n_rows,
        "outliers": 0,
        "clusters": clusters,
        "certainty": certainty,
        "stability": stability,
    }
    found["profiles"] = None
    return verdict(found).replace("\u00a0", " ").replace("\u202f", " ")


@pytest.mark.parametrize(
    ("sizes", "near", "text"),
    [
        ([1], [0], "1 row in 1 cluster."),
        ([150], [0], "150 rows in 1 cluster."),
        ([1, 1], [0, 0], "2 rows in 2 clusters, of 1 row each (50 %); no row is near the"),
        (
            [9000, 6000],
            [0, 0],
            "15 000 rows in 2 clusters, of 6000 (40 %) to 9000 (60 %) rows",
        ),
        (
            [1, 0],
            [0, 0],
            "1 row in 2 clusters, 1 of them empty; no row is near the border",
        ),
        (
            [2, 0, 0],
            [2, 0, 0],
            "2 rows in 3 clusters, 2 of them empty; 100 % of the rows are near",
        ),
        (
            [6, 4, 0],
            [0, 0, 0],
            "1 of them empty, the others of 4 (40 %) to 6 (60 %) rows; no row",
        ),
        (
            [5, 5, 0],
            [0, 0, 0],
            "1 of them empty, the others of 5 rows each (50 %); no row is near",
        ),
        (
            [90, 10],
            [0, 6],
            "6 % of the rows are near the border to another cluster",
        ),
        (
            [90, 10],
            [0, 6],
            "to another cluster, in cluster 1 60 %. Whether these clusters would",
        ),
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
    found = {"clusters": chosen, "candidates": [{"found_again": valid}]}
    found["chosen"] = None if chosen is None else 0
    assert told([5, 5], [0, 0], found).endswith(text)


def entry(column, difference, value="1", statistic="mean", kind="number", used=True, **more):
    return {
        **more,
        "column": column,
        "source": column.removesuffix(" is missing"),
        "difference": difference,
        "value": value,
        "statistic": statistic,
        "kind": kind,
        "used": used,
    }


def gap(difference, fraction):
    return entry("age is missing", difference, None, "fraction", "flag", fraction=fraction)


@pytest.mark.parametrize(
    ("profile", "text"),
    [
        (None, ""),
        ([], ""),
        ([entry("plan", 2.0, "family", "most frequent", "category")], "plan family"),
        ([entry("signup", -1.0, kind="date"), entry("income", 1.0)], "early signup, high income"),
        ([entry("a", -1.0), entry("b", 1.0), entry("c", 1.0)], "low a, high b"),
        ([entry("a", 0.05), entry("b", -0.05)], "average a, average b"),
        ([entry("signup", 3.0, used=False), entry("b", 1.0)], "high b"),
        (
            [entry("age is missing", 3.0, "90 %", "fraction", "flag", fraction=0.9)],
            "age is missing",
        ),
        ([entry("age is missing", 3.0, "20 %", "fraction", "flag", fraction=0.2)], ""),
        ([entry("age is missing", -3.0, "0 %", "fraction", "flag", fraction=0.0)], ""),
        # The most frequent value here, but more frequent elsewhere.
        ([entry("plan", -2.0, "family", "most frequent", "category")], ""),
    ],
)
def test_the_first_characteristics_stand_beside_a_number(profile, text):
    assert hints([{"name": None, "profile": profile}]) == [text]
    assert hints([{"name": "mine", "profile": profile}]) == [""]


def test_what_tells_a_cluster_from_the_others_comes_first():
    profile = [
        entry("a", 3.0),
        entry("b", 2.0),
        entry("plan", 1.0, "family", "most frequent", "category", fraction=0.9),
    ]
    assert hints([{"name": None, "apart": ["b", "plan"], "profile": profile}]) == [
        "high b, plan family"
    ]


def test_a_second_column_is_named_if_the_first_does_not_tell():
    def cluster(*values, apart=("a",)):
        return {"name": None, "apart": apart, "profile": [*map(entry, "ab", (1.0, 0.5), values)]}

    assert hints([cluster("1", "2")]) == ["high a"]
    assert hints([cluster("1", "2"), cluster("3", "2")]) == ["a 1", "a 3"]
    assert hints([cluster("1", "2"), cluster("1", "3")]) == ["a 1, b 2", "a 1, b 3"]
    assert hints([cluster("1", "2", apart=("b", "a"))]) == ["high b, high a"]
    # Fewer gaps than elsewhere are no name of the column.
    few = {"name": None, "apart": ["age"], "profile": [gap(-0.4, 0.1), entry("age", 0.0)]}
    assert hints([few]) == ["average age"]


def test_no_two_clusters_have_the_same_words_if_a_column_differs():
    def cluster(*values, name=None):
        names = zip("abcd", (3.0, 2.0, 1.0, 0.5), values, strict=True)
        profile = [entry(column, size, value) for column, size, value in names]
        return {"name": name, "apart": [], "profile": profile}

    alike = cluster("1", "2", "3", "4"), cluster("1", "2", "30000", "4")
    assert hints([*alike, cluster("7", "2", "3", "4", name="mine")]) == [
        "a 1, b 2, c 3",
        "a 1, b 2, c 30\u202f000",
        "",
    ]
    # The same words in another order are the same.
    turned = {"name": None, "apart": ["b", "a"], "profile": cluster("1", "5", "3", "4")["profile"]}
    assert hints([alike[0], turned]) == ["a 1, b 2", "b 5, a 1"]
    assert hints([alike[0], alike[0]]) == ["a 1, b 2, c 3, d 4"] * 2
    flags = [
        [entry("plan", 1.0, "family", "most frequent", "category", fraction=part)]
        for part in (0.9, 0.6)
    ]
    told = hints([{"name": None, "profile": profile} for profile in flags])
    assert told == ["plan family 90\xa0%", "plan family 60\xa0%"]


@pytest.mark.parametrize("text", ["1953", "02134", "55911-2", "1.5e+07", "2012-09-13", "12345 km"])
def test_what_is_no_large_number_stays_as_it_is(text):
    assert grouped(text) == text


def test_thousands_of_large_numbers_are_apart():
    assert grouped("42568") == "42\u202f568"
    assert grouped("-1023100.5") == "-1\u202f023\u202f100.5"
