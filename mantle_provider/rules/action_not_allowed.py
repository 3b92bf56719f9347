"""An action exists, but the platform team does not allow it here."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from mantle_provider.actions import ACTIONS
from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import join_choices, quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare each action with the allowed patterns."""
    patterns = subject.allowed_actions
    for placed, step in subject.decoded:
        action = step.action
        if action not in ACTIONS or any(fnmatchcase(action, pattern) for pattern in patterns):
            continue
        allowed = join_choices(map(quote, patterns), "and") if patterns else "none"
        message = f"action {quote(action)} is not allowed here; allowed: {allowed}"
        yield Diagnostic("action-not-allowed", message, (*placed.path, "action"))
