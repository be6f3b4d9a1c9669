"""skops, imported without PyTorch and Dask.

skops lists the estimators of scikit-learn, and so imports all packages within scikit-learn. Some of
these import PyTorch and Dask where they are installed. That takes seconds, and no model needs it.
"""

import sys

_hidden = [
    name
    for library in ("cupy", "dask", "torch")
    if (name := f"sklearn.externals.array_api_compat.{library}") not in sys.modules
]
# Python refuses to import what is None here, and the list goes on without it.
sys.modules.update(dict.fromkeys(_hidden))  # type: ignore[arg-type]
try:
    import skops.io
finally:
    for name in _hidden:
        del sys.modules[name]

__all__ = ["skops"]
