"""A parameter has a value that its action cannot take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mantle_provider.actions import ACTIONS
from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import describe, join_choices, quote
from mantle_provider.expressions import has_template
from mantle_provider.expressions.faults import EvaluationError
from mantle_provider.expressions.time_text import parse_rfc_3339
from mantle_provider.workflow.durations import DurationError, parse_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.actions import ActionSpec, ParamSpec, ParamType
    from mantle_provider.rules.subject import Subject
    from mantle_provider.source.span import Path

_LABELS: dict[ParamType, str] = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "map": "a mapping",
    "list": "a list",
    "any": "any value",
    "duration": 'a duration such as "30s"',
    "timestamp": 'a timestamp such as "2026-01-15T10:20:30Z"',
}

_CEL_TYPES: dict[ParamType, frozenset[str]] = {
    "string": frozenset({"string", "bytes", "timestamp", "duration", "type"}),
    "integer": frozenset({"int", "uint"}),
    "number": frozenset({"int", "uint", "double"}),
    "boolean": frozenset({"bool"}),
    "map": frozenset({"map"}),
    "list": frozenset({"list"}),
    "duration": frozenset({"string", "duration"}),
    "timestamp": frozenset({"string", "timestamp"}),
}
"""CEL types whose values may have the type; others never do."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Check literal values, and of an expression the type that is known before it runs."""
    types = {
        item.path: item.program.result_type
        for item in subject.expressions
        if item.program is not None
    }
    for placed, step in subject.decoded:
        spec = ACTIONS.get(step.action or "")
        for param in spec.params if spec else ():
            value = step.params.get(param.name)
            if spec is None or value is None or "any" in param.types:
                continue
            path = (*placed.path, "params", param.name)
            if isinstance(value, str) and has_template(value):
                found = _check_expression(param, types.get(path, "dyn"))
            else:
                found = _check_literal(param, value)
            if found:
                yield _diagnostic(spec, param, found, path)


def _diagnostic(spec: ActionSpec, param: ParamSpec, found: str, path: Path) -> Diagnostic:
    message = f"parameter {quote(param.name)} of action {quote(spec.name)} {found}"
    return Diagnostic("invalid-param", message, path)


def _check_expression(param: ParamSpec, result_type: str) -> str:
    if result_type == "dyn" or any(result_type in _CEL_TYPES[kind] for kind in param.types):
        return ""
    return f"must be {_expected(param)}, but the expression yields a value of type {result_type}"


def _check_literal(param: ParamSpec, value: Any) -> str:  # noqa: ANN401  # any JSON value
    """Return what is wrong, as the end of a sentence; empty when nothing is."""
    if value in param.words:
        return ""
    if not any(_has_type(value, kind) for kind in param.types):
        return f"must be {_expected(param)}, got {describe(value)}"
    if param.enum and value not in param.enum:
        choices = join_choices(map(quote, param.enum))
        return f"must be {choices}, got {quote(value)}"
    if param.minimum is not None and isinstance(value, int | float) and value < param.minimum:
        return f"must be at least {param.minimum}, got {value}"
    return _check_text(param, value)


def _check_text(param: ParamSpec, value: Any) -> str:  # noqa: ANN401  # see above
    if param.types == ("duration",):
        try:
            parse_duration(value)
        except DurationError as error:
            return f"{_word_choice(param)}is a duration, but {quote(value)} {error}"
    if param.types == ("timestamp",):
        try:
            parse_rfc_3339(value)
        except EvaluationError as error:
            return f"is a timestamp, but {quote(value)} is {error}"
    return ""


def _word_choice(param: ParamSpec) -> str:
    return f"is {join_choices(map(quote, param.words))}, or " if param.words else ""


def _expected(param: ParamSpec) -> str:
    words = [quote(word) for word in param.words]
    return join_choices([*words, *(_LABELS[kind] for kind in param.types)])


def _has_type(value: Any, kind: ParamType) -> bool:  # noqa: ANN401  # any JSON value
    if isinstance(value, bool):
        return kind == "boolean"
    types: dict[ParamType, type | tuple[type, ...]] = {
        "string": str,
        "integer": int,
        "number": (int, float),
        "map": dict,
        "list": list,
        "duration": str,
        "timestamp": str,
    }
    return kind in types and isinstance(value, types[kind])
