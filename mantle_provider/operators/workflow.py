"""Actions on other workflows."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType
from airflow.sdk.execution_time.comms import ErrorResponse, TriggerDagRun

from mantle_provider.errors import ActionError, ResultNotCompletedError
from mantle_provider.operators.base import StepOperator
from mantle_provider.operators.child_run import child_reader
from mantle_provider.operators.run_reader import CHILD_RUN
from mantle_provider.triggers.child_run import ChildRunTrigger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context

    from mantle_provider.triggers.child_run import ChildRunEnded

_ACTION = "workflow/run"
_TRIGGER = "trigger"
_MAX_DEPTH = 10
"""Mantle's ``max_workflow_depth``: a workflow may be started by one that was started, and so on."""

_MAX_RUN_ID = 250
"""Length of run ids (``airflow.models``, column ``StringID``)."""

_REFUSED_INPUT = re.compile(r"Invalid input for param (?P<name>\w+)")
"""How the message of Airflow's ``ParamValidationError`` begins; its rest may hold the value."""


class WorkflowRunOperator(StepOperator):
    """``workflow/run``: start a run of another workflow, and wait for its end without a worker.

    Another Dag than a workflow may be run, too. See ``docs/how-to/run-a-child-workflow.md``.
    """

    def act(self, context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Start the run; without ``wait`` return ``{"run_id": ..., "status": "started"}``.

        :raises ActionError: when the run cannot be started, with what to do about it.
        """
        workflow = parameters["workflow"]
        conf = self._conf(context, parameters)
        self._check_dag(context, workflow)
        run_id = self._start(context, workflow, conf)
        context["ti"].xcom_push(key=CHILD_RUN, value=run_id)
        if parameters.get("wait") is not False:
            trigger = ChildRunTrigger(dag_id=workflow, run_id=run_id)
            self.defer(trigger=trigger, method_name="take_result")
        return {"run_id": run_id, "status": "started"}

    def take_result(self, context: Context, event: ChildRunEnded) -> dict[str, Any]:
        """Return ``{"run_id": ..., "status": "completed", "steps": ...}`` of the ended run.

        With ``"result"``, if the workflow has one and the step that gives it completed.

        :raises ActionError: when the run did not complete, with the same as output.
        """
        workflow, run_id = event["dag_id"], event["run_id"]
        if event["state"] is None:
            raise _failure(f'run "{run_id}" of workflow "{workflow}" was deleted')
        reader = child_reader(context["ti"], workflow, run_id)
        values = {"steps": reader.steps()}
        with suppress(ResultNotCompletedError):
            values["result"] = reader.result()
        if event["state"] == "success":
            return {"run_id": run_id, "status": "completed", **values}
        status = reader.failed_status()
        raise ActionError(
            f'{_ACTION}: child workflow "{workflow}" {status.replace("_", " ")}: {reader.cause()}',
            action=_ACTION,
            result={"run_id": run_id, "status": status, **values},
        )

    def _conf(self, context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the run is started with: its inputs, and who starts it."""
        inputs = parameters.get("inputs") or {}
        _check_inputs(inputs)
        ti = context["ti"]
        trigger = {
            "type": "workflow",
            "workflow": ti.dag_id,
            "run_id": ti.run_id,
            "step": self.mantle_step["name"],
            "depth": _checked_depth(context["dag_run"].conf),
        }
        version = parameters.get("version")
        if version is not None:
            trigger["version"] = version
        return {**inputs, _TRIGGER: trigger}

    def _check_dag(self, context: Context, workflow: str) -> None:
        try:
            dag = context["ti"].get_dag(workflow)
        except AirflowRuntimeError as error:
            raise _explained(error, workflow) from None
        if dag.is_paused:
            raise _failure(
                f'workflow "{workflow}" is paused, so that its run would wait for ever; '
                "unpause it in the Airflow UI"
            )

    def _start(self, context: Context, workflow: str, conf: dict[str, Any]) -> str:
        """Start the run as Airflow's task runner does for ``TriggerDagRunOperator``."""
        # Airflow sets the name when it starts the process, after this module may be imported.
        from airflow.sdk.execution_time.task_runner import SUPERVISOR_COMMS  # noqa: PLC0415

        ti = context["ti"]
        run_id = _run_id(ti.dag_id, ti.task_id, str(ti.id))
        note = f"Started by step {ti.task_id} in run {ti.run_id} of workflow {ti.dag_id}."
        try:
            answer = SUPERVISOR_COMMS.send(
                TriggerDagRun(dag_id=workflow, run_id=run_id, conf=conf, note=note)
            )
        except AirflowRuntimeError as error:
            raise _explained(error, workflow) from None
        is_known = (
            isinstance(answer, ErrorResponse) and answer.error == ErrorType.DAGRUN_ALREADY_EXISTS
        )
        verb = "had been" if is_known else "was"
        self.log.info("run %s of workflow %s %s started", run_id, workflow, verb)
        return run_id


def _check_inputs(inputs: Mapping[str, Any]) -> None:
    """Refuse inputs that no run can be started with."""
    if _TRIGGER in inputs:
        raise _failure(f'inputs must not hold the reserved name "{_TRIGGER}"', is_final=True)
    for name, value in inputs.items():
        if not _is_json(value):
            raise _failure(f'input "{name}" holds a value that JSON does not have')


def _is_json(value: object) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _checked_depth(conf: Mapping[str, Any] | None) -> int:
    """Return how many runs stand above the one to be started, the topmost included."""
    trigger = (conf or {}).get(_TRIGGER)
    own = trigger.get("depth") if isinstance(trigger, dict) else None
    depth = (own if isinstance(own, int) else 0) + 1
    if depth > _MAX_DEPTH:
        raise _failure(
            f"max workflow depth {_MAX_DEPTH} exceeded (current depth: {depth})", is_final=True
        )
    return depth


def _run_id(dag_id: str, task_id: str, try_id: str) -> str:
    """Return the id of the run that one try of a step starts, however often it asks.

    Airflow gives each try of a task an id of its own, kept over deferrals and never used again.
    A try's number would not do: it begins anew when a deleted run is made again, and the step
    would take an old run for its own.
    """
    separator = "__"
    longest = _MAX_RUN_ID - len(separator) - len(try_id)
    return f"{dag_id}.{task_id}"[:longest] + separator + try_id


def _explained(error: AirflowRuntimeError, workflow: str) -> ActionError:
    """Return Airflow's refusal of a run in our words.

    Airflow's own may hold the values of inputs, which may be secret, so that it is no cause to
    keep in the record of the failure.
    """
    answer = error.error.detail or {}
    status = answer.get("status_code")
    if status == HTTPStatus.NOT_FOUND:
        return _failure(f'workflow "{workflow}" not found')
    reason = _refusal(answer) if status == HTTPStatus.BAD_REQUEST else str(error)
    return _failure(f'workflow "{workflow}" cannot be run: {reason}')


def _refusal(answer: Mapping[str, Any]) -> str:
    """Return Airflow's reason to refuse a run, without the values of inputs."""
    detail = (answer.get("detail") or {}).get("detail") or {}
    message = str(detail.get("message", ""))
    refused = _REFUSED_INPUT.search(message)
    if refused:
        name = refused["name"]
        return f'its input "{name}" is missing, of another type, or none of its choices'
    return message or "Airflow refused it without a reason"


def _failure(message: str, *, is_final: bool = False) -> ActionError:
    return ActionError(f"{_ACTION}: {message}", action=_ACTION, retryable=not is_final)
