"""Warnings that point at the user's line."""

import sys
import warnings

#: Packages whose frames lie between a warning and the line that caused it.
_INSIDE = ("kernelmeans", "numpy", "sklearn", "joblib")


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as if from the first frame outside this package, NumPy and scikit-learn."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def are_ignored() -> bool:
    """Whether all warnings are ignored, as in a search, so that none has to be worked out."""
    action, message, category, module, line = warnings.filters[0]
    return (action, message, category, module, line) == ("ignore", None, Warning, None, 0)
