"""Callbacks, listeners and operators of the tests, which write down what they are told."""

from __future__ import annotations

import time

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowSkipException, TaskDeferred

from mantle_provider import StepCallbacks, WorkflowListener

HEARD: list[tuple] = []
"""What was told since the test began, oldest first."""


def noting(context):
    context.properties["lock"] = {"name": "orders"}
    return context.inputs


def about(context):
    return [context.run_id, context.workflow, context.version, context.step, context.inputs]


def refuse(context):
    raise RuntimeError(f"not today: {context.step} of {context.workflow}")


def with_default(context="mine"):
    return type(context).__name__


def anything(**kwargs):
    return sorted(kwargs)


def read_outputs(context):
    return {"n": context.outputs["a"]["n"], "names": list(context.outputs)}


def skip():
    raise AirflowSkipException("nothing to do")


def step_finished(succeeded, context):
    HEARD.append(("step", context.step, succeeded))


def step_finished_alone(succeeded):
    HEARD.append(("alone", succeeded))


def step_finished_badly(succeeded):
    raise RuntimeError(f"badly, {succeeded}")


def step_finished_with_a_wait(succeeded):
    raise TaskDeferred(trigger=None, method_name="execute")


async def step_finished_elsewhere(succeeded):
    HEARD.append(("elsewhere", succeeded))


def step_finished_with_anything(**told):
    HEARD.append(("anything", sorted(told)))


def step_finished_much_later():
    time.sleep(30)


def step_finished_with_a_note(context):
    context.properties["finished"] = context.step


def workflow_finished(context, state):
    HEARD.append(("workflow", context.run_id, state.status, dict(state.properties)))


def workflow_finished_badly(state):
    raise ValueError(f"badly, {state.status}")


def workflow_finished_with_a_note(context):
    context.properties["told"] = True


class Journal(WorkflowListener):
    def on_workflow_started(self, instance):
        HEARD.append(("started", instance.workflow, dict(instance.inputs)))
        instance.inputs["changed"] = True

    def on_node_entered(self, instance, node):
        HEARD.append(("entered", node.id, dict(instance.inputs)))

    def on_node_completed(self, instance, node, output):
        HEARD.append(("completed", node.id, node.action, node.block, output))

    def on_workflow_completed(self, instance, state):
        HEARD.append(("workflow completed", dict(state.properties)))

    def on_workflow_failed(self, instance, state):
        HEARD.append(("workflow failed", state.status, state.error))


class Broken:
    def on_workflow_started(self, instance):
        raise RuntimeError("no start")

    on_node_entered = on_node_completed = on_workflow_completed = None

    def on_workflow_failed(self, instance, state):
        raise SystemExit(3)


JOURNAL = Journal()


class Locking(StepCallbacks, BaseOperator):
    """Takes a lock and gives it back when its step or the workflow has ended."""

    template_fields = ("lock",)

    def __init__(self, *, lock, fails=False, **kwargs):
        super().__init__(**kwargs)
        self.lock = lock
        self.fails = fails

    def execute(self, context):
        if self.fails:
            raise RuntimeError("no lock")
        return {"lock": self.lock}

    def on_finish(self, succeeded):
        HEARD.append(("operator", self.lock, succeeded))

    def on_workflow_finish(self, state):
        HEARD.append(("operator and workflow", self.lock, state.status))


class Plain(BaseOperator):
    """Somebody else's operator with a method of the same name."""

    def execute(self, context):
        return {}

    def on_finish(self):
        raise AssertionError
