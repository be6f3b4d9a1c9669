"""skops, imported without PyTorch and Dask.

skops lists the estimators of scikit-learn, and so imports all of its subpackages. Some of these
import PyTorch and Dask if they are installed. That takes seconds, and no model needs them.
"""

import sys

_hidden = [
    name
    for library in ("cupy", "dask", "torch")
    if (name := f"sklearn.externals.array_api_compat.{library}") not in sys.modules
]
# Python refuses to import a module that is None here. skops then goes on without it.
sys.modules.update(dict.fromkeys(_hidden))  # type: ignore[arg-type]
try:
    import skops.io
finally:
    for name in _hidden:
        del sys.modules[name]

__all__ = ["skops"]
