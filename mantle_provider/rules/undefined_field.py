"""An expression reads a field of which the language itself says that there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote, suggest
from mantle_provider.lifecycle import (
    ERROR_FIELDS,
    EXECUTION_END_FIELDS,
    EXECUTION_FIELDS,
    FAILURE_FIELDS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject

_ANY_NAME = (None,)
_FIELDS: dict[str, dict[tuple[str | None, ...], tuple[str, tuple[str, ...]]]] = {
    "artifacts": {_ANY_NAME: ('an entry of "artifacts"', ("name", "url", "size"))},
    "error": {(): ("the error", ERROR_FIELDS)},
    "execution": {(): ("the execution", (*EXECUTION_FIELDS, *EXECUTION_END_FIELDS))},
    "hooks": {_ANY_NAME: ('an entry of "hooks"', ("output", "error"))},
    "steps": {
        _ANY_NAME: ('an entry of "steps"', ("output", "error", "status", "failure")),
        (*_ANY_NAME, "failure"): ('the "failure" of a step', FAILURE_FIELDS),
    },
}
"""Variable -> path below it, with ``None`` for any name -> what stands there, and its fields."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look at the parts of each path that the language itself names."""
    for item in subject.references:
        root, path = item.reference.root, item.reference.path
        for above, (owner, fields) in _FIELDS.get(root, {}).items():
            field = path[len(above)] if len(path) > len(above) else None
            if not isinstance(field, str) or field in fields or not _leads_to(path, above):
                continue
            ending = suggest(field, fields)
            if (root, above) == ("steps", _ANY_NAME) and " known: " in f" {ending}":
                ending += f"; what a step returns is below its output: .output.{field}"
            message = f"{owner} has no field {quote(field)}{ending}"
            yield Diagnostic(
                "undefined-field", message, item.expression.path, fragment=item.fragment
            )


def _leads_to(path: tuple[str | int | None, ...], above: tuple[str | None, ...]) -> bool:
    return all(part in (None, found) for part, found in zip(above, path, strict=False))
