"""The estimators."""

from kernelmeans.estimators.multi import MultiKernelPowerKMeans
from kernelmeans.estimators.single import KernelKMeans, KernelPowerKMeans, PowerKMeans

__all__ = ["KernelKMeans", "KernelPowerKMeans", "MultiKernelPowerKMeans", "PowerKMeans"]
