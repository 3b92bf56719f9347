"""A hook has a key that only main steps can have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.source.span import Path

_CURE = "hooks run one after the other in the order of the file; for more, use a child workflow"
_MAIN_ONLY = ("depends_on", "on_dep_failure", "switch")


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for the keys that order steps or choose between them."""
    for placed in subject.hooks:
        if placed.step is None:
            continue
        keys: list[tuple[str, Path]] = [
            (key, (*placed.path, key)) for key in _MAIN_ONLY if subject.has(*placed.path, key)
        ]
        keys += [
            ("transition_to", (*placed.path, "on_error", index, "transition_to"))
            for index, rule in enumerate(placed.step.on_error)
            if rule.transition_to is not None
        ]
        for key, path in keys:
            message = f"a hook cannot have the key {quote(key)}: {_CURE}"
            yield Diagnostic("hook-key", message, path, part="key")
