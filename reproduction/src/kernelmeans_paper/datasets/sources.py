"""Where every set comes from: files with their addresses and hashes, citations and licences."""

from dataclasses import dataclass

from kernelmeans_paper.datasets import readers
from kernelmeans_paper.datasets.readers import Reader

#: Where files of public repositories are served.
HOST = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class Repository:
    """A public repository at one commit, and what it says of the use of its files."""

    name: str
    commit: str
    licence: str


@dataclass(frozen=True)
class File:
    """A file: its name in the folder of data, its SHA-256, and its place in a repository.

    A file without a repository is one that only the user can get; it has no hash.
    """

    name: str
    sha256: str | None = None
    repository: Repository | None = None
    path: str = ""

    @property
    def url(self) -> str | None:
        """Public address of the file, for ever the same content; None without a repository."""
        if self.repository is None:
            return None
        return f"{HOST}/{self.repository.name}/{self.repository.commit}/{self.path}"


@dataclass(frozen=True)
class Source:
    """A set: what it is, whom to cite, what may be done with it, and how its files are read."""

    title: str
    citation: str
    licence: str
    read: Reader
    files: tuple[File, ...] = ()


SCIKIT_FEATURE = Repository(
    "jundongl/scikit-feature",
    "48cffad4e88ff4b9d2f1c7baffb314d1b3303792",
    "The repository is under the GPL version 2 and says nothing of the data; for research use.",
)
RMKKM = Repository(
    "csliangdu/RMKKM",
    "5f0cd9a3ae1993eeaade7701b7085917595cde6d",
    "No licence stated by the repository.",
)
ADANA = Repository(
    "zcebeci/adana",
    "8df54b02e823e675e5545497ae907214f7785a65",
    "The repository is under the GPL version 3 and says nothing of the data; for research use.",
)
BICLUSTLIB = Repository(
    "padilha/biclustlib",
    "bfadbd6944cc3b5b297e4018dd1437ddfb1f589f",
    "The repository, its data sets among it, is distributed under the GPL version 3; for research "
    "use.",
)
SDSNE = Repository(
    "kunzhan/SDSNE",
    "8566a0f4fa5dc9aaaafbb63073ceffad5f4848a0",
    "No licence stated by the repository; for research use.",
)
MULTI_VIEW = Repository(
    "youweiliang/Multi-view_Clustering",
    "838536e3118c19782358b2550bbee6119baa90bd",
    "The repository is under the MIT licence and says nothing of the data.",
)
AAAI18 = Repository(
    "sckangz/AAAI18",
    "353b57307c91f96f61b1d7a68ca0b2f651891e34",
    "No licence stated by the repository; for research use.",
)

LI = (
    "J. Li, K. Cheng, S. Wang, F. Morstatter, R. P. Trevino, J. Tang and H. Liu (2018), Feature "
    "selection: a data perspective, ACM Computing Surveys 50(6), 94, which published the file"
)
DU = (
    "L. Du, P. Zhou, L. Shi, H. Wang, M. Fan, W. Wang and Y.-D. Shen (2015), Robust multiple "
    "kernel k-means using l2,1-norm, IJCAI"
)
BELHUMEUR = (
    "P. N. Belhumeur, J. P. Hespanha and D. J. Kriegman (1997), Eigenfaces vs. Fisherfaces: "
    "recognition using class specific linear projection, IEEE Transactions on Pattern Analysis "
    "and Machine Intelligence 19(7), 711-720"
)
BHATTACHARJEE = (
    "A. Bhattacharjee et al. (2001), Classification of human lung carcinomas by mRNA expression "
    "profiling reveals distinct adenocarcinoma subclasses, PNAS 98(24), 13790-13795"
)


def _scikit_feature(name: str, sha256: str) -> File:
    return File(name, sha256, SCIKIT_FEATURE, f"skfeature/data/{name}")


def _du2015(kernel: str, sha256: str) -> File:
    file = f"{kernel}_post_Sample-Scale.mat"
    path = f"Yale/YALE_165n_1024d_15c_zscore_uni_kernel_{file}"
    return File(f"du2015_yale_kernels/{file}", sha256, AAAI18, path)


YALE = _scikit_feature(
    "Yale.mat", "cccd29abd2c520dd5cc8ff7645b422c2bdadd59406a6b6a0239143d9d44afcf3"
)

TABLES = {
    "yale": Source(
        "Yale faces: 11 images of each of 15 people, 32 x 32 grey values.",
        f"{BELHUMEUR}; {LI}.",
        SCIKIT_FEATURE.licence,
        readers.matlab(),
        (YALE,),
    ),
    "jaffe": Source(
        "JAFFE faces: 10 Japanese women with several facial expressions each, 26 x 26 grey values; "
        "the classes are the women.",
        "M. Lyons, S. Akamatsu, M. Kamachi and J. Gyoba (1998), Coding facial expressions with "
        "Gabor wavelets, IEEE International Conference on Automatic Face and Gesture Recognition, "
        f"200-205; {DU}, who published the file.",
        f"The faces are for non-commercial scientific research only. {RMKKM.licence}",
        readers.matlab(classes="y"),
        (
            File(
                "jaffe_213n_676d_10c.mat",
                "abc1a812f7f61c74f94fbbecff5503dbedfc083f528200e1a6a186446e9178ac",
                RMKKM,
                "data/jaffe_213n_676d_10c.mat",
            ),
        ),
    ),
    "tox_171": Source(
        "TOX-171: gene expression of 171 samples.",
        f"{LI}.",
        SCIKIT_FEATURE.licence,
        readers.matlab(),
        (
            _scikit_feature(
                "TOX-171.mat", "f52f57e61775b7830c84750456d7fadfd220d1cc8eed26419c3390eb9216cc84"
            ),
        ),
    ),
    "seeds": Source(
        "Seeds: seven measures of X-ray images of wheat kernels, 70 of each of three varieties.",
        "M. Charytanowicz, J. Niewczas, P. Kulczycki, P. A. Kowalski, S. Lukasik and S. Zak "
        "(2010), Complete gradient clustering algorithm for features analysis of X-ray images, "
        "Information Technologies in Biomedicine, Springer, 15-24; UCI Machine Learning "
        "Repository, data set 236.",
        ADANA.licence,
        readers.last_column,
        (
            File(
                "seeds_dataset.txt",
                "8be57b3b06bea6780a230b7b7b07669519b152e049307e8cce05f0000f85ce0c",
                ADANA,
                "seeds_dataset.txt",
            ),
        ),
    ),
    "lung_discrete": Source(
        "Lung, discrete: gene expression of 73 lung samples, discretised to three values.",
        "H. Peng, F. Long and C. Ding (2005), Feature selection based on mutual information: "
        "criteria of max-dependency, max-relevance, and min-redundancy, IEEE Transactions on "
        f"Pattern Analysis and Machine Intelligence 27(8), 1226-1238; {LI}.",
        SCIKIT_FEATURE.licence,
        readers.matlab(),
        (
            _scikit_feature(
                "lung_small.mat", "93c6a65eb1f6f9f95ac897010c337254a57c57e7f8c0c9a7963a0e03de8233f4"
            ),
        ),
    ),
    "glioma": Source(
        "GLIOMA: gene expression of 50 gliomas.",
        "C. L. Nutt et al. (2003), Gene expression-based classification of malignant gliomas "
        "correlates better with survival than histological classification, Cancer Research 63(7), "
        f"1602-1607; {LI}.",
        SCIKIT_FEATURE.licence,
        readers.matlab(),
        (
            _scikit_feature(
                "GLIOMA.mat", "c31cd32edd770c7a102729839e670e588bc959a591e0eae5a0676c9ca11d4c4f"
            ),
        ),
    ),
    "orl": Source(
        "ORL faces: 10 images of each of 40 people, 32 x 32 grey values.",
        "F. S. Samaria and A. C. Harter (1994), Parameterisation of a stochastic model for human "
        f"face identification, IEEE Workshop on Applications of Computer Vision, 138-142; {LI}.",
        SCIKIT_FEATURE.licence,
        readers.matlab(),
        (
            _scikit_feature(
                "ORL.mat", "e257ec36002e48688ed7f3b9fda13f479f2fd98864fa0672d1353eda1912b189"
            ),
        ),
    ),
    "lung_bhattacharjee": Source(
        "Lung, Bhattacharjee: gene expression of 203 lung samples, 1543 genes. Another choice of "
        "genes than the set 'lung' of the ASU repository, and so not to be compared with it.",
        f"{BHATTACHARJEE}; V. A. Padilha and R. J. G. B. Campello (2017), A systematic comparative "
        "evaluation of biclustering techniques, BMC Bioinformatics 18, 55, who published the file.",
        BICLUSTLIB.licence,
        readers.genes_in_rows,
        (
            File(
                "bhattacharjee-2001_database.txt",
                "6a3e1028c841aa451fa85f8f730f565a99b23632d40df06b5d84c6defdfd15be",
                BICLUSTLIB,
                "biclustlib/datasets/data/cancer_benchmark/bhattacharjee-2001_database.txt",
            ),
        ),
    ),
    "coil20": Source(
        "COIL-20: 72 views of each of 20 objects, 32 x 32 grey values.",
        "S. A. Nene, S. K. Nayar and H. Murase (1996), Columbia Object Image Library (COIL-20), "
        f"Technical Report CUCS-005-96, Columbia University; {LI}.",
        SCIKIT_FEATURE.licence,
        readers.matlab(),
        (
            _scikit_feature(
                "COIL20.mat", "4595ebdda07f47b0eb014fcfaddc22b452f9aed9c1d9261a0d5bc336c1ee1344"
            ),
        ),
    ),
    "isolet": Source(
        "Isolet: acoustic features of spoken letters of the alphabet, 60 of each.",
        f"M. Fanty and R. Cole (1990), Spoken letter recognition, NIPS 3; {LI}.",
        SCIKIT_FEATURE.licence,
        readers.matlab(),
        (
            _scikit_feature(
                "Isolet.mat", "ea73c69b1342a7def8199458e53a70307a83d557eceb2579863dda57c3ccd2b1"
            ),
        ),
    ),
    "digits": Source(
        "Digits: handwritten, 8 x 8 counts of ink; the copy that ships with scikit-learn.",
        "E. Alpaydin and C. Kaynak (1998), Optical recognition of handwritten digits, UCI Machine "
        "Learning Repository.",
        "See sklearn.datasets.load_digits, where the data come from.",
        readers.digits,
    ),
}

VIEWS = {
    "three_sources": Source(
        "3sources: term counts of news stories as the BBC, Reuters and the Guardian told them; one "
        "view each.",
        "D. Greene and P. Cunningham (2009), A matrix factorization approach for integrating "
        "multiple data views, ECML PKDD.",
        SDSNE.licence,
        readers.views("X", "Y"),
        (
            File(
                "3sources.mat",
                "9637d13dbd3503d0022dd633f8032fc5973c51bdb1392188b44b8f9a2af85bea",
                SDSNE,
                "data/3sources.mat",
            ),
        ),
    ),
    "bbcsport": Source(
        "BBCSport: weighted terms of sports news, each article in two parts, which are the views.",
        "D. Greene and P. Cunningham (2006), Practical solutions to the problem of diagonal "
        "dominance in kernel document clustering, ICML.",
        "Its makers give it for non-commercial and research purposes only; the rights in the "
        f"articles are the BBC's. {MULTI_VIEW.licence}",
        readers.views("fea", "gt"),
        (
            File(
                "BBCSport.mat",
                "45f764f2a5a1a4365bdcb36536bde8873d2c6b54d54fa84a5c361e1f1414aef1",
                MULTI_VIEW,
                "data/BBCSport.mat",
            ),
        ),
    ),
}

KERNELS = {
    "du2015_yale_kernels": Source(
        "The twelve kernel matrices that Du et al. computed for the Yale faces, pixels of zero "
        "mean and unit variance and rows of unit length; in the order of "
        "kernelmeans.kernels.du2015_family. The classes are those of 'yale'.",
        f"{DU}; {BELHUMEUR}.",
        AAAI18.licence,
        readers.kernels,
        (
            _du2015(
                "gaussian_0.01", "6b6ded3a91f6e27852d29196bd871fda07db4ffcac22d74a4978ceebed4c072d"
            ),
            _du2015(
                "gaussian_0.05", "df563fd47e266a1a4d17f5be37cb933caa66e7857d72acb511845cb4e4a7fead"
            ),
            _du2015(
                "gaussian_0.1", "f67658c06a25468fd5e4665fc2b51f0a919726de0be94275bd08f374b5b5be21"
            ),
            _du2015(
                "gaussian_1", "888da37e87eccc6fc0eda959f482837fb1aaf3e06bb10a8dbdf56c998680da19"
            ),
            _du2015(
                "gaussian_10", "418bb18f6d21046ee91659783d384178c23da2c59017fbde265a15ec51c64532"
            ),
            _du2015(
                "gaussian_50", "e429f51cb949fd5c60cf742116fe62fe50d4386f1791a66df89090bfb2e87644"
            ),
            _du2015(
                "gaussian_100", "0a08e3cb91bcd88a1681807d8185cf3c4de3d80104f4f8f69d4c936caec71a31"
            ),
            _du2015(
                "polynomial_2", "72e79e26b10c42bf5a829e7051cdd249c5591b08b9c6775d588f2b617e79e968"
            ),
            _du2015(
                "polynomial_4", "1567232b09794c41c1faca63c0516cfc1114ee90ce4efe0e96ea427ab99660db"
            ),
            _du2015(
                "polyplus_2", "d35504eacd89268a30415595067bbf51d9a6f1a0481ccd35be04b7cb353c4b3f"
            ),
            _du2015(
                "polyplus_4", "a0cc709fad97d399f9bd49d458a91afdc712a3e2f07e1ef9183330b7b2646537"
            ),
            _du2015("linear", "2016f09201adf1b4bfc871ceeda9d48108fbc267e786593ac5768b4ed3fcb0e3"),
            YALE,
        ),
    ),
}

USERS = {
    "lung": Source(
        "Lung: gene expression of 203 lung samples, 3312 genes, 5 classes. Untested: the file is "
        "at no address that this package knows, and was never read by its tests.",
        f"{BHATTACHARJEE}; {LI}.",
        "No licence known; for research use.",
        readers.lung,
        (File("lung.mat"),),
    ),
}

SOURCES = {**TABLES, **VIEWS, **KERNELS, **USERS}
#: Names of the sets with one table of rows.
NAMES = tuple(TABLES)
#: Names of the sets of several views of the same samples.
VIEW_NAMES = tuple(VIEWS)
#: Names of the sets of kernel matrices.
KERNEL_NAMES = tuple(KERNELS)
#: Names of the sets whose file only the user can get.
USER_NAMES = tuple(USERS)
