"""Parameters of a step: their expressions evaluated, their values checked against the spec."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from mantle_provider.errors import ExpressionError, WorkflowError
from mantle_provider.expressions import compile_template, has_template
from mantle_provider.expressions.faults import EvaluationError
from mantle_provider.expressions.time_text import parse_rfc_3339
from mantle_provider.lifecycle import Phase
from mantle_provider.workflow.durations import parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mantle_provider.actions import ActionSpec, ParamSpec


def resolve(value: Any, field: str, values: Callable[[], Mapping[str, Any]]) -> Any:  # noqa: ANN401  # any JSON value
    """Return ``value`` with the expressions in its strings, at any depth, evaluated once.

    Keys are no templates, and what an expression yields is not scanned again.

    :param field: dotted path of ``value``, for the error.
    :param values: gives what expressions read; called only when there is an expression.
    :raises WorkflowError: in phase ``INPUT_RESOLUTION``, with field and expression.
    """
    if isinstance(value, str):
        return _resolve_text(value, field, values) if has_template(value) else value
    if isinstance(value, list):
        return [resolve(item, f"{field}[{index}]", values) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {
            key: resolve(item, f"{field}.{key}" if field else str(key), values)
            for key, item in value.items()
        }
    return value


def _resolve_text(text: str, field: str, values: Callable[[], Mapping[str, Any]]) -> Any:  # noqa: ANN401  # any JSON value
    try:
        return compile_template(text).evaluate(values())
    except ExpressionError as error:
        raise WorkflowError(
            f'cannot resolve "{field}": {error.message}',
            phase=Phase.INPUT_RESOLUTION.value,
            field=field,
            expression=error.expression,
            type=type(error).__name__,
        ) from error


def check_parameters(spec: ActionSpec, parameters: Mapping[str, Any]) -> None:
    """Check resolved parameters against the action's spec.

    :raises WorkflowError: in phase ``INPUT_RESOLUTION``, with every problem.
    """
    problems = _problems(spec, parameters)
    if problems:
        field, _ = problems[0]
        raise WorkflowError(
            "; ".join(f"{spec.name}: {text}" for _, text in problems),
            phase=Phase.INPUT_RESOLUTION.value,
            field=field,
        )


def _problems(spec: ActionSpec, parameters: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each parameter that does not fit the action, with what is wrong.

    Null counts as missing, as an absent key does. Types are never converted, as in Mantle.
    """
    problems = []
    for param in spec.params:
        value = parameters.get(param.name)
        if value is None and "any" not in param.types:
            if param.required:
                problems.append((param.name, f"{param.name} is required"))
            continue
        problem = _problem(param, value)
        if problem:
            problems.append((param.name, f"{param.name} {problem}"))
    given = [name for name in spec.exactly_one if parameters.get(name) is not None]
    if spec.exactly_one and len(given) != 1:
        names = " or ".join(spec.exactly_one)
        fault = "are given, but only one is allowed" if given else "is required"
        problems.append((spec.exactly_one[0], f"{' and '.join(given) or names} {fault}"))
    return problems


def _problem(param: ParamSpec, value: object) -> str | None:
    if isinstance(value, str) and value in param.words:
        return None
    if not any(_fits(value, name) for name in param.types):
        allowed = " or ".join((*param.words, *param.types))
        return f"must be a {allowed}, but is a {type_name(value)}"
    if param.required and isinstance(value, str) and not value.strip():
        return "must not be empty"
    if param.enum and value not in param.enum:
        return f"must be one of {', '.join(param.enum)}"
    if param.minimum is not None and isinstance(value, int | float) and value < param.minimum:
        return f"must be at least {param.minimum}"
    return None


def _fits(value: object, name: str) -> bool:
    if name == "duration":
        if isinstance(value, timedelta):
            return value > timedelta()
        return isinstance(value, str) and _is_duration(value)
    if name == "timestamp":
        return isinstance(value, datetime) or (isinstance(value, str) and _is_timestamp(value))
    if name == "integer":
        # An expression over JSON yields 3.0 where the file would say 3.
        is_whole = isinstance(value, float) and value.is_integer()
        return (isinstance(value, int) and not isinstance(value, bool)) or is_whole
    return name == "any" or name == type_name(value)


def _is_duration(text: str) -> bool:
    try:
        parse_duration(text)
    except ValueError:
        return False
    return True


def _is_timestamp(text: str) -> bool:
    try:
        parse_rfc_3339(text)
    except EvaluationError:
        return False
    return True


def to_timedelta(value: str | timedelta) -> timedelta:
    """Return a parameter of the type ``duration``, however an expression may have yielded it."""
    return value if isinstance(value, timedelta) else parse_duration(value)


def to_datetime(value: str | datetime) -> datetime:
    """Return a parameter of the type ``timestamp``, in UTC."""
    moment = value if isinstance(value, datetime) else parse_rfc_3339(value).to_datetime()
    return moment.astimezone(timezone.utc)


def type_name(value: object) -> str:
    """Return the name of a value's JSON type, or of its Python type where it has none."""
    if value is None:
        return "null"
    names: dict[type, str] = {
        bool: "boolean",
        int: "number",
        float: "number",
        str: "string",
        list: "list",
        dict: "map",
    }
    return names.get(type(value), type(value).__name__)
