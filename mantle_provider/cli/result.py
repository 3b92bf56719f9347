"""The result of a workflow's run, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mantle_provider.cli.status import is_cancelled, read_verdict
from mantle_provider.errors import ResultNotCompletedError
from mantle_provider.lifecycle import OUTCOME, OUTPUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mantle_provider.cli.runs import AirflowRuns, Run, Task


@dataclass(frozen=True, slots=True)
class ResultReport:
    """The result of a run.

    :param value: any JSON value; counts only without a ``problem``.
    :param problem: why there is no result.
    """

    value: Any = None
    problem: str | None = None


def read_result(runs: AirflowRuns, run: Run) -> ResultReport:
    """Ask Airflow for a run's result, which counts as soon as its main steps have been judged.

    :raises RestError: it does not say so properly.
    """
    tasks = runs.tasks(run)
    verdict, stale = read_verdict(runs, run, tasks)
    if verdict is None:
        return ResultReport(problem=_missing_verdict(run, tasks))
    if stale:
        return ResultReport(problem=stale)
    try:
        verdict.result  # noqa: B018  # raises where there is none
    except ResultNotCompletedError as error:
        node = verdict.nodes.get(error.step or "")
        cause = node and (node.failure_cause.message if node.failure_cause else node.reason)
        return ResultReport(problem=f"{error}{f' ({cause})' if cause else ''}")
    # A step that a user marked success has left no output.
    stored = runs.xcom(run, verdict.result_step or "", OUTPUT)
    return ResultReport(value=stored.value if stored else None)


def _missing_verdict(run: Run, tasks: Mapping[str, Task]) -> str:
    if not run.is_finished:
        return f"the run is {run.state}, and its steps have not been judged yet"
    if OUTCOME not in tasks:
        return str(ResultNotCompletedError(None, None))
    if is_cancelled(run, tasks):
        return "the run was cancelled before its steps were judged"
    return "the outcome left no verdict that can be read"
