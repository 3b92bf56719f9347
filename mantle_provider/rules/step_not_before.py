"""An expression reads a step or hook that cannot have run by then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import PlacedReference, Subject
    from mantle_provider.workflow.decode import PlacedStep


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Compare the places of reader and read; cycles of main steps are another rule's."""
    for item in subject.references_to("steps", "hooks"):
        reason = _steps_reason(subject, item) if item.reference.root == "steps" else ""
        if item.reference.root == "hooks" and item.placed.is_hook:
            reason = _hooks_reason(subject, item)
        if reason:
            path = item.expression.path
            yield Diagnostic("step-not-before", reason, path, fragment=item.fragment)


def _steps_reason(subject: Subject, item: PlacedReference) -> str:
    name, reader = item.name, item.placed
    if name is None or reader.is_hook:
        return ""
    if name == reader.name and item.expression.site.role != "on_error":
        return f"step {quote(name)} cannot read its own result"
    if reader.section != "before_start":
        return ""
    read = subject.before_names.get(name)
    if read is not None and read.path[-1] < reader.path[-1]:  # type: ignore[operator]  # both are indexes
        return ""
    if read is None and name not in subject.main_names:
        return ""
    return f"step {quote(name)} cannot have run before step {quote(reader.name or '')}"


def _hooks_reason(subject: Subject, item: PlacedReference) -> str:
    name, reader = item.name, item.placed
    candidates = [hook for hook in subject.hooks if hook.name == name]
    if name is None or not candidates or any(_runs_before(hook, reader) for hook in candidates):
        return ""
    if reader.name == name:
        return f"hook {quote(name)} cannot read its own result"
    [*_, last] = candidates
    return (
        f'hook {quote(name)} of "{last.section}" cannot have run before hook'
        f' {quote(reader.name or "")} of "{reader.section}"'
    )


def _runs_before(hook: PlacedStep, reader: PlacedStep) -> bool:
    """Whether a hook may have run: earlier in the block, or in a block that can come first."""
    if hook.section == reader.section:
        return hook.path[-1] < reader.path[-1]  # type: ignore[operator]  # both are indexes
    return reader.section == "on_finish"
