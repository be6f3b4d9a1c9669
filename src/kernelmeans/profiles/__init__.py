"""What a cluster is: its columns beside those of the whole table, and its typical rows."""

from kernelmeans.profiles.contrast import Alike
from kernelmeans.profiles.describing import describe
from kernelmeans.profiles.description import Cluster, Description, Entry

__all__ = ["Alike", "Cluster", "Description", "Entry", "describe"]
