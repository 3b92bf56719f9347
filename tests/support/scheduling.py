"""Runs of a workflow under Airflow's own scheduling code: a database, no scheduler, no worker.

Airflow decides what may start, what is skipped or tried again, and the colour of the run; the
step runtime decides what it decides at the start of an attempt and when one fails. A script makes
up how each attempt ends. Nothing is committed: the session's rollback takes everything out again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import count, repeat

from mantle_provider.errors import WorkflowError
from mantle_provider.lifecycle import (
    ADMISSION,
    CALLBACK,
    CONDITION,
    ERROR,
    OUTCOME,
    OUTPUT,
    STARTED,
    Phase,
    WorkflowGraph,
    first_fatal,
    verdict,
)
from mantle_provider.operators.run_reader import ROUTE, RunReader
from mantle_provider.plan.planner import plan_workflow
from mantle_provider.workflow.model import Step
from support.history import CHOICE, Event
from support.runs import FakeStore, FakeTaskInstance

BUNDLE = "simulation"

OWN_TASKS = frozenset({ADMISSION, CALLBACK, OUTCOME, STARTED})
"""Tasks that are no steps, but have work to do."""

FINISHED = frozenset({"success", "failed", "skipped", "upstream_failed"})
"""The states in which tasks of a run that has ended can be."""


def make_step(name, **keys):
    """Build a step that stands for nothing, or for a router."""
    if keys.get("switch"):
        return Step(name, action=None, **keys)
    return Step(name, action="text/chunk", params={"text": "nothing"}, **keys)


def make_steps(flags, prefix):
    """Build steps that stand for nothing, one per ``continue_on_error`` flag."""
    return tuple(
        make_step(f"{prefix}{place}", continue_on_error=flag) for place, flag in enumerate(flags)
    )


class SimulatedDag:
    """A workflow's Dag in the database."""

    _numbers = count()

    def __init__(self, workflow, session):
        from airflow.models.dagbundle import DagBundleModel
        from airflow.models.serialized_dag import SerializedDagModel
        from airflow.serialization.definitions.dag import SerializedDAG
        from airflow.serialization.serialized_objects import LazyDeserializedDAG

        from mantle_provider.builder.build import build_dag

        plan = plan_workflow(workflow)
        self.plan = replace(plan, dag_id=f"{plan.dag_id}-{next(self._numbers)}")
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
    """Do nothing to a run: the user who lets it be."""


class SimulatedRun:
    """One run of a simulated Dag.

    :param random: decides in which order attempts end, and how long tasks wait.
    :param disturb: what users do, called as ``disturb(run, moment, task_id)`` at the moments
        ``begin`` (nothing is scheduled yet), and ``running``, ``waiting`` (for the next attempt)
        and ``ended`` of each step and hook.
    """

    def __init__(self, dag, script, random, *, disturb=leave_alone, run_id="run"):
        self.dag = dag
        self.session = dag.session
        self.script = script
        self.random = random
        self.disturb = disturb
        self.plans = {task.task_id: task for task in dag.plan.tasks}
        self.graph = WorkflowGraph.from_data([*dag.plan.graph])
        self.steps = {node.name for node in self.graph.nodes}
        self.dag_run = dag.create_run(run_id)
        self.instances = {
            instance.task_id: instance
            for instance in self.dag_run.get_task_instances(session=self.session)
        }
        self.history = []
        self.attempts = dict.fromkeys(self.plans, 0)
        self._operators = {}
        # How likely an attempt ends between two looks of the scheduler.
        self.pace = {task_id: random.choice([0.1, 0.7]) for task_id in self.plans}
        # What FakeTaskInstance and FakeStore read and write of a run.
        self.xcoms = {}
        self.stored = {}
        self.durations = {}
        self.calls = []
        others = (dag.plan.reject_above or 1) - (not script.is_rejected)
        self.unfinished = repeat(others + 1)
        self.undecided = repeat(1)

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
        """The steps and hooks that ran, once per attempt."""
        return [event.task for event in self.history if event.what == "started"]

    def run(self):
        """Let Airflow look at the run, and attempts end, until the run has ended."""
        self.disturb(self, "begin", None)
        idle_looks = 0
        for _ in range(50 * len(self.plans)):
            if self.is_finished:
                return self
            idle_looks = 0 if self._look() else idle_looks + 1
            # Some looks at what has changed by itself come before a slow task ends.
            self._let_some_end(must_end=idle_looks > 2)
            self._let_delays_pass()
        raise AssertionError(f"the run does not come to an end: {self.states}")

    def mark_run(self, state, *, during=None):
        """Mark the whole run, as ``PATCH .../dagRuns/{run}`` does."""
        from airflow.api.common.mark_tasks import (
            set_dag_run_state_to_failed,
            set_dag_run_state_to_success,
        )

        marks = {"failed": set_dag_run_state_to_failed, "success": set_dag_run_state_to_success}
        self.session.flush()
        marks[state](
            dag=self.dag.stored, run_id=self.dag_run.run_id, commit=True, session=self.session
        )
        self.history.append(Event("run marked", during, state))

    def mark(self, task_id, state):
        """Mark a finished task, as ``PATCH .../taskInstances/{task}`` does."""
        self._set_state(task_id, state)
        self.history.append(Event("marked", task_id, state))
        self._start_again_if_queued()

    def clear_downstream(self, task_id, script):
        """Clear a task with Downstream, as ``POST .../clearTaskInstances`` does."""
        from airflow.models.taskinstance import clear_task_instances, find_relevant_relatives
        from airflow.utils.state import DagRunState

        run_id = self.dag_run.run_id
        below = find_relevant_relatives(
            {task_id},
            [],
            direction="downstream",
            dag=self.dag.stored,
            run_id=run_id,
            session=self.session,
        )
        instances = self.dag.stored.clear(
            dry_run=True, task_ids=[task_id, *below], run_id=run_id, session=self.session
        )
        clear_task_instances(instances, self.session, DagRunState.QUEUED)
        self.history.append(Event("cleared", task_id))
        self.attempts = dict.fromkeys(self.plans, 0)
        self.script = script
        self._start_again_if_queued()

    def verdict(self):
        """Judge the main steps by their states and records."""
        reader = RunReader(FakeTaskInstance(self, OUTCOME, 1, 0), self.graph)
        states = reader.step_states()
        return verdict(self.graph, states, reader.records(states), routes=reader.routes())

    def _look(self):
        """Let Airflow schedule what is ready; return whether there was anything."""
        self.session.flush()  # Airflow's sessions do not do so by themselves
        ready, _ = self.dag_run.update_state(session=self.session, execute_callbacks=False)
        self.dag_run.schedule_tis(ready, session=self.session)
        for instance in ready:
            self.session.refresh(instance)  # schedule_tis writes past the session
        for instance in ready:
            # An EmptyOperator has succeeded by now, and a user may have marked the others.
            if instance.state == "scheduled":
                self._start(instance)
        return bool(ready)

    def _let_some_end(self, *, must_end):
        running = [task_id for task_id, state in self.states.items() if state == "running"]
        for task_id in self.random.sample(running, len(running)):
            if not must_end and self.random.random() > self.pace[task_id]:
                continue
            must_end = False
            if self.states[task_id] == "running" and not self.is_finished:
                self._end(task_id)

    def _let_delays_pass(self):
        """Let time go by for some of the tasks that wait for their next attempt."""
        for instance in self.instances.values():
            if instance.state == "up_for_retry" and self.random.random() < 0.5:
                instance.end_date -= timedelta(days=1)

    def _start(self, instance):
        """Begin an attempt; a step decides at once, as on a worker, whether it runs."""
        from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

        task_id = instance.task_id
        instance.state = "running"
        instance.start_date = datetime.now(timezone.utc)
        instance.end_date = None
        self.attempts[task_id] += 1
        for key in [key for key in self.xcoms if key[0] == task_id]:
            del self.xcoms[key]
        if task_id in OWN_TASKS:
            return
        operator = self.dag.built.get_task(task_id).prepare_for_execution()
        try:
            operator.render_template_fields(self._context(task_id))
        except AirflowSkipException:
            self._finish(task_id, "skipped")
            if self.xcoms[task_id, ERROR]["type"] == CONDITION:
                self.history.append(Event("ended", task_id, "if"))
        except AirflowFailException:
            self._finish(task_id, "failed")
        except WorkflowError:
            self._fail(task_id)
        else:
            self._operators[task_id] = operator
            self.history.append(Event("started", task_id))
            self.disturb(self, "running", task_id)

    def _end(self, task_id):
        from airflow.sdk.exceptions import AirflowSkipException

        how = self.script.end(task_id, self.attempts[task_id])
        if task_id in OWN_TASKS:
            self._end_judge(task_id, how)
            return
        cause = self._fail_fast_cause(task_id)
        if cause is not None:
            how = "stopped"
        self.history.append(Event("ended", task_id, how))
        if how == "ok" or how.startswith(CHOICE):
            if how != "ok":
                self.xcoms[task_id, OUTPUT] = {ROUTE: how.removeprefix(CHOICE)}
            self._finish(task_id, "success")
        elif how == "kill":
            self._fail(task_id)
        elif how.startswith("marked"):
            self._set_state(task_id, how.removeprefix("marked "))
        elif how == "skip":
            self._raise(task_id, AirflowSkipException("so says the script"))
        else:
            self._raise(task_id, cause or RuntimeError("so says the script"))
        is_waiting = self.states[task_id] == "up_for_retry"
        self.disturb(self, "waiting" if is_waiting else "ended", task_id)

    def _end_judge(self, task_id, how):
        """Run one of our own tasks as a worker does, unless it is killed before or after."""
        from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

        state = "success"
        if how == "ok" or self.random.random() < 0.5:
            try:
                self.dag.built.get_task(task_id).execute(self._context(task_id))
            except AirflowFailException:
                state = "failed"
            except AirflowSkipException:
                state = "skipped"
        if how == "ok":
            self._finish(task_id, state)
        else:
            self._fail(task_id)

    def _fail_fast_cause(self, task_id):
        """Return why a step's watch of the run ends it, ``None`` when it does not."""
        from mantle_provider.operators.fail_fast import fail_fast_error

        if not self.dag.plan.fail_fast or task_id not in self.steps or self.random.random() < 0.3:
            return None
        reader = RunReader(FakeTaskInstance(self, OUTCOME, 1, 0), self.graph)
        failed = first_fatal(self.graph, self.states, reader.ways_taken())
        return None if failed is None else fail_fast_error(failed, Phase.EXECUTION)

    def _raise(self, task_id, error):
        """Let an attempt raise ``error`` within the step runtime."""
        from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

        try:
            with self._operators[task_id]._attempt.failures_recorded():
                raise error
        except AirflowSkipException:
            self._finish(task_id, "skipped")
        except AirflowFailException:
            self._finish(task_id, "failed")
        except type(error):
            self._fail(task_id)

    def _fail(self, task_id):
        """Report a failed or lost attempt, after which Airflow grants another one or does not."""
        from airflow.models.taskinstance import TaskInstance

        self.session.flush()  # since Airflow reads the task instance anew
        TaskInstance.fetch_handle_failure_context(
            self.instances[task_id], error=None, session=self.session
        )

    def _finish(self, task_id, state):
        self.instances[task_id].state = state
        self.instances[task_id].end_date = datetime.now(timezone.utc)

    def _set_state(self, task_id, state):
        self.session.flush()
        self.dag.stored.set_task_instance_state(
            task_id=task_id, run_id=self.dag_run.run_id, state=state, session=self.session
        )

    def _start_again_if_queued(self):
        """Do what the scheduler does with a run that a clearing has queued."""
        from airflow.utils.state import DagRunState

        if self.dag_run.state == DagRunState.QUEUED:
            self.dag_run.start_date = datetime.now(timezone.utc)
            self.dag_run.set_state(DagRunState.RUNNING)

    def _context(self, task_id):
        instance = self.instances[task_id]
        return {
            "ti": FakeTaskInstance(self, task_id, instance.try_number, instance.max_tries),
            "dag_run": self.dag_run,
            "task": self.dag.built.get_task(task_id),
            "dag": self.dag.built,
            "params": {},
            "task_state_store": FakeStore(self.stored, task_id),
        }
