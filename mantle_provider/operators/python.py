"""Actions on the user's own Python code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mantle_provider.errors import ConfigurationError
from mantle_provider.operators.base import StepOperator
from mantle_provider.operators.imports import import_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context


class PythonCallOperator(StepOperator):
    """``python/call``: call a function of the user's and keep what it returns."""

    def act(self, context: Context, parameters: Mapping[str, Any]) -> Any:  # noqa: ANN401, ARG002  # the user's function decides
        """Return what the function returns; nothing becomes ``{}``, a scalar is wrapped."""
        path = parameters["callable"]
        function = import_name(path)
        if not callable(function):
            raise ConfigurationError(f'"{path}" is a {type(function).__name__}, not a function')
        return function(*parameters.get("args") or (), **parameters.get("kwargs") or {})
