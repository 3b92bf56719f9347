"""A step's action does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.actions import ACTIONS
from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import join_choices, quote, suggest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare each action with those that exist, whole names and single verbs."""
    for placed, step in subject.decoded:
        action = step.action
        if action is None or action in ACTIONS:
            continue
        message = f"unknown action {quote(action)}{_cure(action)}"
        yield Diagnostic("unknown-action", message, (*placed.path, "action"))


def _cure(action: str) -> str:
    slashed = action.replace(".", "/", 1)
    if slashed in ACTIONS:
        return f"; did you mean {quote(slashed)}?"
    family, _, verb = action.partition("/")
    same = [name for name in ACTIONS if verb and name.partition("/")[2] == verb]
    relatives = [name for name in ACTIONS if name.partition("/")[0] == family]
    if relatives or same:
        return f"; did you mean {join_choices(map(quote, relatives or same))}?"
    return suggest(action, ACTIONS)
