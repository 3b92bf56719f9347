"""An expression reads a field that steps, hooks, artifacts or the execution do not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote, suggest
from mantle_provider.lifecycle import EXECUTION_END_FIELDS, EXECUTION_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject

_FIELDS: dict[str, tuple[int, tuple[str, ...]]] = {
    "artifacts": (1, ("name", "url", "size")),
    "execution": (0, (*EXECUTION_FIELDS, *EXECUTION_END_FIELDS)),
    "hooks": (1, ("output", "error")),
    "steps": (1, ("output", "error", "status", "failure")),
}
"""Variable -> at which place of a path the field stands, and its fields."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look at the part of each path that the language itself names."""
    for item in subject.references_to(*_FIELDS):
        place, fields = _FIELDS[item.reference.root]
        path = item.reference.path
        if len(path) <= place or not isinstance(path[place], str) or path[place] in fields:
            continue
        field = str(path[place])
        owner = "the execution" if place == 0 else f"an entry of {quote(item.reference.root)}"
        ending = suggest(field, fields)
        if item.reference.root == "steps" and " known: " in f" {ending}":
            ending += f"; what a step returns is below its output: .output.{field}"
        message = f"{owner} has no field {quote(field)}{ending}"
        yield Diagnostic("undefined-field", message, item.expression.path, fragment=item.fragment)
