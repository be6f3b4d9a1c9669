"""Places of labels on the map."""

import numpy as np

from kernelmeans.report import svg


def covers(label, x, y, radius):
    """Whether a label reaches into a mark."""
    text, *place = label
    reach = np.array([15 * max(2, len(text)), 27]) / 2 + radius
    return bool((np.abs(np.subtract(place, (x, y))) < reach).all())


def test_labels_stand_at_their_places_unless_these_are_taken():
    labels = [("0", 100.0, 100.0), ("1", 105.0, 100.0), ("2", 300.0, 300.0)]
    first, second, third = svg.free(labels, [])
    assert (first, third) == (labels[0], labels[2])
    assert second[0] == "1"
    assert not covers(second, *first[1:], 13)


def test_lone_marks_are_not_covered_in_corners_either():
    width, height = svg.MAP
    marks = [(26.0, 26.0, 7.0), (width - 26.0, height - 26.0, 7.0), (300.0, 200.0, 7.0)]
    found = svg.free([(str(j), x, y) for j, (x, y, _) in enumerate(marks)], marks)
    assert [text for text, *_ in found] == ["0", "1", "2"]
    assert not any(covers(label, *mark) for label in found for mark in marks)


def test_a_label_covers_marks_if_no_other_place_is_free():
    marks = [(x, y, 7.0) for x in range(200, 400, 10) for y in range(200, 400, 10)]
    assert svg.free([("0", 300.0, 300.0)], marks) == [("0", 300.0, 300.0)]
