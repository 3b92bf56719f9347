"""What a step may give out: a JSON object that Airflow's XCom keeps as it is."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mantle_provider.errors import ActionError, ExpressionError, WorkflowError
from mantle_provider.expressions import WORKFLOW_VARIABLES, compile_expression
from mantle_provider.lifecycle import Phase

# Airflow 3.3 reads dicts with these keys as its own serialised objects (AIRFLOW 22j).
_RESERVED_KEYS = frozenset({"__classname__", "__data__", "__version__", "__type", "__var"})
_MAX_INTEGER = 2**64 - 1
_MIN_INTEGER = -(2**63)
_MAX_DEPTH = 100

log = logging.getLogger(__name__)

_VARIABLES = (*WORKFLOW_VARIABLES, "output")


def step_output(value: object, *, wraps_result: bool, max_bytes: int) -> dict[str, Any]:
    """Return a result as a step's output.

    :param wraps_result: whether nothing becomes ``{}`` and a value that is no JSON object
        ``{"result": value}``; otherwise both are refused.
    :param max_bytes: largest size of the output's compact JSON in UTF-8.
    :raises WorkflowError: in phase ``RESULT_VALIDATION``, naming the place and the type of what
        is refused, never its value.
    """
    if wraps_result and not isinstance(value, Mapping):
        value = {} if value is None else {"result": value}
    if not isinstance(value, Mapping):
        raise _refused("output", f"is a {type(value).__name__}, but must be a map")
    output = _json_value(value, "output", 0)
    size = len(json.dumps(output, ensure_ascii=False, separators=(",", ":")).encode())
    if size > max_bytes:
        raise _refused(
            "output",
            f"is {size} bytes of JSON; at most {max_bytes} are allowed "
            "([mantle] max_output_bytes): keep the data in a file or a store and give out its name",
        )
    return output  # type: ignore[no-any-return]  # a map was checked above


def json_value(value: Any, place: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return a value as plain JSON data that Airflow's XCom keeps as it is.

    :param place: how an error names the value.
    :raises WorkflowError: in phase ``RESULT_VALIDATION``, as :func:`step_output` does.
    """
    return _json_value(value, place, 0)


def failed_output(
    error: BaseException, check: Callable[[object], dict[str, Any]]
) -> dict[str, Any] | None:
    """Return what an action had produced when it said itself that it failed.

    :param check: as :func:`step_output`; what it refuses is lost.
    """
    if not isinstance(error, ActionError) or error.result is None:
        return None
    try:
        return check(error.result)
    except WorkflowError as refused:
        log.warning("What the failed action had produced is lost: %s", refused)
        return None


def kept_output(
    output: dict[str, Any],
    outputs: Mapping[str, Any],
    values: Callable[[], Mapping[str, Any]],
    *,
    max_bytes: int,
) -> dict[str, Any]:
    """Return what a step's ``outputs`` makes of its raw output.

    :param outputs: a map of ``required`` and ``map``, as the plan writes it.
    :param values: gives what the expressions read besides ``output``.
    :raises WorkflowError: in phase ``OUTPUT_VALIDATION`` or ``OUTPUT_MAPPING``, with the field.
    """
    _check_required(output, outputs["required"])
    if not outputs["map"]:
        return output
    return _mapped(outputs["map"], {**values(), "output": output}, max_bytes)


def _check_required(output: Mapping[str, Any], required: Sequence[str]) -> None:
    """Null counts as missing."""
    missing = [name for name in required if output.get(name) is None]
    if missing:
        names = ", ".join(f'"{name}"' for name in missing)
        raise WorkflowError(
            f"the output lacks {names}, which `outputs.required` asks for",
            phase=Phase.OUTPUT_VALIDATION.value,
            field=missing[0],
        )


def _mapped(
    expressions: Mapping[str, str], values: Mapping[str, Any], max_bytes: int
) -> dict[str, Any]:
    mapped = {}
    for name, text in expressions.items():
        field = f"outputs.map.{name}"
        try:
            mapped[name] = compile_expression(text, _VARIABLES).evaluate(values)
        except ExpressionError as error:
            raise WorkflowError(
                f"cannot evaluate `{field}`: {error.message}",
                phase=Phase.OUTPUT_MAPPING.value,
                field=field,
                expression=text,
                type=type(error).__name__,
            ) from error
        try:
            step_output({name: mapped[name]}, wraps_result=False, max_bytes=max_bytes)
        except WorkflowError as error:
            raise WorkflowError(
                f"`{field}` cannot be kept: {error}",
                phase=Phase.OUTPUT_MAPPING.value,
                field=field,
                expression=text,
            ) from error
    try:
        return step_output(mapped, wraps_result=False, max_bytes=max_bytes)
    except WorkflowError as error:
        raise WorkflowError(
            error.message, phase=Phase.OUTPUT_MAPPING.value, field="outputs.map"
        ) from error


def _json_value(value: Any, place: str, depth: int) -> Any:  # noqa: ANN401  # one way out per JSON type
    if depth > _MAX_DEPTH:
        raise _refused(place, f"is nested more than {_MAX_DEPTH} levels deep")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, int):
        if not _MIN_INTEGER <= value <= _MAX_INTEGER:
            raise _refused(place, "is a whole number beyond 64 bits; give it out as a string")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _refused(place, f"is {value}, which JSON does not have")
        return float(value)
    if isinstance(value, list | tuple):
        return [
            _json_value(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(value)
        ]
    if isinstance(value, Mapping):
        return {
            _key(key, place): _json_value(item, f"{place}.{key}", depth + 1)
            for key, item in value.items()
        }
    raise _refused(place, f"is of type {type(value).__name__}, which JSON does not have")


def _key(key: object, place: str) -> str:
    if not isinstance(key, str):
        raise _refused(place, f"has a key of type {type(key).__name__}; keys must be strings")
    if key in _RESERVED_KEYS:
        raise _refused(place, f'has the key "{key}", which Airflow keeps for itself')
    return _text(key, place)


def _text(value: str, place: str) -> str:
    if "\0" in value:
        raise _refused(place, "holds a NUL character, which Airflow cannot store")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise _refused(place, "holds a lone surrogate, which is no valid text") from error
    return str(value)


def _refused(place: str, problem: str) -> WorkflowError:
    return WorkflowError(f"{place} {problem}", phase=Phase.RESULT_VALIDATION.value, field=place)
