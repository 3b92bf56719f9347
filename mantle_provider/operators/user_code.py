"""Calling what the user has written so that nothing it does changes the run."""

from __future__ import annotations

import inspect
import logging
from typing import TYPE_CHECKING, Any

from airflow.sdk.observability import stats

from mantle_provider.errors import ConfigurationError
from mantle_provider.operators.failures import CONTROL_FLOW, FAILURES, STEERING, error_message
from mantle_provider.operators.imports import import_name
from mantle_provider.operators.interrupt import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

CONTAINED = (*FAILURES, *CONTROL_FLOW, *STEERING, Interrupted, SystemExit)
"""What user code may raise without any effect; to skip, to wait or to end is none of its business
in a callback."""

_ANY_NAME = inspect.Parameter.VAR_KEYWORD
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def call_path(path: str, **offered: Any) -> None:  # noqa: ANN401  # whatever is offered
    """Call a function by keyword with those of the offered arguments that it has parameters for.

    :param path: the function's dotted path.
    :raises ConfigurationError: when it cannot be imported, or is a coroutine function, whose call
        alone does nothing.
    """
    function: Callable[..., Any] = import_name(path)
    if inspect.iscoroutinefunction(function):
        raise ConfigurationError(f'"{function.__name__}" is async, but nothing awaits it')
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is _ANY_NAME for parameter in parameters.values()):
        function(**offered)
        return
    accepted = {name for name, parameter in parameters.items() if parameter.kind in _BY_NAME}
    function(**{name: value for name, value in offered.items() if name in accepted})


def contained(call: Callable[[], Any], what: str, *, workflow: str) -> str | None:
    """Call user code; log what it raises, count it, and return it as text.

    :param what: how the log names the call, for example ``on_finish of step load``.
    :return: ``None`` when nothing was raised.
    """
    try:
        call()
    except CONTAINED as error:
        log.exception("%s failed, which changes nothing of the run", what)
        stats.incr("mantle_callbacks_failed_total", tags={"workflow": workflow})
        return f"{type(error).__name__}: {error_message(error)}"
    return None
