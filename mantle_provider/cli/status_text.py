"""The report on a run as text for people and as JSON for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING

from mantle_provider.cli.text import one_line
from mantle_provider.workflow.durations import format_duration
from mantle_provider.workflow.model import HOOK_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mantle_provider.cli.status import HookReport, RunReport, StepReport

NO_STATE = "waiting"
"""What is printed where Airflow has no state yet."""


def render_report(report: RunReport) -> str:
    """Return the report as lines, the run and the workflow first, then a table of each part."""
    duration = _duration(report.duration_seconds)
    lines = [
        one_line(f"{report.dag_id} {report.run_id}"),
        f"run: {report.run_state}{f', {duration}' if duration else ''}",
        f"stale: {report.stale}" if report.stale else f"workflow: {_workflow(report)}",
        *_version(report),
        *_section("steps", map(_step_cells, report.steps)),
    ]
    for block in HOOK_BLOCKS:
        hooks = [hook for hook in report.hooks if hook.block == block]
        lines += _section(block, map(_hook_cells, hooks))
    return "\n".join(lines) + "\n"


def render_report_json(report: RunReport) -> str:
    """Return the report as one JSON object with the fields of :class:`RunReport`."""
    return json.dumps(asdict(report), indent=2, ensure_ascii=False) + "\n"


def _workflow(report: RunReport) -> str:
    if report.workflow_status != "cancelled":
        return _judgement(report, report.workflow_status)
    if report.verdict is None:
        return "cancelled"
    return f"cancelled after its steps had ended: {_judgement(report, report.verdict)}"


def _version(report: RunReport) -> Iterator[str]:
    if report.version is None:
        return
    started = report.started_version
    is_other = started is not None and started != report.version
    yield f"version: {report.version}{f', started under {started}' if is_other else ''}"


def _judgement(report: RunReport, status: str) -> str:
    where = f' at step "{report.failed_step}"' if report.failed_step else ""
    error = f": {one_line(report.error)}" if report.error else ""
    return f"{status}{where}{error}"


def _step_cells(step: StepReport) -> tuple[str, ...]:
    return (
        step.name,
        step.status or step.state or NO_STATE,
        step.effect or "",
        _duration(step.duration_seconds),
        one_line(step.reason or ""),
    )


def _hook_cells(hook: HookReport) -> tuple[str, ...]:
    return (
        hook.name,
        hook.state or NO_STATE,
        _duration(hook.duration_seconds),
        one_line(hook.error or ""),
    )


def _section(title: str, rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a blank line, the title, and the rows with their cells below each other.

    Nothing without rows. A column that is empty in all rows is left out.
    """
    columns = [column for column in zip(*rows, strict=True) if any(column)]
    if not columns:
        return
    yield ""
    yield title
    widths = [max(map(len, column)) for column in columns]
    for row in zip(*columns, strict=True):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells)}".rstrip()


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    rounded = timedelta(seconds=round(seconds, 1))
    return format_duration(rounded) if rounded else "0s"
