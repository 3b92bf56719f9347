"""A step has a parameter that its action does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.actions import ACTIONS
from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote, suggest
from mantle_provider.rules.operator_argument import STEP_KEYS
from mantle_provider.workflow.step_keys import STEP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare the parameters with the action's; Airflow operators take arguments of their own."""
    step_keys = {key.name for key in STEP.keys}
    for placed, step in subject.decoded:
        spec = ACTIONS.get(step.action or "")
        if spec is None or spec.has_free_params:
            continue
        known = [param.name for param in spec.params]
        for name in step.params:
            if name in known or name in STEP_KEYS:
                continue
            cure = suggest(name, known)
            if name in step_keys:
                cure = '; it is a key of the step: move it out of "params"'
            message = f"action {quote(spec.name)} has no parameter {quote(name)}{cure}"
            yield Diagnostic("unknown-param", message, (*placed.path, "params", name), part="key")
