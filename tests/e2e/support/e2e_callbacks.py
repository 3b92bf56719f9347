"""Callbacks and listeners of the suite's workflows: they post what they are told."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any, NoReturn

from airflow.sdk import BaseOperator, Connection

from mantle_provider import StepCallbacks, WorkflowListener

if TYPE_CHECKING:
    from mantle_provider import WorkflowContext, WorkflowInstance, WorkflowNode, WorkflowState


def post(path: str, body: object) -> None:
    """Post something to the test service, as a callback of a user's would."""
    service = Connection.get("demo_api")
    request = urllib.request.Request(  # the test service
        f"http://{service.host}:{service.port}/echo/{path}",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # the same
        answer.read()


def take_lock(context: WorkflowContext) -> str:
    """Note a lock for those who come later."""
    context.properties["lock"] = f"lock of {context.workflow}"
    return context.step or ""


def refuse(context: WorkflowContext) -> NoReturn:
    """Fail before the start."""
    raise RuntimeError(f"{context.workflow} may not start")


def fail(context: WorkflowContext) -> NoReturn:
    """Fail as an action does, after it has seen that its run is under way."""
    raise RuntimeError(f"no luck while {context.state.status}")


def step_finished(succeeded: bool, context: WorkflowContext) -> None:  # noqa: FBT001  # by keyword
    """Post how a step ended."""
    post(f"{context.workflow}/step", {"step": context.step, "succeeded": succeeded})


def workflow_finished(context: WorkflowContext, state: WorkflowState) -> None:
    """Post how the workflow ended."""
    nodes = {name: node.status.value for name, node in state.nodes.items()}
    causes = {
        name: node.failure_cause.message for name, node in state.nodes.items() if node.failure_cause
    }
    post(
        f"{context.workflow}/workflow",
        {
            "status": state.status,
            "nodes": nodes,
            "causes": causes,
            "properties": dict(state.properties),
        },
    )


def workflow_finished_badly(context: WorkflowContext, state: WorkflowState) -> NoReturn:
    """Post how the workflow ended, then fail."""
    workflow_finished(context, state)
    raise RuntimeError("cannot clean up")


class Journal(WorkflowListener):
    """Posts everything it hears to one path, so that the order can be seen."""

    def on_workflow_started(self, instance: WorkflowInstance) -> None:
        """Post it."""
        self._post(instance, "started")

    def on_node_entered(self, instance: WorkflowInstance, node: WorkflowNode) -> None:
        """Post it."""
        self._post(instance, f"entered {node.id}")

    def on_node_completed(
        self, instance: WorkflowInstance, node: WorkflowNode, output: Any
    ) -> None:
        """Post it."""
        self._post(instance, f"completed {node.id} {json.dumps(output)}")

    def on_workflow_completed(self, instance: WorkflowInstance, state: WorkflowState) -> None:
        """Post it."""
        self._post(instance, f"workflow {state.status}")

    on_workflow_failed = on_workflow_completed

    def _post(self, instance: WorkflowInstance, text: str) -> None:
        post(f"{instance.workflow}/journal", text)


class Deaf(WorkflowListener):
    """Fails at each call."""

    def on_workflow_started(self, instance: WorkflowInstance) -> NoReturn:
        """Fail."""
        raise RuntimeError(f"deaf to {instance.run_id}")

    def on_node_entered(self, instance: WorkflowInstance, node: WorkflowNode) -> NoReturn:
        """Fail."""
        raise RuntimeError(f"deaf to {node.id} of {instance.run_id}")

    def on_workflow_completed(self, instance: WorkflowInstance, state: WorkflowState) -> NoReturn:
        """Fail."""
        raise RuntimeError(f"deaf to {instance.run_id}, {state.status}")


class Locking(StepCallbacks, BaseOperator):
    """Posts when its step and its workflow have ended."""

    template_fields = ("path",)

    def __init__(self, *, path: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.path = path

    def execute(self, context: Any) -> dict[str, str]:
        """Give out the path."""
        return {"path": self.path}

    def on_finish(self, succeeded: bool) -> None:  # noqa: FBT001  # by keyword
        """Post how the step ended."""
        post(self.path, {"operator": succeeded})

    def on_workflow_finish(self, state: WorkflowState) -> None:
        """Post how the workflow ended."""
        post(f"{state.properties['lock'].rpartition(' ')[2]}/operator", {"operator": state.status})
