"""The running Airflow as the tests see it, and the finished runs they ask about."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from e2e_scripts import RUN_STATES, Director, LiveRun

from mantle_provider.workflow.durations import parse_duration

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from demo_services import Inbox
    from e2e_metrics import MetricsInbox
    from local_airflow import AirflowClient, LocalAirflow

PLANTED_SECRET = "planted-env-value-7b31f0"
FILED_SECRET = "planted-file-value-c4a29e"
"""What the suite's environment gives for ``env.FILED``."""
ENVIRONMENT = "suite"
LOAD_SECONDS = 240
RUNS_SECONDS = 1500
"""How long all runs together may take: several times what they need, for a slow machine.

One limit for all, so that a run that hangs costs this time once and not once for each test.
"""
POOLS = {
    "one-slot": 1,
    "two-slots": 2,
    # Each for one workflow; closed until its script opens it, or open until it closes it.
    "hook-in-full-pool": 0,
    "cancelled-queued": 0,
    "rejecting": 0,
    "timed-out-queued": 0,
    "timed-out-retry": 1,
}
FIRST = ("timed-out", "fail-fast", "rejecting")
"""What stands in the names of workflows that start first, before the machine is busy."""
TIMEOUT = re.compile(r"^timeout: *(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Run:
    """One finished run.

    :param seen: what the script of the run has returned, see :mod:`e2e_scripts`.
    """

    client: AirflowClient
    dag_id: str
    run_id: str
    state: str
    seen: Any = None

    @cached_property
    def tasks(self) -> dict[str, dict]:
        """Task id -> the task instance as Airflow's REST API shows it."""
        instances = self.client.task_instances(self.dag_id, self.run_id)
        return {instance["task_id"]: instance for instance in instances}

    @property
    def task_states(self) -> dict[str, str | None]:
        return {task_id: task["state"] for task_id, task in self.tasks.items()}

    def xcoms(self, task_id: str) -> dict[str, object]:
        return self.client.xcoms(self.dag_id, self.run_id, task_id)

    def output(self, task_id: str) -> object:
        return self.xcoms(task_id)["return_value"]

    def tries(self, task_id: str) -> list[dict]:
        """Return every try of a task, oldest first."""
        return self.client.tries(self.dag_id, self.run_id, task_id)

    def log_text(self, task_id: str, try_number: int = 1) -> str:
        return self.client.log_text(self.dag_id, self.run_id, task_id, try_number)


@dataclass(frozen=True)
class Suite:
    """The running Airflow and its surroundings."""

    airflow: LocalAirflow
    folder: Path
    inbox: Inbox
    metrics: MetricsInbox
    director: Director
    run_ids: dict[str, str] = field(default_factory=dict)
    begin: float = field(default_factory=time.monotonic)

    @property
    def client(self) -> AirflowClient:
        return self.airflow.client

    def start(self, marks: dict[str, pytest.Mark]) -> None:
        """Start one run per mark, once all workflows are loaded."""
        wanted = {mark.args[0] for mark in marks.values()}
        self.airflow.wait(
            lambda: (wanted - self.client.dag_ids(), self.client.import_errors()),
            "the suite's workflows to be loaded",
            seconds=LOAD_SECONDS,
            is_good=lambda seen: not seen[0],
        )
        for name, slots in POOLS.items():
            self.client.make_pool(name, slots)
        for key, mark in sorted(marks.items(), key=self._urgency):
            self.client.unpause(mark.args[0])
            self.run_ids[key] = self.client.trigger(mark.args[0], mark.kwargs)
            run = LiveRun(self, mark.args[0], self.run_ids[key], mark.kwargs)
            self.director.follow(run)

    def finished_run(self, dag_id: str, run_id: str) -> Run:
        """Wait until a run has ended, and all that its script makes happen has happened."""
        self.airflow.wait(
            lambda: self.director.is_done(run_id),
            f"what happens to {dag_id} to have happened",
            seconds=self._seconds_left(),
        )
        state = self.airflow.wait(
            lambda: self.client.run_state(dag_id, run_id),
            f"{dag_id} to end",
            seconds=self._seconds_left(),
            is_good=RUN_STATES.__contains__,
        )
        return Run(self.client, dag_id, run_id, state, self.director.result(run_id))

    def _seconds_left(self) -> float:
        return max(self.begin + RUNS_SECONDS - time.monotonic(), 0)

    def _urgency(self, marked: tuple[str, pytest.Mark]) -> tuple[bool, float, str]:
        """Order runs by when they would be cut off, which only their own steps may cause."""
        key, mark = marked
        return not any(word in key for word in FIRST), self._timeout(mark.args[0]), key

    def _timeout(self, dag_id: str) -> float:
        path = self.folder / f"{dag_id}.yaml"
        timeout = TIMEOUT.search(path.read_text()) if path.exists() else None
        return parse_duration(timeout[1]).total_seconds() if timeout else math.inf


def run_key(mark: pytest.Mark) -> str:
    """Return what tells one marked run from another: the workflow and its inputs."""
    return f"{mark.args[0]} {sorted(mark.kwargs.items())}"
