"""An expression reads a step, a hook or an artifact that cannot be there by then."""

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
    for item in subject.references_to("steps", "hooks", "artifacts"):
        reason = _steps_reason(subject, item) if item.reference.root == "steps" else ""
        if item.reference.root == "hooks" and item.placed.is_hook:
            reason = _hooks_reason(subject, item)
        if item.reference.root == "artifacts":
            reason = _artifacts_reason(subject, item)
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
    if read is not None and _is_above(read, reader):
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


def _artifacts_reason(subject: Subject, item: PlacedReference) -> str:
    reader, maker = item.placed, subject.artifact_makers.get(item.name or "")
    if maker is None or _has_made(maker, reader):
        return ""
    if maker is reader:
        return (
            f"step {quote(reader.name or '')} cannot read its own artifact {quote(item.name or '')}"
        )
    return (
        f"artifact {quote(item.name or '')} of step {quote(maker.name or '')} cannot be there"
        f" before step {quote(reader.name or '')}"
    )


def _has_made(maker: PlacedStep, reader: PlacedStep) -> bool:
    """Whether a step can have left its artifacts behind when another one reads them."""
    if maker is reader:
        return False
    if reader.is_hook:
        return not maker.is_hook or _runs_before(maker, reader)
    if reader.section == "before_start":
        return maker.section == reader.section and _is_above(maker, reader)
    return not maker.is_hook


def _is_above(first: PlacedStep, second: PlacedStep) -> bool:
    return first.path[-1] < second.path[-1]  # type: ignore[operator]  # both are indexes


def _runs_before(hook: PlacedStep, reader: PlacedStep) -> bool:
    """Whether a hook may have run: earlier in the block, or in a block that can come first."""
    if hook.section == reader.section:
        return _is_above(hook, reader)
    return reader.section == "on_finish"
