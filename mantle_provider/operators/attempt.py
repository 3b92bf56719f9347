"""One attempt of a step, from its gate to its checked output (DESIGN 4)."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from airflow.sdk.exceptions import (
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSkipException,
    TaskDeferred,
)

from mantle_provider import settings
from mantle_provider.actions import ACTIONS
from mantle_provider.errors import ActionError, ExpressionError, MantleError, WorkflowError
from mantle_provider.expressions import compile_expression
from mantle_provider.lifecycle import (
    CONDITION,
    DEPENDENCY,
    ErrorRecord,
    Phase,
    WorkflowGraph,
    is_blocked,
)
from mantle_provider.operators import run_reader
from mantle_provider.operators.budget import attempt_budget
from mantle_provider.operators.failures import (
    CONTROL_FLOW,
    FAILURES,
    STEERING,
    error_message,
    error_record,
)
from mantle_provider.operators.inputs import input_problems
from mantle_provider.operators.interrupt import Interrupted, interrupt_after
from mantle_provider.operators.masking import mask_environment
from mantle_provider.operators.output import step_output
from mantle_provider.operators.parameters import parameter_problems, resolve, type_name
from mantle_provider.operators.retry import attempt_number, first_try_number, retry_delay
from mantle_provider.operators.values import expression_values
from mantle_provider.operators.waiting import hold_deferral, hold_reschedule, is_time_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from airflow.sdk.definitions.context import Context

    from mantle_provider.operators.budget import Budget

log = logging.getLogger(__name__)


class Attempt:
    """Runs the phases of one attempt and stores why it failed, if it does.

    :param step: what the plan says about the step.
    :param workflow: what the plan says about the whole workflow.
    """

    def __init__(
        self, context: Context, step: Mapping[str, Any], workflow: Mapping[str, Any]
    ) -> None:
        self._ti = context["ti"]
        self._context = context
        self._step = step
        self._workflow = workflow
        self._phase = Phase.EDGE_CONDITION
        self._graph = WorkflowGraph.from_data(workflow["graph"])
        self._reader = run_reader.RunReader(self._ti, self._graph)
        self._spec = ACTIONS[step["action"]]

    def enter(self) -> None:
        """Decide whether the step runs at all: gate, deadline, ``if``; then check what it needs.

        :raises AirflowSkipException: a step before this one ended so that this one may not run,
            or its ``if`` is false.
        """
        mask_environment()
        if self._workflow["has_outcome"]:
            # The start of the try, also after a deferral: Airflow counts the duration from it.
            started_at = self._ti.start_date.timestamp()
            self._ti.xcom_push(key=run_reader.STARTED_AT, value=started_at)
        self._decide()
        self._phase = Phase.EXECUTOR_LOOKUP
        self._check_allowed()
        self._phase = Phase.INPUT_RESOLUTION
        self._check_inputs()

    def _decide(self) -> None:
        """Decide once per run of the step, not again for a retry or after a deferral.

        The decision is kept in Airflow's task state store, which survives both (AIRFLOW 22c).
        """
        is_conditional = self._step["is_gated"] or self._step["condition"] is not None
        store = self._context["task_state_store"]
        first_try = first_try_number(self._step["retry"], self._ti.max_tries)
        key = f"mantle_decided_{first_try}"
        is_decided = is_conditional and store.get(key) is not None
        if not is_decided:
            self._check_gate()
        self._budget.check_start(time.time())
        if not is_decided:
            self._check_condition()
            if is_conditional:
                store.set(key, value=True)

    def _check_gate(self) -> None:
        name = self._step["name"]
        if self._step["is_gated"] and is_blocked(self._graph, self._reader.step_states(), name):
            self._skip(DEPENDENCY, "a step that this one depends on has failed")

    def _check_condition(self) -> None:
        condition = self._step["condition"]
        if condition is None:
            return
        try:
            is_true = compile_expression(condition).evaluate(self._values)
        except ExpressionError as error:
            raise WorkflowError(
                f"cannot evaluate `if`: {error.message}",
                phase=Phase.EDGE_CONDITION.value,
                field="if",
                expression=condition,
                type=type(error).__name__,
            ) from error
        if not isinstance(is_true, bool):
            raise WorkflowError(
                f"`if` must yield true or false, but yields a {type_name(is_true)}",
                phase=Phase.EDGE_CONDITION.value,
                field="if",
                expression=condition,
            )
        if not is_true:
            self._skip(CONDITION, f"`if` is false: {condition}")

    def _skip(self, reason: str, message: str) -> None:
        record = ErrorRecord(
            phase=Phase.EDGE_CONDITION.value,
            step=self._step["name"],
            message=message,
            type=reason,
            try_number=self._ti.try_number,
            at=datetime.now(timezone.utc).isoformat(),
            expression=self._step["condition"] if reason == CONDITION else None,
        )
        self._ti.xcom_push(key=run_reader.ERROR, value=record.to_data())
        raise AirflowSkipException(message)

    def _check_allowed(self) -> None:
        """Check ``[mantle] allowed_actions`` again: the file was checked on another machine."""
        action = self._step["action"]
        globs = settings.allowed_actions()
        if not any(fnmatchcase(action, glob) for glob in globs):
            raise WorkflowError(
                f'action "{action}" is not allowed here; [mantle] allowed_actions: '
                f"{', '.join(globs) or 'none'}",
                phase=Phase.EXECUTOR_LOOKUP.value,
                retryable=False,
            )

    def _check_inputs(self) -> None:
        """Fail main steps for wrong inputs; hooks must run nevertheless, to tell of it."""
        if self._step["block"] != "steps":
            return
        problems = input_problems(self._workflow["inputs"], self._context["dag_run"].conf)
        if problems:
            raise WorkflowError(
                "; ".join(problems),
                phase=Phase.INPUT_RESOLUTION.value,
                field="inputs",
                type="InvalidInput",
                retryable=False,
            )

    @cached_property
    def _budget(self) -> Budget:
        return attempt_budget(self._context, self._reader, self._step, self._workflow)

    @cached_property
    def _values(self) -> dict[str, Any]:
        """What the step's expressions read."""
        return expression_values(self._context, self._reader, self._step, self._workflow)

    def resolve(self, value: Any, field: str) -> Any:  # noqa: ANN401  # any JSON value
        """Return ``value`` with the expressions in its strings, at any depth, evaluated once.

        :param field: dotted path of the value, for the error.
        """
        return resolve(value, field, lambda: self._values)

    def check_parameters(self, parameters: Mapping[str, Any]) -> None:
        """Check resolved parameters against the action's spec.

        :raises WorkflowError: in phase ``INPUT_RESOLUTION``, with every problem.
        """
        problems = parameter_problems(self._spec, parameters)
        if problems:
            field, _ = problems[0]
            raise WorkflowError(
                "; ".join(f"{self._spec.name}: {text}" for _, text in problems),
                phase=Phase.INPUT_RESOLUTION.value,
                field=field,
            )

    def run(self, action: Callable[[], Any], *, on_cut: Callable[[], None]) -> dict[str, Any]:
        """Carry out the action within its time and return its checked output.

        :param on_cut: stops what the action has started, when its time is up.
        """
        with self.failures_recorded():
            self._phase = Phase.EXECUTION
            result = self._within_budget(action, on_cut)
            self._phase = Phase.RESULT_VALIDATION
            return self._checked_output(result)

    def resume(
        self,
        action: Callable[[], Any],
        event: Mapping[str, Any] | None,
        *,
        on_cut: Callable[[], None],
    ) -> dict[str, Any]:
        """Go on after a deferral, unless it ended because the step's time was up.

        :param event: the arguments that the deferral comes back with.
        """
        if not is_time_up(event):
            return self.run(action, on_cut=on_cut)

        def give_up() -> NoReturn:
            raise Interrupted

        return self.run(give_up, on_cut=on_cut)

    def _checked_output(self, result: object) -> dict[str, Any]:
        return step_output(
            result,
            wraps_result=self._spec.wraps_result,
            max_bytes=settings.max_output_bytes(),
        )

    def _within_budget(self, action: Callable[[], Any], on_cut: Callable[[], None]) -> Any:  # noqa: ANN401  # any result
        budget = self._budget
        try:
            with interrupt_after(budget.seconds_left(time.time())):
                return action()
        except Interrupted:
            try:
                on_cut()
            except Exception:
                log.exception("Could not stop what the action had started")
            raise budget.exceeded() from None
        except STEERING as error:
            raise WorkflowError(
                f"this operator steers the run by itself ({type(error).__name__}), which would "
                "pass by the workflow's order and hooks; use `if` on the steps instead",
                phase=Phase.EXECUTION.value,
                retryable=False,
            ) from error
        except TaskDeferred as deferred:
            hold_deferral(deferred, budget, time.time())
            raise
        except AirflowRescheduleException as reschedule:
            hold_reschedule(reschedule, time.time())
            raise

    @contextmanager
    def failures_recorded(self) -> Iterator[None]:
        """Store the record of a failure before Airflow learns of it.

        :raises AirflowFailException: in place of a failure that no further attempt can mend.
        """
        try:
            yield
        except CONTROL_FLOW:
            raise
        except FAILURES as error:
            has_tries = self._ti.try_number <= self._ti.max_tries
            is_refused = has_tries and self._is_retry_refused(error)
            self._store(error, resolution="retry" if has_tries and not is_refused else "fail")
            if is_refused:
                raise AirflowFailException(error_message(error)) from error
            raise

    def _is_retry_refused(self, error: BaseException) -> bool:
        """Whether another attempt is of no use, or would start after the deadline."""
        if isinstance(error, WorkflowError | ActionError) and not error.retryable:
            return True
        retry = self._step["retry"]
        attempt = attempt_number(retry, self._ti.try_number, self._ti.max_tries)
        next_start = time.time() + retry_delay(retry, attempt).total_seconds() if retry else 0.0
        return not self._budget.allows_start(next_start)

    def _store(self, error: BaseException, *, resolution: str) -> None:
        record = error_record(
            error,
            step=self._step["name"],
            phase=self._phase,
            try_number=self._ti.try_number,
            resolution=resolution,
        )
        log.error("Step %s failed: %s in %s", record.step, record.type, record.phase)
        self._ti.xcom_push(key=run_reader.ERROR, value=record.to_data())
        if isinstance(error, ActionError) and error.output is not None:
            try:
                output = self._checked_output(error.output)
            except MantleError as refused:
                log.warning("What the failed action had produced is lost: %s", refused)
            else:
                self._ti.xcom_push(key=run_reader.FAILED_OUTPUT, value=output)
