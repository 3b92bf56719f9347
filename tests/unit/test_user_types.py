"""What users derive their own classes from, and the frozen values that these get."""

from __future__ import annotations

import dataclasses

import pytest

from mantle_provider.callbacks import StepCallbacks, overrides
from mantle_provider.lifecycle import WorkflowState
from mantle_provider.listeners import WorkflowListener
from mantle_provider.snapshots import NodeResult, WorkflowInstance, WorkflowNode


class Finishing(StepCallbacks):
    def on_finish(self, succeeded):
        pass


class Inheriting(Finishing):
    pass


class Foreign:
    def on_finish(self):
        pass


@pytest.mark.parametrize(
    ("found", "method", "expected"),
    [
        (StepCallbacks, "on_finish", False),
        (Finishing, "on_finish", True),
        (Finishing, "on_workflow_finish", False),
        (Inheriting, "on_finish", True),
        (Foreign, "on_finish", False),
    ],
)
def test_only_a_subclass_that_overrides_a_method_wants_the_call(found, method, expected):
    assert overrides(found, method) is expected


def test_the_methods_of_the_bases_do_nothing():
    state = WorkflowState("completed")
    instance = make_instance({})
    node = WorkflowNode("a", "python/call")
    listener, callbacks = WorkflowListener(), StepCallbacks()
    assert [
        callbacks.on_finish(succeeded=True),
        callbacks.on_workflow_finish(state),
        listener.on_workflow_started(instance),
        listener.on_node_entered(instance, node),
        listener.on_node_completed(instance, node, {}),
        listener.on_workflow_completed(instance, state),
        listener.on_workflow_failed(instance, state),
    ] == [None] * 7


def make_instance(inputs):
    return WorkflowInstance("run", "flow", "abc", inputs, 1.5)


def test_what_a_snapshot_holds_is_a_copy():
    inputs = {"list": [1]}
    output = {"list": [2]}
    instance, result = make_instance(inputs), NodeResult(output)
    instance.inputs["list"].append(3)
    result.output["list"].append(3)
    assert (inputs, output) == ({"list": [1]}, {"list": [2]})


def test_a_snapshot_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        make_instance({}).run_id = "other"
