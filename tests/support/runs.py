"""A run of one Dag without Airflow's database: states and XComs in memory.

Stands in for the supervisor alone; operators, mixins and everything below them are the real ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from itertools import repeat
from typing import TYPE_CHECKING, Any
from uuid import UUID

from mantle_provider.builder.build import build_dag
from mantle_provider.lifecycle import ADMISSION, ERROR, OUTPUT
from mantle_provider.plan.planner import plan_workflow

if TYPE_CHECKING:
    from collections.abc import Iterator


class Killed(BaseException):
    """Stands for the end of a process: nothing of ours may catch it."""


@dataclass
class FakeDagRun:
    dag_id: str
    run_id: str = "manual__1"
    conf: dict[str, Any] | None = None
    start_date: datetime = field(default_factory=lambda: datetime.now(timezone.utc))


@dataclass
class FakeRun:
    """Runs tasks of a workflow one by one, as a worker would."""

    workflow: Any
    conf: dict[str, Any] | None = None
    started_ago: timedelta = timedelta()
    states: dict[str, str] = field(default_factory=dict)
    xcoms: dict[tuple[str, str], Any] = field(default_factory=dict)
    durations: dict[str, float] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    unfinished: Iterator[int] = field(default_factory=lambda: repeat(1))
    undecided: Iterator[int] = field(default_factory=lambda: repeat(1))
    stored: dict[tuple[str, str], Any] = field(default_factory=dict)

    def __post_init__(self):
        self.dag = build_dag(plan_workflow(self.workflow))
        self.dag_run = FakeDagRun(
            self.dag.dag_id,
            conf=self.conf,
            start_date=datetime.now(timezone.utc) - self.started_ago,
        )

    def run(self, task_id, *, try_number=1, earlier_tries=0):
        """Run one attempt; return the operator and re-raise what Airflow would see.

        :param earlier_tries: how many there were before the task was cleared.
        """
        from airflow.sdk.exceptions import AirflowSkipException

        for key in [key for key in self.xcoms if key[0] == task_id]:
            del self.xcoms[key]
        try:
            task = self.enter(task_id, try_number=try_number, earlier_tries=earlier_tries)
            output = task.execute(self.context)
        except AirflowSkipException:
            self.states[task_id] = "skipped"
            raise
        except BaseException:
            self.states[task_id] = "failed"
            raise
        self.states[task_id] = "success"
        if output is not None:
            self.xcoms[task_id, OUTPUT] = output
        return task

    def run_to_end(self, task_id):
        """Run attempts until none may follow, as Airflow does; return the pauses between them.

        A pause after an attempt that was killed is ``None``.
        """
        from airflow.sdk.exceptions import AirflowFailException, AirflowTaskTimeout

        pauses = []
        while True:
            pause = None
            try:
                self.run(task_id, try_number=len(pauses) + 1)
            except AirflowFailException as error:
                self.failure = error
                return pauses
            except (Exception, AirflowTaskTimeout) as error:  # noqa: BLE001  # as Airflow does
                self.failure = error
                policy = self.context["task"].retry_policy
                if policy:
                    ti = self.context["ti"]
                    args = (error, ti.try_number, ti.max_tries, self.context)
                    delay = policy.evaluate(*args).retry_delay
                    pause = None if delay is None else delay.total_seconds()
            except Killed as error:
                self.failure = error
            else:
                return pauses
            if len(pauses) >= self.context["task"].retries:
                return pauses
            pauses.append(pause)

    def enter(self, task_id, *, try_number=1, earlier_tries=0):
        """Bring a task to where Airflow executes it, or resumes it after a deferral."""
        self.states[task_id] = "running"
        task = self.dag.get_task(task_id).prepare_for_execution()
        self.context = {
            "ti": FakeTaskInstance(
                self, task_id, try_number + earlier_tries, task.retries + earlier_tries
            ),
            "dag_run": self.dag_run,
            "task": task,
            "dag": self.dag,
            "params": {},
            "task_state_store": FakeStore(self.stored, task_id),
        }
        task.render_template_fields(self.context)
        return task

    def output(self, task_id):
        return self.xcoms.get((task_id, OUTPUT))

    def record(self, task_id):
        return self.xcoms.get((task_id, ERROR))


@dataclass
class FakeStore:
    """Airflow's `task_state_store`: keys of one task, kept over its tries."""

    stored: dict[tuple[str, str], Any]
    task_id: str

    def get(self, key):
        return self.stored.get((self.task_id, key))

    def set(self, key, value):
        self.stored[self.task_id, key] = value


@dataclass
class FakeTaskInstance:
    fake_run: FakeRun
    task_id: str
    try_number: int
    max_tries: int
    start_date: datetime = field(default_factory=lambda: datetime.now(timezone.utc))

    @property
    def id(self):
        return UUID(int=self.try_number)

    @property
    def dag_id(self):
        return self.fake_run.dag_run.dag_id

    @property
    def run_id(self):
        return self.fake_run.dag_run.run_id

    def get_task_states(self, *, dag_id, run_ids):
        assert (dag_id, run_ids) == (self.dag_id, [self.run_id])
        self.fake_run.calls.append("states")
        return {self.run_id: dict(self.fake_run.states)}

    def get_ti_count(self, *, dag_id, states, run_ids=None, task_ids=None):
        assert dag_id == self.dag_id
        if run_ids is None:
            assert (task_ids, {"null", "queued"} - {*states}) == ([ADMISSION], set())
            return next(self.fake_run.undecided)
        assert run_ids == [self.run_id]
        return sum(state in states for state in self.fake_run.states.values())

    def get_dr_count(self, *, dag_id, states):
        assert (dag_id, states) == (self.dag_id, ["queued", "running"])
        return next(self.fake_run.unfinished)

    def get_task_breadcrumbs(self, dag_id, run_id):
        assert (dag_id, run_id) == (self.dag_id, self.run_id)
        return [
            {"task_id": name, "state": self.fake_run.states[name], "duration": seconds}
            for name, seconds in self.fake_run.durations.items()
        ]

    def xcom_pull(self, *, task_ids, key):
        self.fake_run.calls.append(f"pull {task_ids} {key}")
        return self.fake_run.xcoms.get((task_ids, key))

    def xcom_push(self, *, key, value):
        self.fake_run.xcoms[self.task_id, key] = value
