"""A step lacks a parameter that its action needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.actions import ACTIONS
from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import join_choices, quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for each required parameter, and for one of several; a null is none."""
    for placed, step in subject.decoded:
        spec = ACTIONS.get(step.action or "")
        for param in spec.params if spec else ():
            if param.required and step.params.get(param.name) is None:
                message = (
                    f"action {quote(step.action or '')} needs the parameter {quote(param.name)}:"
                    f" {param.description.partition(';')[0]}"
                )
                path = (*placed.path, "params", param.name)
                yield Diagnostic("missing-param", message, path)
        choices = spec.exactly_one if spec else ()
        if choices and all(step.params.get(name) is None for name in choices):
            message = (
                f"action {quote(step.action or '')} needs one of the parameters"
                f" {join_choices(map(quote, choices))}"
            )
            yield Diagnostic("missing-param", message, (*placed.path, "params", choices[0]))
