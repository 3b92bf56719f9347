"""Runs and their tasks as Airflow's REST API (version 2) tells them."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from mantle_provider.cli.errors import CommandError, RestError
from mantle_provider.cli.rest import NOT_FOUND
from mantle_provider.diagnostics.wording import quote, suggest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.cli.rest import RestClient

LATEST = "latest"
"""Stands for the id of a Dag's latest run."""

_API = ("api", "v2")
_PAGE_SIZE = 1000
"""What is asked for; Airflow gives its own ``[api] maximum_page_limit`` (100) if that is less."""

_MAX_SUGGESTED_RUNS = 10
_TRIED = {"success", "failed", "skipped"}
"""States that may follow a try; in others Airflow still tells the duration of an earlier one."""

_NO_IDS = {"", ".", "..", "~"}
"""What a path cannot hold, or Airflow takes for all Dags or all runs."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run.

    :param state: ``queued``, ``running``, ``success`` or ``failed``.
    :param duration_seconds: ``None`` until it has ended.
    """

    dag_id: str
    run_id: str
    state: str
    duration_seconds: float | None = None

    @property
    def is_finished(self) -> bool:
        """Whether nothing more happens in it by itself."""
        return self.state in {"success", "failed"}


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a run.

    :param state: Airflow's, ``None`` before it is scheduled.
    :param try_number: 0 when it never reached a worker.
    :param duration_seconds: of its last try, ``None`` unless that has ended.
    """

    task_id: str
    state: str | None
    try_number: int = 0
    duration_seconds: float | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class XCom:
    """A value that a task pushed, and when Airflow stored it."""

    value: Any
    stored_at: datetime


class AirflowRuns:
    """Asks one Airflow about runs.

    Every method raises :class:`RestError` when there is no proper answer.
    """

    def __init__(self, client: RestClient) -> None:
        self._client = client

    def find(self, dag_id: str, run_id: str) -> Run:
        """Return a run.

        :param run_id: ``latest`` stands for the one that the UI lists first.
        :raises CommandError: there is no such Dag or run.
        """
        if dag_id in _NO_IDS:
            raise CommandError(f"{quote(dag_id)} is not the id of a Dag")
        if run_id in _NO_IDS:
            raise CommandError(f"{quote(run_id)} is not the id of a run")
        try:
            if run_id == LATEST:
                runs = self._runs(dag_id, limit=1)
                if not runs:
                    raise CommandError(f"Dag {quote(dag_id)} has no run yet")
                return runs[0]
            answer = self._client.get(*_API, "dags", dag_id, "dagRuns", run_id)
        except RestError as error:
            if error.status != NOT_FOUND:
                raise
            raise self._missing(dag_id, run_id) from error
        with _reading("a run"):
            return _read_run(answer)

    def cancel(self, run: Run) -> None:
        """End a run as a user does who marks it failed.

        :raises RestError: also when Airflow says that the run goes on.
        """
        answer = self._client.send("PATCH", *_run_path(run), body={"state": "failed"})
        with _reading("a run"):
            state = _read_run(answer).state
        if state != "failed":
            raise RestError(f"Airflow was asked to cancel the run, but says that it is {state}")

    def tasks(self, run: Run) -> dict[str, Task]:
        """Return task id -> task, of the whole run."""
        found: dict[str, Task] = {}
        read = 0
        while True:
            answer = self._client.get(
                *_run_path(run), "taskInstances", limit=_PAGE_SIZE, offset=read
            )
            with _reading("the tasks of a run"):
                page = [_read_task(data) for data in answer["task_instances"]]
                total = int(answer["total_entries"])
            found.update((task.task_id, task) for task in page)
            read += len(page)
            if read >= total or not page:
                return found

    def xcom(self, run: Run, task_id: str, key: str) -> XCom | None:
        """Return a value that a task pushed, ``None`` when there is none."""
        path = (*_run_path(run), "taskInstances", task_id, "xcomEntries", key)
        try:
            answer = self._client.get(*path, stringify=False)
        except RestError as error:
            if error.status != NOT_FOUND:
                raise
            return None
        with _reading("what a task left"):
            return XCom(answer["value"], _read_time(answer["timestamp"]))

    def downstream(self, run: Run) -> dict[str, list[str]]:
        """Return task id -> the tasks that wait for it, by the Dag as it is now.

        Empty when Airflow no longer knows the Dag.
        """
        try:
            answer = self._client.get(*_API, "dags", run.dag_id, "tasks")
        except RestError as error:
            if error.status != NOT_FOUND:
                raise
            return {}
        with _reading("the tasks of a Dag"):
            return {task["task_id"]: list(task["downstream_task_ids"]) for task in answer["tasks"]}

    def _runs(self, dag_id: str, *, limit: int) -> list[Run]:
        """Return a Dag's runs, the latest first."""
        answer = self._client.get(
            *_API, "dags", dag_id, "dagRuns", order_by="-run_after", limit=limit
        )
        with _reading("the runs of a Dag"):
            return [_read_run(data) for data in answer["dag_runs"]]

    def _missing(self, dag_id: str, run_id: str) -> CommandError:
        """Return which of the two does not exist, and what may have been meant.

        Airflow says the same of a missing run and of a run of a missing Dag.
        """
        try:
            runs = self._runs(dag_id, limit=_MAX_SUGGESTED_RUNS)
        except RestError as error:
            if error.status != NOT_FOUND:
                raise
            known: list[str] = []
            with suppress(RestError):
                known = self._dag_ids()
            return CommandError(f"there is no Dag {quote(dag_id)}{suggest(dag_id, known)}")
        ending = suggest(run_id, (run.run_id for run in runs), none="it has none yet")
        return CommandError(f"Dag {quote(dag_id)} has no run {quote(run_id)}{ending}")

    def _dag_ids(self) -> list[str]:
        answer = self._client.get(*_API, "dags", limit=_PAGE_SIZE)
        with _reading("the Dags"):
            return [str(dag["dag_id"]) for dag in answer["dags"]]


def _run_path(run: Run) -> tuple[str, ...]:
    return (*_API, "dags", run.dag_id, "dagRuns", run.run_id)


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Make an answer of another shape than Airflow's a failure that a user understands."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RestError(
            f"the answer on {what} is not as Airflow 3 gives it; is the address right?"
        ) from error


def _read_run(data: dict[str, Any]) -> Run:
    return Run(str(data["dag_id"]), str(data["dag_run_id"]), str(data["state"]), data["duration"])


def _read_task(data: dict[str, Any]) -> Task:
    has_duration = data["try_number"] > 0 and data["state"] in _TRIED
    return Task(
        task_id=str(data["task_id"]),
        state=data["state"],
        try_number=data["try_number"],
        duration_seconds=data["duration"] if has_duration else None,
        ended_at=data["end_date"] and _read_time(data["end_date"]),
    )


def _read_time(text: str) -> datetime:
    # Python 3.10 does not read the Z that Airflow writes.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))
