"""One attempt of a step, from its gate to its checked output (DESIGN 4)."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from airflow.sdk.exceptions import (
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSkipException,
    TaskAwaitingInput,
    TaskDeferred,
)

from mantle_provider import settings
from mantle_provider.actions import ACTIONS
from mantle_provider.actions.airflow import AIRFLOW_OPERATOR
from mantle_provider.actions.python import PYTHON_CALL
from mantle_provider.actions.switch import SWITCH
from mantle_provider.errors import WorkflowError
from mantle_provider.lifecycle import (
    ACTION_SKIP,
    CONDITION,
    ERROR,
    NOT_TAKEN,
    NodeStatus,
    Phase,
    WorkflowGraph,
    failed_status,
)
from mantle_provider.operators import run_reader, versions
from mantle_provider.operators.artifacts import ArtifactStore
from mantle_provider.operators.budget import attempt_budget
from mantle_provider.operators.conditions import holds
from mantle_provider.operators.entry import read_entry
from mantle_provider.operators.events import StepEvents
from mantle_provider.operators.fail_fast import fail_fast_error, interrupted_by_failure
from mantle_provider.operators.failures import (
    CONTROL_FLOW,
    FAILURES,
    FINAL_IN_AIRFLOW,
    STEERING,
    error_message,
    error_record,
    without_phases,
    workflow_error,
)
from mantle_provider.operators.finish import finish_step
from mantle_provider.operators.gate import Gate, StepSkipped
from mantle_provider.operators.grants import Grants, is_counted
from mantle_provider.operators.handler import handler_call
from mantle_provider.operators.hook_story import log_hooks_before
from mantle_provider.operators.interrupt import Interrupted, interrupted_after, interruptible
from mantle_provider.operators.listening import Listeners
from mantle_provider.operators.masking import mask_environment
from mantle_provider.operators.output import failed_output, kept_output, step_output
from mantle_provider.operators.parameters import check_parameters, resolve
from mantle_provider.operators.preconditions import (
    check_allowed,
    check_inputs,
    warn_of_old_verdict,
)
from mantle_provider.operators.resolution import Resolver
from mantle_provider.operators.values import expression_values
from mantle_provider.operators.waiting import (
    hold_deferral,
    hold_input,
    hold_reschedule,
    stopped_by,
)
from mantle_provider.triggers.failure_watch import FailureWatch
from mantle_provider.triggers.step import TIME_IS_UP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from airflow.sdk.definitions.context import Context

    from mantle_provider.lifecycle import ErrorRecord
    from mantle_provider.operators.budget import Budget
    from mantle_provider.operators.resolution import Answer

log = logging.getLogger(__name__)

_USERS_CODE = (PYTHON_CALL, AIRFLOW_OPERATOR)
"""Actions that run code which is not ours, and knows nothing of the phases of an attempt."""


class Attempt:
    """Runs the phases of one attempt and stores why it failed, if it does.

    :param step: what the plan says about the step.
    :param workflow: what the plan says about the whole workflow.
    :ivar is_killed: whether Airflow has told the process to end.
    :ivar folder: where the relative paths of artifacts begin.
    """

    def __init__(
        self, context: Context, step: Mapping[str, Any], workflow: Mapping[str, Any]
    ) -> None:
        self._ti = context["ti"]
        self._context = context
        self._step = step
        self._workflow = workflow
        self._spec = ACTIONS[step["action"]] if step["action"] else SWITCH
        self._phase = Phase.EDGE_CONDITION
        self._graph = WorkflowGraph.from_data(workflow["graph"])
        self._reader = run_reader.RunReader(self._ti, self._graph)
        self._entry = read_entry(
            context, step, version=workflow["version"], can_wait=self._spec.can_wait
        )
        self._grants = Grants(
            context["task_state_store"],
            self._entry,
            self._ti.try_number,
            is_counted(step, workflow),
        )
        self._events = StepEvents.of(self._ti, step)
        self._listeners = Listeners(context, workflow)
        self.is_killed = False
        self.folder = Path()
        self._has_acted = False

    def check_granted(self) -> None:
        """Refuse an attempt that only follows because the one before was killed.

        :raises AirflowFailException: when the attempts that ``retry`` grants are used up.
        """
        self._grants.check_start()

    def enter(self) -> None:
        """Decide whether the step runs at all, then check what it needs.

        :raises AirflowSkipException: the step does not run.
        """
        mask_environment(self._workflow.get("env", {}))
        versions.record_start(self._ti, self._workflow, self._entry)
        if self._step["block"] != "steps":
            self._ti.xcom_push(key=run_reader.JUDGED_AT, value=self._reader.judged_at())
        if not self._entry.is_resumed:
            self._events.started(self._entry.attempt)
            warn_of_old_verdict(self._step, self._workflow, self._entry, self._reader)
            log_hooks_before(self._reader, self._step)
        gate = Gate(self._context, self._reader, self._step, self._workflow, self._entry)
        gate.decide(self._budget, time.time(), lambda: self._values)
        self._listeners.entered(self._step, self._entry.first_try)
        self._phase = Phase.EXECUTOR_LOOKUP
        check_allowed(self._step)
        self._phase = Phase.INPUT_RESOLUTION
        versions.check_version(self._reader, self._step, self._workflow, self._entry)
        check_inputs(self._step, self._workflow, self._context["dag_run"].conf)

    @cached_property
    def _budget(self) -> Budget:
        return attempt_budget(self._context, self._reader, self._step, self._workflow, self._entry)

    @cached_property
    def _values(self) -> dict[str, Any]:
        """What the step's expressions read."""
        return expression_values(self._context, self._reader, self._step, self._workflow)

    def resolve(self, value: Any, field: str) -> Any:  # noqa: ANN401  # any JSON value
        """Return ``value`` with the expressions in its strings, at any depth, evaluated once.

        :param field: dotted path of the value, for the error.
        """
        return resolve(value, field, lambda: self._values)

    def holds(self, condition: str, subject: str, **place: Any) -> bool:  # noqa: ANN401  # as below
        """Return whether a condition of the step is true, see :func:`conditions.holds`."""
        return holds(condition, self._values, subject, **place)

    def check_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Check resolved parameters against the action's spec.

        :raises WorkflowError: in phase ``INPUT_RESOLUTION``, with every problem.
        """
        check_parameters(self._spec, parameters)

    def run(self, action: Callable[[], Any], *, on_cut: Callable[[], None]) -> dict[str, Any]:
        """Carry out the action within its time and return its checked output.

        :param on_cut: stops what the action has started, when it must end early.
        """
        with self.failures_recorded():
            self._phase = Phase.EXECUTION
            self._has_acted = True
            act = partial(without_phases, action) if self._spec in _USERS_CODE else action
            result = self._watched(act, on_cut)
            self._phase = Phase.RESULT_VALIDATION
            output = self._kept_output(self._checked_output(result))
            self._keep_artifacts()
        self._events.ended("completed", time.time() - self._entry.began_at)
        self._listeners.completed(self._step, output)
        finish_step(self._context, succeeded=True)
        return output

    def resume(
        self,
        action: Callable[[], Any],
        event: Mapping[str, Any] | None,
        *,
        on_cut: Callable[[], None],
    ) -> dict[str, Any]:
        """Go on after a deferral, unless it ended because the step must end early.

        :param event: the arguments that the deferral comes back with.
        """
        reason = stopped_by(event)
        if reason is None:
            return self.run(action, on_cut=on_cut)

        def give_up() -> NoReturn:
            raise Interrupted(reason)

        return self.run(give_up, on_cut=on_cut)

    def _keep_artifacts(self) -> None:
        """Keep what the step has promised to leave behind, within its time."""
        if artifacts := self._step.get("artifacts"):
            self._phase = Phase.RESULT_VALIDATION
            keep = partial(ArtifactStore(self._ti).keep_all, artifacts, self.folder)
            self._watched(keep, on_cut=lambda: None)

    def _keep_artifacts_of_failure(self) -> None:
        """Keep what the last attempt has left behind, if its action had begun at all."""
        if "artifacts" in self._step and self._has_acted:
            left = self._budget.seconds_left(time.time())
            ArtifactStore(self._ti).keep_found(self._step["artifacts"], self.folder, left)

    def _checked_output(self, result: object) -> dict[str, Any]:
        return step_output(
            result,
            wraps_result=self._spec.wraps_result,
            max_bytes=settings.max_output_bytes(),
        )

    def _kept_output(self, output: dict[str, Any]) -> dict[str, Any]:
        """Return what the step's ``outputs`` keeps of its checked output."""
        outputs = self._step.get("outputs")
        if outputs is None:
            return output
        max_bytes = settings.max_output_bytes()
        return kept_output(output, outputs, lambda: self._values, max_bytes=max_bytes)

    def _watched(self, action: Callable[[], Any], on_cut: Callable[[], None]) -> Any:  # noqa: ANN401  # any result
        """Carry out the action, unless its time is over or ``fail_fast`` ends it before."""
        watch = self._failure_watch()
        seconds = self._budget.seconds_left(time.time())
        interval = settings.fail_fast_interval() if watch else 0.0
        try:
            with (
                interruptible() as interrupter,
                interrupted_after(interrupter, seconds, TIME_IS_UP),
                interrupted_by_failure(interrupter, watch, interval),
            ):
                self._check_resumption(watch)
                return action()
        except Interrupted as interrupted:
            try:
                on_cut()
            except Exception:
                log.exception("Could not stop what the action had started")
            raise self._cut(interrupted.reason) from None
        except STEERING as error:
            raise WorkflowError(
                f"this operator steers the run by itself ({type(error).__name__}), which would "
                "pass by the workflow's order and hooks; use `if` on the steps instead",
                phase=Phase.EXECUTION.value,
                retryable=False,
            ) from error
        except TaskDeferred as deferred:
            hold_deferral(deferred, self._budget, time.time(), watch, interval)
            raise
        except TaskAwaitingInput as awaiting:
            hold_input(awaiting, self._budget, time.time())
            raise
        except AirflowRescheduleException as reschedule:
            hold_reschedule(reschedule, time.time())
            raise

    def _check_resumption(self, watch: FailureWatch | None) -> None:
        """End a step that comes back from a wait at once when it may not go on."""
        if not self._entry.is_resumed:
            return
        if self._budget.is_over(time.time()):
            raise Interrupted(TIME_IS_UP)
        if watch and (step := watch.look()):
            raise Interrupted(step)

    def _failure_watch(self) -> FailureWatch | None:
        if not self._workflow["fail_fast"] or self._step["block"] != "steps":
            return None
        return FailureWatch(self._ti, self._ti.dag_id, self._ti.run_id, self._graph)

    def _cut(self, reason: str) -> WorkflowError:
        """Return the failure of an action that had to end: its time is up, or a step failed."""
        if reason == TIME_IS_UP:
            return self._budget.exceeded()
        return fail_fast_error(reason, Phase.EXECUTION)

    @contextmanager
    def failures_recorded(self) -> Iterator[None]:
        """Store the record of a failure before Airflow learns of it.

        :raises AirflowFailException: in place of a failure that no further attempt can mend.
        """
        try:
            yield
        except StepSkipped as skip:
            self._events.ended(
                "skipped" if skip.record.type in {CONDITION, NOT_TAKEN} else "cancelled"
            )
            self._ti.xcom_push(key=ERROR, value=skip.record.to_data())
            raise
        except AirflowSkipException as skip:
            self._events.ended("skipped")
            record = error_record(
                skip,
                step=self._step["name"],
                phase=self._phase,
                try_number=self._ti.try_number,
                kind=ACTION_SKIP,
            )
            self._ti.xcom_push(key=ERROR, value=record.to_data())
            finish_step(self._context, succeeded=True)
            raise
        except CONTROL_FLOW:
            raise
        except FAILURES as error:
            if self.is_killed:
                # Without a record the step counts as killed: what it says is the kill's doing.
                log.warning("Step %s was ended: %s", self._step["name"], error_message(error))
                answer = self._resolver(None).after_kill()
            else:
                answer = self._answer(error)
            failure = answer.error or error
            if not answer.is_final and isinstance(error, FINAL_IN_AIRFLOW):
                failure = workflow_error(error, step=self._step["name"], phase=self._phase)
            if answer.is_final and self._entry.has_tries:
                raise AirflowFailException(error_message(failure)) from failure
            if failure is error:
                raise
            raise failure from failure.__cause__

    def _answer(self, error: BaseException) -> Answer:
        """Decide what follows a failure, and store both before Airflow learns of it."""
        output = failed_output(error, self._checked_output)
        structured = workflow_error(error, step=self._step["name"], phase=self._phase)
        answer = self._resolver(output).resolve(structured, self._record(error))
        record = self._record(answer.error or error)
        record = replace(
            record,
            causes=(*record.causes, *answer.causes),
            resolution=answer.resolution,
            target=answer.target,
        )
        log.error("Step %s failed: %s in %s", record.step, record.type, record.phase)
        self._ti.xcom_push(key=ERROR, value=record.to_data())
        if output is not None:
            self._ti.xcom_push(key=run_reader.FAILED_OUTPUT, value=output)
        if answer.is_final:
            status, _ = failed_status(record)
            seconds = time.time() - self._entry.began_at
            self._events.ended(status.value.lower(), seconds, record.message)
            self._keep_artifacts_of_failure()
            if status is not NodeStatus.CANCELLED:
                finish_step(self._context, succeeded=False)
        return answer

    def _resolver(self, output: Mapping[str, Any] | None) -> Resolver:
        """Return what answers a failure.

        :param output: what the action had produced when it said itself that it failed.
        """
        handler = handler_call(self._context, self._graph, self._step, self._workflow, self._entry)
        return Resolver(
            self._step,
            self._entry,
            self._grants,
            budget=lambda: self._budget,
            values=lambda: self._values,
            ask_handler=partial(handler.ask, output=output) if handler else None,
        )

    def _record(self, error: BaseException) -> ErrorRecord:
        return error_record(
            error, step=self._step["name"], phase=self._phase, try_number=self._ti.try_number
        )
