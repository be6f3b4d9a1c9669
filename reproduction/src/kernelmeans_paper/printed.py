"""What the paper prints, in its own words for the methods."""

#: Table "single" (Section 4): mean NMI of 20 random starts.
SINGLE_METHODS = ("Kernel power k-means", "Kernel k-means", "Power k-means", "Spectral")
SINGLE = {
    "yale": (0.5921, 0.5199, 0.1714, 0.5241),
    "jaffe": (0.9278, 0.8501, 0.8974, 0.8752),
    "tox_171": (0.3328, 0.1984, 0.1760, 0.3552),
    "seeds": (0.7502, 0.7247, 0.7384, 0.7239),
    "lung": (0.6539, 0.5728, 0.1945, 0.5255),
    "isolet": (0.8466, 0.7694, 0.7582, 0.7882),
    "lung_discrete": (0.8261, 0.5320, 0.6967, 0.7340),
    "coil20": (0.8082, 0.6882, 0.7698, 0.7083),
    "glioma": (0.6297, 0.4085, 0.5931, 0.2509),
}

#: The appendix's table: the same from k-means++ starts. It prints no ranks.
SINGLE_PLUSPLUS = {
    "yale": (0.6324, 0.5546, 0.1764, 0.5754),
    "jaffe": (0.9246, 0.8467, 0.9074, 0.8948),
    "tox_171": (0.3946, 0.2187, 0.1931, 0.3741),
    "seeds": (0.7648, 0.7156, 0.7482, 0.7382),
    "lung": (0.6954, 0.5863, 0.2196, 0.5550),
    "isolet": (0.8672, 0.7769, 0.7812, 0.8008),
    "lung_discrete": (0.8423, 0.5825, 0.6719, 0.7349),
    "coil20": (0.8240, 0.6913, 0.7530, 0.7264),
    "glioma": (0.6412, 0.4315, 0.5903, 0.2876),
}

#: The appendix's p-values against the best method of the row, which has None.
P_VALUES = {
    "yale": (None, 0.0156, 4.80e-5, 0.0178),
    "jaffe": (None, 0.0371, 0.279, 0.1675),
    "tox_171": (0.489, 0.0024, 0.0046, None),
    "seeds": (None, 0.5174, 0.3791, 0.6844),
    "lung": (None, 0.0048, 2.16e-10, 0.0017),
    "isolet": (None, 0.0024, 0.0007, 0.0476),
    "lung_discrete": (None, 4.63e-7, 0.0041, 0.0068),
    "coil20": (None, 0.0001, 0.0756, 0.0349),
    "glioma": (None, 1.45e-4, 0.349, 4.15e-6),
}

#: Table "multi" (Section 4). All but the last are quoted there from Du et al. (2015), whose NMI is
#: normalised by the larger entropy.
MULTI_METHODS = ("Kernel k-means", "Spectral", "MKKM", "RKKM", "RMKKM", "MKPK")
MULTI = {
    "yale": (0.4207, 0.4479, 0.5006, 0.4287, 0.5558, 0.5482),
    "jaffe": (0.7148, 0.5935, 0.7979, 0.7401, 0.8937, 0.9247),
    "orl": (0.6336, 0.6674, 0.6886, 0.6391, 0.7483, 0.7876),
    "coil20": (0.6357, 0.5434, 0.7064, 0.6370, 0.7734, 0.7763),
}

#: The motivating figure: mean adjusted Rand index of 20 starts.
MOTIVATING = {"Kernel power k-means": 1.0, "Kernel k-means": 0.78}
