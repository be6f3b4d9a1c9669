"""The base class of all estimators of this package."""

from collections.abc import Mapping
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

import kernelmeans
from kernelmeans._dialect import option, parameter_of
from kernelmeans._sklearn import InvalidParameterError, StrOptions, make_constraint
from kernelmeans._text import suggestion

#: Where the documentation is, as in pyproject.toml.
SITE = "https://kernelmeans.readthedocs.io/"


class Estimator(BaseEstimator):  # type: ignore[misc]
    """An estimator of scikit-learn whose errors suggest names, and whose HTML links to its page."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    #: Estimators of older model files have none of their own.
    verbose: int = 0
    _doc_link_module = "kernelmeans"
    _doc_link_template = f"{SITE}en/latest/reference/generated/{{home}}.{{name}}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        package, module = type(self).__module__.split(".")[:2]
        name = type(self).__name__
        return {
            "home": package if name in kernelmeans.__all__ else f"{package}.{module}",
            "name": name,
        }

    def __getstate__(self) -> dict[str, Any]:
        # A copy, because another thread may be fitting.
        return dict(super().__getstate__())

    def _say(self, level: int, text: str) -> None:
        """Print a line, unless ``verbose`` is lower."""
        if self.verbose >= level:
            print(f"[{type(self).__name__}] {text}", flush=True)

    def _validate_params(self) -> None:
        check_parameters(
            self._parameter_constraints, self.get_params(deep=False), type(self).__name__
        )


def check_parameters(
    constraints: Mapping[str, Any], parameters: Mapping[str, Any], caller: str
) -> None:
    """Refuse parameters as scikit-learn does, and say which name was probably meant.

    Parameters
    ----------
    constraints : mapping of str to list
        What scikit-learn allows for each parameter.
    parameters : mapping
        The values.
    caller : str
        Whose parameters they are, for the message.

    Raises
    ------
    ValueError
        If a value is not allowed.

    Examples
    --------
    >>> from kernelmeans._estimator import check_parameters
    >>> from kernelmeans._sklearn import StrOptions
    >>> check_parameters({"scale": [StrOptions({"log"})]}, {"scale": "logs"}, "Axis")
    Traceback (most recent call last):
    ...
    sklearn.utils._param_validation.InvalidParameterError: scale='logs' is not known. Did you mean \
'log'? The 'scale' parameter of Axis must be a str among {'log'}. Got 'logs' instead.
    """
    for name, value in parameters.items():
        allowed = [make_constraint(one) for one in constraints.get(name, [object])]
        if any(one.is_satisfied_by(value) for one in allowed):
            continue
        *others, last = [str(one) for one in allowed]
        names = [None] if None in constraints[name] else []
        for one in constraints[name]:
            names += sorted(one.options) if isinstance(one, StrOptions) else []
        meant = suggestion(value, names)
        unknown = f"{option(name, value)} is not known.{meant} " if meant else ""
        # Without a number others choose one, and so does the command line.
        wanted = name == "n_clusters" and (value is None or isinstance(value, str))
        raise InvalidParameterError(
            f"{unknown}{parameter_of(name, caller)} must be {', '.join(others)}"
            f"{' or ' if others else ''}{last}. Got {value!r} instead."
            f"{' ClusterSearch finds a number of clusters.' if wanted else ''}"
        )
