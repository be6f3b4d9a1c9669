"""Texts of typical rows, and words that set clusters apart."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import power_divergence

from kernelmeans import ClusterReport, KernelPowerKMeans, describe
from kernelmeans.models import Model
from kernelmeans.profiles.texts import (
    FEWEST_NUMBERED,
    LONGEST,
    MOST_ROWS,
    MOST_WORDS,
    TfidfVectorizer,
)

TOPICS = {
    "English": ("goal team league coach", "orbit comet rocket probe", "bond fund stock bank"),
    "Russian": ("гол матч команда тренер", "орбита комета ракета зонд", "фонд рынок акция банк"),
    "Chinese": ("进球 球队 联赛 教练", "轨道 彗星 火箭 探测", "债券 基金 股票 银行"),
}
COMMON = {
    "English": "the of and to in is that it",
    "Russian": "и в не на что он как это",
    "Chinese": "的是 在了 和有 我们 不也 他们 这个 一些",
}


def texts_of(labels, language="English", blank=" "):
    """Six common words and four of a topic, in any order, for each row."""
    rng = np.random.default_rng(5)
    topics = [topic.split() for topic in TOPICS[language]]
    found = []
    for label in labels:
        words = [*rng.choice(COMMON[language].split(), 6), *rng.choice(topics[label], 4)]
        found.append(blank.join(rng.permutation(words)))
    return found


@pytest.fixture
def embedded(rng):
    """Three groups in sixty columns that say nothing, with identifiers and texts."""
    labels = rng.permutation(np.repeat([0, 1, 2], [120, 90, 60]))
    X = np.eye(60)[labels] * 3 + 0.5 * rng.normal(size=(270, 60))
    names = {
        "id": [f"doc-{row:04d}" for row in range(270)],
        "text": texts_of(labels),
    }
    table = pd.DataFrame(names).join(pd.DataFrame(X, columns=[f"e{i + 1}" for i in range(60)]))
    return table, KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(X), X


@pytest.mark.parametrize("language", TOPICS)
@pytest.mark.parametrize("library", [pd, pl])
def test_words_are_those_of_the_topic(language, library):
    labels = np.repeat([0, 1, 2], [200, 100, 50])
    described = describe(labels, library.DataFrame({"text": texts_of(labels, language)}))
    assert "no column differs" not in str(described)
    for record, topic in zip(described.records, TOPICS[language], strict=True):
        assert set(record.words) == set(topic.split())
        assert record.typical_texts == ()  # labels know no distances


def test_words_of_a_script_without_blanks_are_pairs_of_signs():
    labels = np.repeat([0, 1, 2], 100)
    table = pd.DataFrame({"text": texts_of(labels, "Chinese", blank="")})
    for record, topic in zip(describe(labels, table).records, TOPICS["Chinese"], strict=True):
        assert set(topic.split()) <= set(record.words)
        assert all(len(word) == 2 for word in record.words)


def test_words_are_sorted_by_what_they_say_and_are_few(rng):
    """Words of a topic that fewer of its rows have say less."""
    labels = np.repeat([0, 1], 400)
    names = "kappa", "gamma", "theta", "sigma", "omega", "delta", "alpha", "iota", "zeta", "beta"
    fractions = dict(zip(names, np.linspace(0.95, 0.2, 10), strict=True))
    texts = [
        " ".join(["same", *(word for word, part in fractions.items() if rng.random() < part)])
        if label
        else "same other"
        for label in labels
    ]
    _, record = describe(labels, pd.DataFrame({"text": texts, "n": labels})).records
    assert record.words == names[:MOST_WORDS]


@pytest.mark.parametrize("count", range(6, 30))
def test_a_word_that_chance_explains_is_none(count):
    """The likelihood ratio is that of SciPy; 16 is the square of four standard deviations."""
    labels = np.repeat([0, 1], [100, 300])
    rows = np.arange(400)
    holds = (rows < count) | (rows >= 392)
    texts = [f"same text {'special' if one else 'usual'} {row}" for row, one in enumerate(holds)]
    total = count + 8
    found = power_divergence([count, 8], [total / 4, 3 * total / 4], lambda_="log-likelihood")
    words = describe(labels, pd.DataFrame({"text": texts})).records[0].words
    assert ("special" in words) == (found.statistic > 16)


def test_labels_by_chance_have_no_words(rng):
    labels = np.repeat([0, 1, 2], 100)
    table = pd.DataFrame({"text": texts_of(labels)})
    shuffled = [describe(rng.permutation(labels), table).records for _ in range(5)]
    assert all(record.words == () for records in shuffled for record in records)


@pytest.mark.parametrize(
    "texts",
    [
        [f"{row} {row + 1}" for row in range(60)],
        [None, *(f"{row}-{row}" for row in range(59))],
        ["goal", *[" "] * 59],
        [f"word{'abcdefghij'[row % 10]}{row}" for row in range(60)],
        [f"the same, {row}" for row in range(60)],
        ["x " * (row + 1) for row in range(60)],
    ],
    ids=["numbers", "marks", "blanks", "different", "the same", "letters"],
)
def test_texts_without_telling_words_have_none(texts):
    labels = np.repeat([0, 1, 2], 20)
    described = describe(labels, pd.DataFrame({"text": texts, "x": np.arange(60.0)}))
    assert all(record.words == () for record in described.records)
    assert "words" not in str(described)


def test_missing_texts_count_as_empty_ones():
    labels = np.repeat([0, 1, 2], 60)
    texts = np.array(texts_of(labels), dtype=object)
    texts[::3] = None
    texts[1::30] = "N/A"
    for record, topic in zip(
        describe(labels, pd.DataFrame({"text": texts})).records, TOPICS["English"], strict=True
    ):
        assert set(record.words) == set(topic.split())


def test_a_word_of_four_rows_names_them():
    labels = np.repeat([0, 1], [40, 4000])
    for count in (4, 5):
        texts = [f"about row {'secret' * (row < count)} {row}" for row in range(4040)]
        words = describe(labels, pd.DataFrame({"text": texts})).records[0].words
        assert ("secret" in words) == (count == 5)


@pytest.mark.slow
def test_of_many_rows_some_of_each_cluster_are_searched(monkeypatch):
    searched, fit_transform = [], TfidfVectorizer.fit_transform

    def counted(self, texts):
        searched.append(len(texts))
        return fit_transform(self, texts)

    monkeypatch.setattr(TfidfVectorizer, "fit_transform", counted)
    labels = np.repeat([0, 1, 2], [79_900, 20_000, 100])
    texts = texts_of(labels[-20_100:])
    football = texts_of(np.zeros(5000, dtype=int))
    table = pl.DataFrame({"text": [*football * 16, *texts][-100_000:], "row": np.arange(100_000)})
    first = describe(labels, table).records
    assert len(searched) == 1
    assert searched[0] <= MOST_ROWS
    for record, topic in zip(first, TOPICS["English"], strict=True):
        assert set(record.words) == set(topic.split())
    assert describe(labels, table).records == first


def test_rows_without_a_cluster_or_weight_have_no_say():
    labels = np.repeat([0, 1, -1, 0], 50)
    texts = texts_of(np.repeat([0, 1, 2, 2], 50))
    described = describe(
        labels, pd.DataFrame({"text": texts}), sample_weight=np.repeat([1, 1, 1, 0], 50)
    )
    for record, topic in zip(described.records, TOPICS["English"], strict=False):
        assert set(record.words) == set(topic.split())


def test_no_word_is_cut_where_a_long_text_ends():
    labels = np.repeat([0, 1], 50)
    texts = [f"{row} {'the unusual ' if label else 'usual '}" + "text " * 600
             for row, label in enumerate(labels)]  # fmt: skip
    words = [record.words for record in describe(labels, pd.DataFrame({"text": texts})).records]
    assert words == [("usual",), ("the", "unusual")]
    texts = [f"{'目录' if label else '文章'}{'长' * 3000}{row}" for row, label in enumerate(labels)]
    words = [record.words for record in describe(labels, pd.DataFrame({"text": texts})).records]
    assert [set(one) for one in words] == [{"文章", "章长"}, {"目录", "录长"}]


def test_typical_rows_are_shown_by_their_texts(embedded):
    table, model, X = embedded
    described = describe(model, table, X=X)
    for record in described.records:
        assert len(record.typical_rows) == 3
        expected = [f"{table['id'][row]} | {table['text'][row]}" for row in record.typical_rows]
        assert list(record.typical_texts) == expected
        for row in record.typical_rows:
            assert f"\n    {row}: doc-{row:04d} | " in str(described)
    assert max(map(len, str(described).splitlines())) <= 78
    assert described.clusters["typical_texts"].tolist() == [
        record.typical_texts for record in described.records
    ]
    assert Model.of(model, X).describe(table, X=X).records == described.records
    assert all(record.words for record in describe(model, table, X=X, max_rows=0).records)


def test_a_text_is_one_short_line_of_printable_signs():
    texts = [f"\x1b[31mrow\r\n{row}\u202e " + "long " * 100 for row in range(40)]
    texts[3], texts[4] = "half \ud83d a pair", " "
    table = pd.DataFrame({"x": np.repeat([0.0, 5.0], 20) + np.arange(40) / 100})
    # Other strings of pandas hold no half of a pair.
    table["text"] = pd.Series(texts, dtype=object)
    model = KernelPowerKMeans(2, kernel="linear", random_state=0).fit(table[["x"]].to_numpy())
    described = describe(model, table, X=table[["x"]].to_numpy(), max_rows=20)
    lines = {
        row: line
        for record in described.records
        for row, line in zip(record.typical_rows, record.typical_texts, strict=True)
    }
    assert lines[3] == "half a pair"
    assert lines[4] == ""
    assert "\n    4:" not in str(described)
    assert lines[7].startswith("[31mrow 7 long long")
    assert all(line.isprintable() and len(line) <= LONGEST for line in lines.values())
    assert lines[7].endswith("…")
    str(described).encode()


@pytest.mark.parametrize("given", [{}, {"first": 0}, {"first": 400}, {"gap": True}, {"count": 49}])
def test_columns_that_only_a_number_names_give_way_to_texts(rng, given):
    labels = np.repeat([0, 1, 2], 40)
    count, first = given.get("count", FEWEST_NUMBERED), given.get("first", 1)
    names = [
        f"dim_{number + first + (number > 9 and 'gap' in given):03d}" for number in range(count)
    ]
    X = pd.DataFrame(rng.normal(size=(120, count)) + labels[:, None], columns=names)
    text = pd.Series(texts_of(labels), name="text")
    age = pd.Series(30.0 + 10 * labels + rng.normal(size=120), name="age")
    is_hidden = not given or given == {"first": 0}
    described = describe(labels, pd.concat([X, text, age], axis=1))
    shown = {
        entry.column for record in described.records for entry in described.top(record.cluster, 99)
    }
    assert "age" in shown
    assert ("\n  dim_" in str(described)) != is_hidden
    assert bool(shown & set(names)) != is_hidden
    sentence = f"Not shown: {names[0]} to {names[-1]}, as only numbers name these columns."
    assert (sentence in " ".join(str(described).split())) == is_hidden
    # All columns stay in the table of columns, and without words they are what there is to show.
    assert set(names) <= set(described.columns["column"])
    person = pd.Series([f"person-{row:03d}" for row in range(120)], name="who")
    for others in ([age], [age, person]):
        assert "Not shown" not in str(describe(labels, pd.concat([X, *others], axis=1)))


def test_a_report_shows_texts_with_rows_alone(embedded):
    table, model, X = embedded
    table = table.assign(text=[f"{text} <b>&amp; bold</b>" for text in table["text"]])
    report = ClusterReport(model, X, table=table, rows=True)
    for cluster, topic in zip(report.to_dict()["clusters"], TOPICS["English"], strict=True):
        assert set(cluster["words"]) == set(topic.split())
        assert cluster["hint"] == ", ".join(cluster["words"][:2])
        for row, line in zip(cluster["typical_rows"], cluster["typical_texts"], strict=True):
            assert line == f"{table['id'][row]} | {table['text'][row]}"
    page = report.to_html()
    assert "&lt;b&gt;&amp;amp; bold&lt;" in page
    assert "<b>" not in page
    assert "Not shown: e1 to e60, as only numbers name these columns." in page
    closed = ClusterReport(model, X, table=table)
    everything = closed.to_html() + str(closed.to_dict())
    for secret in ("doc-", "rocket", "goal", "bold", "typical_texts", "'words'", "Words"):
        assert secret not in everything, secret
    assert closed.to_dict()["clusters"][0]["profile"]


def test_a_report_without_distances_or_texts_is_as_before(embedded):
    table, model, X = embedded
    plain = ClusterReport(model, X, table=table.drop(columns=["id", "text"]), rows=True).to_dict()
    assert all("words" not in cluster and cluster["profile"] for cluster in plain["clusters"])
    assert plain["profiles"]["remark"] == ""


def test_an_identifier_that_names_the_row_is_not_repeated():
    X = np.random.default_rng(0).normal(size=(90, 4)) + 9 * (np.arange(90) % 3)[:, None]
    model = KernelPowerKMeans(3, kernel="rbf", random_state=0).fit(X)
    columns = {f"x{j}": X[:, j] for j in range(4)}
    rows = describe(model, pd.DataFrame({**columns, "id": np.arange(90)}), X=X)
    others = describe(model, pd.DataFrame({**columns, "id": np.arange(500, 590)}), X=X)
    row = others.records[0].typical_rows[0]
    assert f"    {row}: {row + 500}" in str(others)
    assert f"    {row}: {row}" not in str(rows)
