"""Colours and marks of clusters, which the colour-blind can tell apart and which print in grey."""

#: Six are Okabe and Ito's. The others were found by a search: any two of the twenty differ by
#: 16 units of CIEDE2000, and by 9 as people see them who lack a kind of cone (Machado 2009).
COLORS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8778FF"),
    *("#2D2DA5", "#2D3C2D", "#D2B4A5", "#1E695A", "#690F4B", "#B4C378", "#695A78"),
    *("#A5C3C3", "#697878", "#B4004B", "#780F00", "#96784B", "#874B00"),
)
#: Rows of no cluster.
GREY = "#9A9A9A"
#: Every seventh colour has the same mark; in grey these colours differ by 15 units of lightness.
MARKERS = ("o", "^", "s", "D", "v", "P", "X")


def cluster_colors(n_clusters: int) -> list[str]:
    """The colours of clusters in all pictures and reports, for pictures of your own.

    The colour-blind can tell the twenty colours apart. From the 21st cluster on they come again.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.

    Returns
    -------
    list of str
        A colour for each cluster, in hexadecimal digits, as matplotlib takes them.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmeans.plotting import cluster_colors
    >>> labels = np.array([0, 2, 1])
    >>> np.array(cluster_colors(3))[labels].tolist()
    ['#0072B2', '#009E73', '#E69F00']
    """
    return [look(cluster)[0] for cluster in range(n_clusters)]


def look(cluster: int) -> tuple[str, str]:
    """Colour and mark of a cluster.

    Each round of the colours has other marks, so that 140 clusters look different.

    Parameters
    ----------
    cluster : int
        Its number.

    Returns
    -------
    color : str
        In hexadecimal digits.
    marker : str
        As matplotlib calls it.

    Examples
    --------
    >>> from kernelmeans.plotting.palette import look
    >>> look(0), look(20)
    (('#0072B2', 'o'), ('#0072B2', '^'))
    """
    rounds, place = divmod(cluster, len(COLORS))
    return COLORS[place], MARKERS[(place + rounds) % len(MARKERS)]
