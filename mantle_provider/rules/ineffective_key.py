"""A key changes nothing, because another one is missing or decides first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote
from mantle_provider.workflow.durations import format_duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.source.span import Path
    from mantle_provider.workflow.model import Retry


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for keys whose condition to matter does not hold."""
    for reason, path in (*_of_workflow(subject), *_of_steps(subject)):
        message = f"{quote(str(path[-1]))} has no effect {reason}"
        yield Diagnostic("ineffective-key", message, path, "warning", part="key")


def _of_workflow(subject: Subject) -> Iterator[tuple[str, Path]]:
    workflow = subject.workflow
    if subject.has("on_limit") and not subject.has("max_parallel_executions"):
        yield 'without "max_parallel_executions"', ("on_limit",)
    if workflow.airflow.catchup and not subject.has("triggers"):
        yield "without a cron trigger", ("airflow", "catchup")


def _of_steps(subject: Subject) -> Iterator[tuple[str, Path]]:
    limit = subject.workflow.timeout
    for placed, step in subject.decoded:
        retries: dict[Path, Retry | None] = {("retry",): step.retry}
        for index, rule in enumerate(step.on_error):
            retries["on_error", index, "retry"] = rule.retry
        for key, retry in retries.items():
            if retry and retry.max_delay and retry.backoff == "fixed":
                yield 'while "backoff" is "fixed"', (*placed.path, *key, "max_delay")
        if limit and step.timeout and step.timeout > limit and not placed.is_hook:
            reason = f"beyond the {format_duration(limit)} of the whole workflow"
            yield reason, (*placed.path, "timeout")
