"""Runs of a plan under Airflow's own scheduling code: a database, no scheduler, no worker.

Airflow decides what may start, what is skipped or tried again, and the colour of the run. A test
makes up how each attempt ends and what users do meanwhile; nothing is committed, so that the
session's rollback takes everything out again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import count
from typing import NamedTuple

from support.runs import FakeTaskInstance

from mantle_provider.lifecycle import (
    CONDITION,
    DEPENDENCY,
    OUTCOME,
    ErrorRecord,
    WorkflowGraph,
    is_blocked,
)
from mantle_provider.operators.run_reader import ERROR
from mantle_provider.plan import plan_workflow
from mantle_provider.workflow.model import Step

BUNDLE = "simulation"

UNFINISHED = {None, "scheduled", "queued", "running", "up_for_retry"}

ENDS = ("ok", "fail", "kill", "skip", "marked failed", "marked success")
"""How an attempt can be made to end.

``fail`` leaves a record and ``kill`` none; Airflow says whether another attempt follows. ``skip``
is an ``if`` that is false. A user's mark while the attempt runs is final.
"""


def make_steps(flags, prefix):
    """Build steps that stand for nothing, one per ``continue_on_error`` flag."""
    return tuple(
        Step(f"{prefix}{place}", action="text/chunk", continue_on_error=flag)
        for place, flag in enumerate(flags)
    )


class Event(NamedTuple):
    """Something that happened in a run.

    :param what: ``started``, ``ended`` (``how`` is an end), ``marked`` (a finished step, ``how``
        is a state), ``run marked`` (``how`` is a state, ``task`` what was under way, if anything
        was) or ``cleared``.
    """

    what: str
    task: str | None
    how: str | None = None


class SimulatedDag:
    """A workflow's Dag in the database."""

    numbers = count()

    def __init__(self, workflow, session):
        from airflow.models.dagbundle import DagBundleModel
        from airflow.models.serialized_dag import SerializedDagModel
        from airflow.serialization.definitions.dag import SerializedDAG
        from airflow.serialization.serialized_objects import LazyDeserializedDAG

        from mantle_provider.builder.build import build_dag  # costs seconds, so only here

        plan = plan_workflow(workflow)
        # Other Dags of the session keep their names.
        self.plan = replace(plan, dag_id=f"{plan.dag_id}-{next(self.numbers)}")
        self.session = session
        self.built = build_dag(self.plan)
        session.merge(DagBundleModel(name=BUNDLE))
        session.flush()
        SerializedDAG.bulk_write_to_db(BUNDLE, None, [self.built], session=session)
        SerializedDagModel.write_dag(
            LazyDeserializedDAG.from_dag(self.built), bundle_name=BUNDLE, session=session
        )
        session.flush()
        self.stored = SerializedDagModel.get_dag(self.plan.dag_id, session=session)

    def create_run(self, run_id):
        from airflow.utils.state import DagRunState
        from airflow.utils.types import DagRunTriggeredByType, DagRunType

        dag_run = self.stored.create_dagrun(
            run_id=run_id,
            run_after=datetime.now(timezone.utc),
            start_date=datetime.now(timezone.utc),
            run_type=DagRunType.MANUAL,
            triggered_by=DagRunTriggeredByType.TEST,
            state=DagRunState.RUNNING,
            session=self.session,
        )
        dag_run.dag = self.stored
        return dag_run


def leave_alone(run, moment, task_id):
    """Do nothing to a run: the users who let it be."""


class SimulatedRun:
    """One run of a simulated Dag, and the world in which it takes place.

    :param script: ``(task_id, attempt) -> end``; attempts count from 1 since the run was cleared.
    :param disturb: what users do, called as ``disturb(run, moment, task_id)`` at the moments
        ``begin`` (nothing is scheduled yet), ``running``, ``waiting`` (for its next attempt) and
        ``ended`` of each step and hook.
    """

    def __init__(self, dag, script, random, *, disturb=leave_alone, run_id="run"):
        self.dag = dag
        self.session = dag.session
        self.script = script
        self.random = random
        self.disturb = disturb
        self.plans = {task.task_id: task for task in dag.plan.tasks}
        self.graph = WorkflowGraph.from_data([*dag.plan.graph])
        self.dag_run = dag.create_run(run_id)
        self.instances = {
            instance.task_id: instance
            for instance in self.dag_run.get_task_instances(session=self.session)
        }
        self.history = []
        self.attempts = dict.fromkeys(self.plans, 0)
        # What FakeTaskInstance reads and writes of a run.
        self.xcoms = {}
        self.durations = {}
        self.calls = []

    @property
    def states(self):
        """Task id -> state, ``None`` where there is none."""
        return {
            task_id: None if instance.state is None else str(instance.state)
            for task_id, instance in self.instances.items()
        }

    @property
    def colour(self):
        return str(self.dag_run.state)

    @property
    def is_finished(self):
        return self.colour in {"success", "failed"}

    @property
    def started(self):
        """The steps and hooks that started, once per attempt."""
        return [event.task for event in self.history if event.what == "started"]

    def run(self):
        """Let Airflow look at the run, and attempts end, until the run has ended."""
        self.disturb(self, "begin", None)
        for _ in range(40 * len(self.plans)):
            if self.is_finished:
                return self
            has_started = self._look()
            running = self._in_state("running")
            for task_id in self.random.sample(running, len(running)):
                # Now and then nothing ends between two looks of the scheduler.
                must_end = not has_started and task_id == running[0]
                is_alive = self.states[task_id] == "running" and not self.is_finished
                if is_alive and (must_end or self.random.random() < 0.6):
                    self._end(task_id)
            self._let_delays_pass()
        raise AssertionError(f"the run does not come to an end: {self.states}")

    def mark_run(self, state, *, during=None):
        """Mark the whole run, as ``PATCH .../dagRuns/{run}`` does."""
        from airflow.api.common.mark_tasks import (
            set_dag_run_state_to_failed,
            set_dag_run_state_to_success,
        )

        marks = {"failed": set_dag_run_state_to_failed, "success": set_dag_run_state_to_success}
        marks[state](
            dag=self.dag.stored, run_id=self.dag_run.run_id, commit=True, session=self.session
        )
        self.history.append(Event("run marked", during, state))

    def mark(self, task_id, state):
        """Mark a finished task, as ``PATCH .../taskInstances/{task}`` does."""
        self._set_state(task_id, state)
        self.history.append(Event("marked", task_id, state))

    def clear_downstream(self, task_id, script):
        """Clear a task with Downstream, as ``POST .../clearTaskInstances`` does, and run again."""
        from airflow.models.taskinstance import clear_task_instances, find_relevant_relatives
        from airflow.utils.state import DagRunState

        below = find_relevant_relatives(
            {task_id},
            [],
            direction="downstream",
            dag=self.dag.stored,
            run_id=self.dag_run.run_id,
            session=self.session,
        )
        instances = self.dag.stored.clear(
            dry_run=True,
            task_ids=[task_id, *below],
            run_id=self.dag_run.run_id,
            session=self.session,
        )
        clear_task_instances(instances, self.session, DagRunState.QUEUED)
        self.history.append(Event("cleared", task_id))
        self.attempts = dict.fromkeys(self.plans, 0)
        self.script = script
        # What the scheduler does with a queued run.
        self.dag_run.set_state(DagRunState.RUNNING)
        self.disturb = leave_alone
        return self.run()

    def judge(self):
        """Run the outcome as a worker does, and return the state in which it ends."""
        from airflow.sdk.exceptions import AirflowFailException

        instance = self.instances[OUTCOME]
        context = {
            "ti": FakeTaskInstance(self, OUTCOME, instance.try_number, instance.max_tries),
            "dag_run": self.dag_run,
        }
        try:
            self.dag.built.get_task(OUTCOME).execute(context)
        except AirflowFailException:
            return "failed"
        return "success"

    def _in_state(self, state):
        return [task_id for task_id, current in self.states.items() if current == state]

    def _look(self):
        """Let Airflow schedule what is ready; return whether anything began."""
        self.session.flush()  # Airflow's sessions do not do so by themselves
        ready, _ = self.dag_run.update_state(session=self.session, execute_callbacks=False)
        retried = {instance.task_id for instance in ready if instance.state == "up_for_retry"}
        self.dag_run.schedule_tis(ready, session=self.session)
        for instance in ready:
            self.session.refresh(instance)  # schedule_tis writes past the session
        for instance in ready:
            # An EmptyOperator has succeeded by now, and a user may have marked the others.
            if instance.state == "scheduled":
                self._start(instance, is_retry=instance.task_id in retried)
        return bool(ready)

    def _start(self, instance, *, is_retry):
        task_id = instance.task_id
        instance.state = "running"
        instance.start_date = datetime.now(timezone.utc)
        instance.end_date = None
        for key in [key for key in self.xcoms if key[0] == task_id]:
            del self.xcoms[key]
        # The gate of the step runtime decides once per run of a step, not at each attempt.
        if task_id != OUTCOME and not is_retry and self._is_blocked(task_id):
            self._skip(task_id, DEPENDENCY)
            return
        self.attempts[task_id] += 1
        if task_id != OUTCOME:
            self.history.append(Event("started", task_id))
            self.disturb(self, "running", task_id)

    def _is_blocked(self, task_id):
        step = self.plans[task_id].step
        return step["is_gated"] and is_blocked(self.graph, self.states, step["name"])

    def _end(self, task_id):
        how = self.script(task_id, self.attempts[task_id])
        if task_id == OUTCOME:
            self._end_outcome(how)
            return
        self.history.append(Event("ended", task_id, how))
        if how == "ok":
            self._finish(task_id, "success")
        elif how == "skip":
            self._skip(task_id, CONDITION)
        elif how.startswith("marked"):
            self._set_state(task_id, how.removeprefix("marked "))
        else:
            if how == "fail":
                self._record(task_id, "RuntimeError")
            self._fail(task_id)
        is_waiting = self.states[task_id] == "up_for_retry"
        self.disturb(self, "waiting" if is_waiting else "ended", task_id)

    def _end_outcome(self, how):
        if how == "ok":
            self._finish(OUTCOME, self.judge())
            return
        if self.random.random() < 0.5:
            self.judge()  # killed after it had spoken
        self._fail(OUTCOME)

    def _finish(self, task_id, state):
        self.instances[task_id].state = state
        self.instances[task_id].end_date = datetime.now(timezone.utc)

    def _skip(self, task_id, reason):
        self._record(task_id, reason)
        self._finish(task_id, "skipped")

    def _fail(self, task_id):
        """Report a failed or lost attempt, after which Airflow grants another one or does not."""
        from airflow.models.taskinstance import TaskInstance

        self.session.flush()  # since Airflow reads the task instance again
        TaskInstance.fetch_handle_failure_context(
            self.instances[task_id], error=None, session=self.session
        )

    def _record(self, task_id, reason):
        record = ErrorRecord(
            phase="EXECUTION",
            step=task_id,
            message=reason,
            type=reason,
            try_number=self.instances[task_id].try_number,
            at=datetime.now(timezone.utc).isoformat(),
        )
        self.xcoms[task_id, ERROR] = record.to_data()

    def _set_state(self, task_id, state):
        self.session.flush()
        self.dag.stored.set_task_instance_state(
            task_id=task_id, run_id=self.dag_run.run_id, state=state, session=self.session
        )

    def _let_delays_pass(self):
        """Let time go by for some of the tasks that wait for their next attempt."""
        for task_id in self._in_state("up_for_retry"):
            if self.random.random() < 0.5:
                self.instances[task_id].end_date -= timedelta(days=1)
