"""A hook, or a step of ``before_start``, has a key that only main steps can have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.source.span import Path
    from mantle_provider.workflow.model import Step

_MAIN_ONLY = ("depends_on", "on_dep_failure", "switch")
_IN_A_ROW = "run one after the other in the order of the file"


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for the keys that order steps, choose between them, or tolerate a failure."""
    for placed, step in subject.decoded:
        if placed.is_hook:
            who, cure = "a hook", f"hooks {_IN_A_ROW}; for more, use a child workflow"
            keys = _main_only(subject, placed.path, step)
        elif placed.section == "before_start":
            who, cure = 'a step of "before_start"', f"they {_IN_A_ROW}, and none may fail"
            keys = _main_only(subject, placed.path, step)
            if step.continue_on_error:
                keys.append(("continue_on_error", (*placed.path, "continue_on_error")))
        else:
            continue
        for key, path in keys:
            message = f"{who} cannot have the key {quote(key)}: {cure}"
            yield Diagnostic("hook-key", message, path, part="key")


def _main_only(subject: Subject, path: Path, step: Step) -> list[tuple[str, Path]]:
    keys: list[tuple[str, Path]] = [
        (key, (*path, key)) for key in _MAIN_ONLY if subject.has(*path, key)
    ]
    keys += [
        ("transition_to", (*path, "on_error", index, "transition_to"))
        for index, rule in enumerate(step.on_error)
        if rule.transition_to is not None
    ]
    return keys
