"""A condition yields something other than true or false, whatever it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject

_ROLES = frozenset({"if", "when", "on_error"})


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look at the type that each condition is known to have before it runs."""
    for item in subject.expressions:
        if item.program is None or item.site.role not in _ROLES:
            continue
        result_type = item.program.result_type
        if result_type not in ("bool", "dyn"):
            key = quote(str(item.site.path[-1]))
            message = f"{key} must yield true or false, but yields a value of type {result_type}"
            yield Diagnostic("condition-not-boolean", message, item.path)
