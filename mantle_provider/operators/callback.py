"""The task that tells who wants to know how a workflow ended, after its hooks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from mantle_provider.callbacks import overrides
from mantle_provider.lifecycle import ERROR, Phase, WorkflowGraph
from mantle_provider.operators.artifacts import remove_artifacts
from mantle_provider.operators.context import WorkflowContext
from mantle_provider.operators.failures import error_record
from mantle_provider.operators.hook_story import log_hooks
from mantle_provider.operators.listening import Listeners
from mantle_provider.operators.masking import mask_environment
from mantle_provider.operators.run_reader import RunReader
from mantle_provider.operators.user_code import call_path, contained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from airflow.sdk.definitions.context import Context

    from mantle_provider.lifecycle import WorkflowState


class WorkflowCallbackOperator(BaseOperator):
    """Calls the operators' ``on_workflow_finish``, ``callbacks.on_finish`` and the listeners.

    Last it removes the artifacts that are not to outlive the run, so that all of these can read
    them. One that fails does not keep the others from being called. Then the task fails, so that
    it is seen; the run's colour is the outcome's nevertheless.

    :param mantle_workflow: what the plan says about the whole workflow.
    """

    def __init__(self, *, mantle_workflow: Mapping[str, Any], **kwargs: Any) -> None:  # noqa: ANN401  # BaseOperator's arguments
        super().__init__(**kwargs)
        self.mantle_workflow = mantle_workflow

    def execute(self, context: Context) -> None:
        """Call everybody, in the order of the class's description.

        :raises AirflowSkipException: when the run was refused at its start.
        :raises AirflowFailException: when a call failed; its record is XCom ``mantle_error``.
        """
        mask_environment(self.mantle_workflow.get("env", {}))
        workflow = self.mantle_workflow
        reader = RunReader(context["ti"], WorkflowGraph.from_data(workflow["graph"]))
        if workflow["reject_above"] is not None and (rejection := reader.rejection()):
            raise AirflowSkipException(rejection)
        log_hooks(reader, self._hooks())
        ours = WorkflowContext(context)
        state = ours.state
        calls = [*self._operator_calls(state), *self._callback(ours, state)]
        told = [contained(call, what, workflow=self.dag_id) for what, call in calls]
        errors = [f"{what}: {error}" for (what, _), error in zip(calls, told, strict=True) if error]
        if workflow["listeners"]:
            event = "on_workflow_completed" if state.is_succeeded else "on_workflow_failed"
            # With what the callback has noted just now.
            state = replace(state, properties=dict(ours.properties))
            errors += Listeners(context, workflow).tell(event, state)
        errors += remove_artifacts(self.dag_id, ours.run_id, completed=state.is_succeeded)
        if errors:
            self._fail(context, "; ".join(errors))

    def _hooks(self) -> Iterator[tuple[str, str]]:
        """Return block and name of each hook of the workflow, in the order of the file."""
        for task in self.dag.tasks:
            step = getattr(task, "mantle_step", None)
            if step and step["block"] != "steps":
                yield step["block"], step["name"]

    def _operator_calls(self, state: WorkflowState) -> Iterator[tuple[str, Callable[[], Any]]]:
        operators: list[Any] = self.dag.tasks
        for operator in operators:
            if overrides(type(operator), "on_workflow_finish"):
                what = f"on_workflow_finish of the operator of step {operator.task_id}"
                yield what, partial(operator.on_workflow_finish, state=state)

    def _callback(
        self, context: WorkflowContext, state: WorkflowState
    ) -> Iterator[tuple[str, Callable[[], Any]]]:
        path = self.mantle_workflow["on_finish"]
        if path is not None:
            yield "callbacks.on_finish", partial(call_path, path, context=context, state=state)

    def _fail(self, context: Context, message: str) -> None:
        ti = context["ti"]
        error = AirflowFailException(message)
        record = error_record(
            error, step=self.task_id, phase=Phase.EXECUTION, try_number=ti.try_number
        )
        ti.xcom_push(key=ERROR, value=record.to_data())
        raise error
