"""Colours of clusters: distances as people see them, with and without all kinds of cones."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from kernelmeans.plotting import cluster_colors
from kernelmeans.plotting.palette import COLORS, MARKERS, look

# Linear sRGB as people see it who lack a kind of cone (Machado, Oliveira and Fernandes 2009).
DEFICIENCIES = {
    "none": np.eye(3),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.01182, 0.04294, 0.968881],
        ]
    ),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.3039],
        ]
    ),
}
# From linear sRGB to CIE XYZ (IEC 61966-2-1).
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.072175],
        [0.0193339, 0.119192, 0.9503041],
    ]
)


def lab(colors, deficiency="none"):
    """CIE 1976 L*, a*, b* of colours, for white paper in daylight."""
    rgb = np.array([to_rgb(color) for color in colors])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ DEFICIENCIES[deficiency].T, 0, 1)
    x, y, z = np.moveaxis(seen @ XYZ.T / XYZ.sum(axis=1), -1, 0)
    f = [np.where(v > 216 / 24389, np.cbrt(v), (24389 / 27 * v + 16) / 116) for v in (x, y, z)]
    return np.stack([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])], axis=-1)


def distance(first, second):
    """CIEDE2000 between colours in L*, a*, b* (Sharma, Wu and Dalal 2005)."""
    (L1, a1, b1), (L2, a2, b2) = first, second
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - np.sqrt(mean**7 / (mean**7 + 25**7)) / 2
    a1, a2 = stretch * a1, stretch * a2
    C1, C2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2([b1, b2], [a1, a2])) % 360
    turn = (h2 - h1 + 180) % 360 - 180 if C1 * C2 else 0
    hue = np.radians((h1 + turn / 2) % 360)
    lightness, chroma = (L1 + L2) / 2, (C1 + C2) / 2
    waves = 1 - 0.17 * np.cos(hue - np.radians(30)) + 0.24 * np.cos(2 * hue)
    waves += 0.32 * np.cos(3 * hue + np.radians(6)) - 0.2 * np.cos(4 * hue - np.radians(63))
    blue = np.radians(30) * np.exp(-(((np.degrees(hue) - 275) / 25) ** 2))
    rotation = -np.sin(2 * blue) * 2 * np.sqrt(chroma**7 / (chroma**7 + 25**7))
    dark = 1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2)
    dL, dC = (L2 - L1) / dark, (C2 - C1) / (1 + 0.045 * chroma)
    dH = 2 * np.sqrt(C1 * C2) * np.sin(np.radians(turn) / 2) / (1 + 0.015 * chroma * waves)
    return np.sqrt(dL**2 + dC**2 + dH**2 + rotation * dC * dH)


@pytest.mark.parametrize(
    ("first", "second", "published"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
        ((22.7233, 20.0904, -46.694), (23.0331, 14.973, -42.5619), 2.0373),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_distance_of_this_test_is_the_published_one(first, second, published):
    assert distance(first, second) == pytest.approx(published, abs=1e-4)


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_any_two_of_twenty_colours_are_distinct(deficiency):
    """Two colours side by side are just told apart at a difference of about 2."""
    assert len(COLORS) == 20
    seen = lab(COLORS, deficiency)
    least = min(distance(one, other) for one, other in combinations(seen, 2))
    assert least > (16 if deficiency == "none" else 9)


def test_the_simulation_confuses_red_and_green():
    pair = "#D55E00", "#8A7300"
    assert distance(*lab(pair)) > 20
    assert distance(*lab(pair, "deuteranopia")) < 9


def test_colours_of_one_mark_differ_in_grey():
    lightness = lab(COLORS)[:, 0]
    for first, second in combinations(range(20), 2):
        if look(first)[1] == look(second)[1]:
            assert abs(lightness[first] - lightness[second]) > 14, (first, second)


def test_colours_are_seen_on_white():
    assert lab(COLORS)[:, 0].max() < 78


def test_140_clusters_look_different():
    assert len({look(cluster) for cluster in range(140)}) == 140
    assert {marker for _, marker in map(look, range(140))} == set(MARKERS)
    assert look(140) == look(0)


def test_the_colours_are_those_of_the_pictures_and_come_again():
    assert cluster_colors(0) == []
    assert cluster_colors(45) == [look(cluster)[0] for cluster in range(45)]
    assert cluster_colors(45)[40:] == list(COLORS[:5])
