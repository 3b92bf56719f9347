"""Actions on the user's own Python code."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from mantle_provider.errors import ConfigurationError
from mantle_provider.operators.base import StepOperator
from mantle_provider.operators.context import WorkflowContext
from mantle_provider.operators.imports import import_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from airflow.sdk.definitions.context import Context

_CONTEXT = "context"


class PythonCallOperator(StepOperator):
    """``python/call``: call a function of the user's and keep what it returns."""

    def act(self, context: Context, parameters: Mapping[str, Any]) -> Any:  # noqa: ANN401  # the user's function decides
        """Return what the function returns; nothing becomes ``{}``, a scalar is wrapped.

        A parameter ``context`` that the file gives no value for gets a :class:`WorkflowContext`.
        """
        path = parameters["callable"]
        function = import_name(path)
        if not callable(function):
            raise ConfigurationError(f'"{path}" is a {type(function).__name__}, not a function')
        args, kwargs = parameters.get("args") or (), parameters.get("kwargs") or {}
        if _wants_context(function, args, kwargs):
            kwargs = {**kwargs, _CONTEXT: WorkflowContext(context)}
        return function(*args, **kwargs)


def _wants_context(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> bool:
    """Whether a function has a parameter ``context`` that the file gives it no value for."""
    try:
        signature = inspect.signature(function)
        given = signature.bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):
        # Built-in functions have no signature; arguments that do not fit fail in the call itself.
        return False
    parameter = signature.parameters.get(_CONTEXT)
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return parameter is not None and parameter.kind in by_name and _CONTEXT not in given
