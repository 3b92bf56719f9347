"""Looking from a step whether another one has failed for good."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from mantle_provider.lifecycle import ErrorRecord, GraphNode, WorkflowGraph
from mantle_provider.triggers import failure_watch
from mantle_provider.triggers.failure_watch import FailureWatch

RECOVERED = ErrorRecord(
    "EXECUTION", "a", "no", "ValueError", 1, "", resolution="transition", target="repair"
)


@dataclass
class Tasks:
    """Answers for a run as the supervisor does, and counts how often states were asked for."""

    states: dict[str, str | None] = field(default_factory=dict)
    asked: int = 0

    def get_ti_count(self, *, dag_id, run_ids, states):
        return sum(state in states for state in self.states.values())

    def get_task_states(self, *, dag_id, run_ids):
        self.asked += 1
        return {run_ids[0]: dict(self.states)}


@pytest.fixture
def tasks(monkeypatch):
    class FakeXCom:
        @staticmethod
        def get_one(*, key, dag_id, run_id, task_id):
            return RECOVERED.to_data()

    monkeypatch.setattr(failure_watch, "XCom", FakeXCom)
    return Tasks()


def watch_of(tasks, *nodes):
    return FailureWatch(tasks, "test", "r", WorkflowGraph(nodes))


def test_states_are_asked_for_only_when_more_has_failed(tasks):
    watch = watch_of(tasks, GraphNode("a", continue_on_error=True), GraphNode("b"))
    for states, found, asked in (
        ({"a": "running", "b": "running"}, None, 0),
        ({"a": "failed", "b": "running"}, None, 1),
        ({"a": "failed", "b": "running"}, None, 1),
        ({"a": "failed", "b": "failed"}, "b", 2),
    ):
        tasks.states = states
        assert (watch.look(), tasks.asked) == (found, asked)


def test_a_recovery_that_is_cancelled_makes_its_failure_fatal_without_another_one(tasks):
    watch = watch_of(
        tasks,
        GraphNode("a", transitions=("repair",)),
        GraphNode("x"),
        GraphNode("repair", dependencies=("x",), on_dep_failure="cancel_branch"),
    )
    for states, found in (
        ({"a": "failed", "x": "running", "repair": None}, None),
        ({"a": "failed", "x": "failed", "repair": None}, None),
        ({"a": "failed", "x": "failed", "repair": "skipped"}, "a"),
    ):
        tasks.states = states
        assert watch.look() == found


def test_a_recovery_that_has_ended_well_is_not_looked_at_again(tasks):
    watch = watch_of(tasks, GraphNode("a", transitions=("repair",)), GraphNode("repair"))
    tasks.states = {"a": "failed", "repair": "success"}
    assert [watch.look(), watch.look(), tasks.asked] == [None, None, 1]
