"""Whether a step runs, decided at its start (LANGUAGE, "Failure keys", rows 2, 4 and 5)."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, NoReturn

from airflow.sdk.exceptions import AirflowSkipException

from mantle_provider.lifecycle import (
    CONDITION,
    DEPENDENCY,
    NOT_TAKEN,
    REJECTED,
    ErrorRecord,
    Phase,
    first_fatal,
)
from mantle_provider.operators.conditions import holds
from mantle_provider.operators.fail_fast import fail_fast_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from airflow.sdk.definitions.context import Context

    from mantle_provider.operators.budget import Budget
    from mantle_provider.operators.entry import Entry
    from mantle_provider.operators.run_reader import RunReader


class StepSkipped(AirflowSkipException):
    """A step does not run.

    :param record: why not: its condition, or how another step or the whole run has gone.
    """

    def __init__(self, record: ErrorRecord) -> None:
        super().__init__(record.message)
        self.record = record


class Gate:
    """Decides for one step whether it runs.

    The gate and ``if`` are asked once per run of the step, not again for a retry or after a
    deferral; the answer is kept in Airflow's task state store, which survives both (AIRFLOW 22c).
    What can end a running step is asked each time.
    """

    def __init__(
        self,
        context: Context,
        reader: RunReader,
        step: Mapping[str, Any],
        workflow: Mapping[str, Any],
        entry: Entry,
    ) -> None:
        self._ti = context["ti"]
        self._store = context["task_state_store"]
        self._reader = reader
        self._step = step
        self._workflow = workflow
        self._entry = entry

    def decide(self, budget: Budget, now: float, values: Callable[[], Mapping[str, Any]]) -> None:
        """Return when the step runs.

        :param values: gives what the condition reads.
        :raises StepSkipped: a step before this one ended so that this one may not run,
            or its ``if`` is false.
        :raises WorkflowError: the time is over, another step failed under ``fail_fast``, or the
            condition cannot be evaluated.
        """
        is_hook = self._step["block"] != "steps"
        if is_hook and self._workflow["reject_above"] is not None:
            rejection = self._reader.rejection()
            if rejection:
                self._skip(REJECTED, rejection)
        # A step that comes back from a wait is ended where its action can be stopped as well.
        if not self._entry.is_resumed:
            budget.check_start(now, is_first=self._entry.is_first)
            if self._workflow["fail_fast"] and not is_hook:
                self._check_fail_fast()
        is_conditional = self._step["is_gated"] or self._step["condition"] is not None
        key = f"mantle_decided_{self._entry.first_try}"
        if is_conditional and self._store.get(key) is None:
            self._check_dependencies()
            self._check_condition(values)
            self._store.set(key, value=True)

    def _check_fail_fast(self) -> None:
        reader = self._reader
        step = first_fatal(reader.graph, reader.step_states(), reader.ways_taken())
        if step is not None:
            is_first = self._entry.is_first
            raise fail_fast_error(step, Phase.EDGE_CONDITION if is_first else Phase.EXECUTION)

    def _check_dependencies(self) -> None:
        if not self._step["is_gated"]:
            return
        standing = self._reader.judge().standings[self._step["name"]]
        if standing.is_not_taken:
            self._skip(NOT_TAKEN, "no step went to this one")
        if standing.blocker is not None:
            # Under `order: listed` it need not be a dependency, nor have failed by itself.
            before = f'step "{standing.blocker}", which comes before this one'
            self._skip(DEPENDENCY, f"{before}, did not end well")

    def _check_condition(self, values: Callable[[], Mapping[str, Any]]) -> None:
        condition = self._step["condition"]
        if condition is None:
            return
        is_true = holds(
            condition,
            values(),
            "`if`",
            phase=Phase.EDGE_CONDITION.value,
            field="if",
            expression=condition,
        )
        if not is_true:
            self._skip(CONDITION, f"`if` is false: {condition}", condition)

    def _skip(self, kind: str, message: str, expression: str | None = None) -> NoReturn:
        record = ErrorRecord(
            phase=Phase.EDGE_CONDITION.value,
            step=self._step["name"],
            message=message,
            type=kind,
            try_number=self._ti.try_number,
            at=datetime.now(timezone.utc).isoformat(),
            expression=expression,
        )
        raise StepSkipped(record)
