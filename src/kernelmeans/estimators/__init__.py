"""The estimators."""

from kernelmeans.estimators.single import KernelKMeans, KernelPowerKMeans, PowerKMeans

__all__ = ["KernelKMeans", "KernelPowerKMeans", "PowerKMeans"]
