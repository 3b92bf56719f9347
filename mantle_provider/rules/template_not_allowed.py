"""An expression stands in a parameter that is read before anything runs.

Outside ``params`` the decoder reports the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.actions import ACTIONS
from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look into the parameters that do not allow expressions."""
    closed = {
        (spec.name, param.name)
        for spec in ACTIONS.values()
        for param in spec.params
        if not param.allows_expressions
    }
    for item in subject.expressions:
        step = item.placed.step
        if step is None or item.site.role != "params" or step.action is None:
            continue
        name = str(item.site.path[1])
        if (step.action, name) in closed:
            message = f"the parameter {quote(name)} is fixed when the file is read; write it out"
            yield Diagnostic("template-not-allowed", message, item.path)
