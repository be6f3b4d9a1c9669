"""What may come of a case: a sound result, or an error or warning of the package's own."""

import re
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sklearn.exceptions import NotFittedError

import kernelmeans
from fuzz import Failure, Refused

#: Where errors may come from: the package, or scikit-learn's checks of input and parameters.
OWN = (
    str(Path(kernelmeans.__file__).parent),
    "sklearn/utils/validation.py",
    "sklearn/utils/_param_validation.py",
    "sklearn/base.py",
)
#: What scikit-learn tells users of their data, in searches over its own estimators too.
FOREIGN = re.compile(
    "Number of distinct clusters|Best performing initialization did not converge"
    "|X (has|does not have valid) feature names"
)
#: What a fit says that has lost its numbers: no answer to numbers of ordinary size.
LOST = "the fit reached NaN or infinite values"
TYPES = (ValueError, TypeError, MemoryError, NotFittedError, OSError, ImportError)


def is_refusal(error: BaseException, own: Sequence[str] = OWN) -> bool:
    """Whether an error is a refusal in words: of an allowed type, raised in ``own``, with words."""
    if isinstance(error, Refused):
        return True
    frames = traceback.extract_tb(error.__traceback__)
    # What compiled code raises ends at a line that only calls it.
    raised = bool(frames) and (frames[-1].line or "").startswith("raise")
    ours = raised and any(place in frames[-1].filename for place in own)
    return isinstance(error, TYPES) and ours and len(re.findall(r"\w+", str(error))) >= 3


def allow_own_warnings() -> None:
    """Make errors of all warnings but those that tell users of their data and parameters."""
    warnings.simplefilter("error")
    warnings.simplefilter("always", UserWarning)  # and ConvergenceWarning, which is one
    warnings.filterwarnings("ignore", "n_init=", RuntimeWarning)
    warnings.showwarning = _refuse_foreign


def _refuse_foreign(message: Warning | str, *place: Any, **line: Any) -> None:
    """Raise a warning of others: its place may be the user's line, but the stack says who warns."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename in (warnings.__file__, __file__):
        frame = frame.f_back
    if not frame.f_code.co_filename.startswith(OWN[0]) and not FOREIGN.match(str(message)):
        raise Failure(f"foreign warning: {message} ({frame.f_code.co_filename}:{frame.f_lineno})")


@contextmanager
def heard(words: str) -> Iterator[list[str]]:
    """Collect the warnings with these words; others are judged as before."""
    found: list[str] = []
    with warnings.catch_warnings():
        judged = warnings.showwarning

        def show(message: Warning | str, *place: Any, **line: Any) -> None:
            if words in str(message):
                found.append(str(message))
            else:
                judged(message, *place, **line)

        warnings.filterwarnings("always", words)
        warnings.showwarning = show
        yield found


@contextmanager
def promised(when: str = "after the fit") -> Iterator[None]:
    """Fail at any error, a refusal too: what a fit has taken is not refused afterwards."""
    try:
        yield
    except Failure:
        raise
    except Exception as error:
        raise Failure(f"{when}: {type(error).__name__}: {error}") from error


def require(condition: object, message: str) -> None:
    """Fail the case unless the condition holds."""
    if not condition:
        raise Failure(message)
