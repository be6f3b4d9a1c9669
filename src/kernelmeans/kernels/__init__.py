"""Kernels: functions of two matrices of rows, their widths, and families of them."""

from kernelmeans.kernels.families import du2015_family, du2015_kernels, width_family
from kernelmeans.kernels.formulas import geodesic_kernel
from kernelmeans.kernels.kernel import OF_FEATURES, PARAMETERS, CombinedKernel, Kernel
from kernelmeans.kernels.widths import resolve_gamma

__all__ = [
    "OF_FEATURES",
    "PARAMETERS",
    "CombinedKernel",
    "Kernel",
    "du2015_family",
    "du2015_kernels",
    "geodesic_kernel",
    "resolve_gamma",
    "width_family",
]
