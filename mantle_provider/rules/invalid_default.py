"""The default or the allowed values of an input contradict its type, or each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import describe, quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.workflow.model import Input, InputType

_LABELS: dict[InputType, str] = {
    "string": "a string",
    "number": "a number",
    "boolean": "true or false",
}


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare default, ``enum`` and type of each input."""
    for item in subject.workflow.inputs:
        path = ("inputs", item.name)
        if item.default is not None and not _fits(item.default, item.type):
            message = f"default of input {quote(item.name)} {_mismatch(item, item.default)}"
            yield Diagnostic("invalid-default", message, (*path, "default"))
        elif item.default is not None and item.enum and not _is_in(item.default, item.enum):
            message = f'default of input {quote(item.name)} is not among the values of "enum"'
            yield Diagnostic("invalid-default", message, (*path, "default"))
        for index, value in enumerate(item.enum):
            if not _fits(value, item.type):
                message = f"value of input {quote(item.name)} {_mismatch(item, value)}"
                yield Diagnostic("invalid-default", message, (*path, "enum", index))


def _mismatch(item: Input, value: Any) -> str:  # noqa: ANN401  # any JSON value
    expected = _LABELS[item.type] if item.type else "any value"
    return f"must be {expected}, got {describe(value)}"


def _fits(value: Any, kind: InputType | None) -> bool:  # noqa: ANN401  # any JSON value
    if kind is None:
        return True
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, str if kind == "string" else bool)


def _is_in(value: Any, values: tuple[Any, ...]) -> bool:  # noqa: ANN401  # any JSON value
    # In Python 1 == True, in JSON it is not.
    return any(value == item and type(value) is type(item) for item in values)
