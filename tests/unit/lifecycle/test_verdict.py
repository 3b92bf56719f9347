import json
from dataclasses import replace

import pytest

from mantle_provider.lifecycle import (
    CONDITION,
    DEPENDENCY,
    WORKFLOW_TIMEOUT,
    ErrorRecord,
    GraphNode,
    Judge,
    NodeStatus,
    Phase,
    WorkflowGraph,
    WorkflowNodeState,
    WorkflowState,
    verdict,
)

KILLED = "killed, lost or marked failed"


def is_blocked(graph, states, name):
    return Judge(graph, states).standings[name].blocker is not None


def make_record(step, message="boom", *, type="ActionError", phase=Phase.EXECUTION):  # noqa: A002  # the field's name
    return ErrorRecord(
        phase=phase.value,
        step=step,
        message=message,
        type=type,
        try_number=1,
        at="2026-01-01T00:00:00Z",
    )


def make_graph(*nodes, order=None):
    """Build a graph from ``"c: a b"`` texts; a name with ``?`` is ``continue_on_error``."""
    built = []
    for text in nodes:
        name, _, dependencies = text.partition(":")
        above = built[-1].name if order == "listed" and built else None
        built.append(
            GraphNode(
                name=name.rstrip("?"),
                dependencies=tuple(dependencies.split()),
                continue_on_error=name.endswith("?"),
                after=above,
            )
        )
    return WorkflowGraph(tuple(built))


def statuses(state):
    return {name: node.status.value for name, node in state.nodes.items()}


def test_all_successful_steps_complete_the_workflow():
    graph = make_graph("a", "b: a")

    state = verdict(graph, {"a": "success", "b": "success"}, {}, ended_at={"a": 1.0, "b": 2.0})

    assert state == WorkflowState(
        status="completed",
        nodes={
            "a": WorkflowNodeState("a", NodeStatus.COMPLETED, ended_at=1.0),
            "b": WorkflowNodeState("b", NodeStatus.COMPLETED, ended_at=2.0),
        },
    )
    assert state.is_succeeded


def test_a_failed_step_fails_the_workflow_and_cancels_what_depends_on_it():
    graph = make_graph("a", "b: a", "c")
    record = make_record("a")
    states = {"a": "failed", "b": "upstream_failed", "c": "success"}

    assert verdict(graph, states, {"a": record}) == WorkflowState(
        status="failed",
        nodes={
            "a": WorkflowNodeState("a", NodeStatus.FAILED, effect="fatal", failure_cause=record),
            "b": WorkflowNodeState(
                "b", NodeStatus.CANCELLED, reason='step "a" failed', cancelled_by="a"
            ),
            "c": WorkflowNodeState("c", NodeStatus.COMPLETED),
        },
        failed_step="a",
        failed_steps=("a",),
        error="boom",
    )


def test_a_failed_step_without_a_record_was_killed():
    state = verdict(make_graph("a"), {"a": "failed"}, {})

    assert state.nodes["a"] == WorkflowNodeState(
        "a", NodeStatus.KILLED, effect="fatal", reason=KILLED
    )
    assert (state.failed_step, state.error) == ("a", KILLED)


def test_a_record_counts_only_while_the_step_is_failed():
    """A step that a user marked success keeps the record of its failure in XCom (DESIGN 3.6)."""
    state = verdict(make_graph("a"), {"a": "success"}, {"a": make_record("a")})

    assert state.nodes["a"] == WorkflowNodeState("a", NodeStatus.COMPLETED)
    assert state.status == "completed"


def test_a_step_whose_condition_was_false_is_skipped_and_resolved():
    graph = make_graph("a", "b: a")
    record = make_record("a", type=CONDITION, phase=Phase.EDGE_CONDITION)

    state = verdict(graph, {"a": "skipped", "b": "success"}, {"a": record})

    assert state.nodes["a"] == WorkflowNodeState("a", NodeStatus.SKIPPED, reason="condition")
    assert state.status == "completed"
    assert not is_blocked(graph, {"a": "skipped"}, "b")


def test_a_step_may_be_skipped_by_its_own_action():
    record = make_record("a", "no need", type="action")

    state = verdict(make_graph("a"), {"a": "skipped"}, {"a": record})

    assert state.nodes["a"] == WorkflowNodeState(
        "a", NodeStatus.SKIPPED, reason="skipped by its action"
    )


def test_a_step_that_a_mark_of_the_run_skipped_did_not_run():
    """A clear of another step revives the run without it, which must not end green."""
    state = verdict(make_graph("a", "b"), {"a": "success", "b": "skipped"}, {})

    assert state.nodes["b"].status is NodeStatus.NOT_RUN
    assert (state.status, state.error) == ("failed", 'step "b" did not run')


def test_what_fail_fast_kept_from_starting_is_no_timeout():
    kept = stopped("b", phase=Phase.EDGE_CONDITION)

    state = verdict(make_graph("a", "b"), {"a": "success", "b": "failed"}, {"b": kept})

    assert (state.status, state.error) == ("failed", 'stopped: step "a" failed')


def test_a_tolerated_failure_does_not_fail_the_workflow_but_is_listed():
    graph = make_graph("a?", "b: a")
    record = make_record("a")

    state = verdict(graph, {"a": "failed", "b": "success"}, {"a": record})

    assert state == WorkflowState(
        status="completed",
        nodes={
            "a": WorkflowNodeState(
                "a", NodeStatus.FAILED, effect="tolerated", failure_cause=record
            ),
            "b": WorkflowNodeState("b", NodeStatus.COMPLETED),
        },
        failed_steps=("a",),
    )
    assert not is_blocked(graph, {"a": "failed"}, "b")


def test_a_skip_below_a_fatal_failure_is_a_cancellation_that_names_the_root():
    graph = make_graph("a", "b?", "c: a b", "d: c", "e: d")
    states = {"a": "failed", "b": "failed", "c": "skipped", "d": "skipped", "e": "skipped"}

    state = verdict(graph, states, {})

    assert statuses(state) == {
        "a": "KILLED",
        "b": "KILLED",
        "c": "CANCELLED",
        "d": "CANCELLED",
        "e": "CANCELLED",
    }
    assert state.nodes["e"].reason == 'step "a" failed'


def test_the_step_above_blocks_under_order_listed():
    graph = make_graph("a", "b", "c?", "d", order="listed")

    assert is_blocked(graph, {"a": "failed"}, "b")
    assert is_blocked(graph, {"a": "failed", "b": "skipped"}, "c")
    assert not is_blocked(graph, {"a": "success", "b": "skipped", "c": "failed"}, "d")


@pytest.mark.parametrize(
    "state",
    [
        None,
        "removed",
        "scheduled",
        "queued",
        "running",
        "restarting",
        "up_for_retry",
        "up_for_reschedule",
        "deferred",
        "awaiting_input",
    ],
)
def test_a_step_that_has_not_ended_is_not_run_and_the_workflow_failed(state):
    graph = make_graph("a", "b: a")

    assert verdict(graph, {"a": "success", "b": state}, {}) == WorkflowState(
        status="failed",
        nodes={
            "a": WorkflowNodeState("a", NodeStatus.COMPLETED),
            "b": WorkflowNodeState("b", NodeStatus.NOT_RUN),
        },
        error='step "b" did not run',
    )
    assert not is_blocked(graph, {"a": state}, "b")


def test_a_step_without_any_state_is_not_run():
    assert verdict(make_graph("a"), {}, {}).error == 'step "a" did not run'


def test_an_upstream_failed_step_whose_dependencies_are_fine_did_not_run():
    """A user who marks a failed step success by hand leaves its dependents behind."""
    graph = make_graph("a", "b: a", "c: b")
    states = {"a": "success", "b": "upstream_failed", "c": "upstream_failed"}

    state = verdict(graph, states, {})

    assert (state.status, state.failed_step, state.error) == (
        "failed",
        None,
        'step "b" did not run',
    )
    assert [node.reason for node in state.nodes.values()] == [None, None, 'step "b" did not run']


def test_a_cancelled_step_that_nothing_blocks_any_more_did_not_run():
    """The same by hand as above, where the dependent was skipped by its gate: never green."""
    graph = make_graph("a", "b: a")
    record = make_record("b", type=DEPENDENCY, phase=Phase.EDGE_CONDITION)

    state = verdict(graph, {"a": "success", "b": "skipped"}, {"b": record})

    assert state.nodes["b"] == WorkflowNodeState("b", NodeStatus.CANCELLED)
    assert (state.status, state.error) == ("failed", 'step "b" did not run')


def test_the_first_cause_is_the_fatal_failure_that_ended_first():
    graph = make_graph("a", "b", "c?", "d")
    states = dict.fromkeys("abcd", "failed")
    records = {name: make_record(name, f"{name} broke") for name in "abcd"}

    state = verdict(graph, states, records, ended_at={"a": 4.0, "b": 2.0, "c": 1.0, "d": 3.0})

    assert state.failed_step == "b"
    assert state.error == "b broke"
    assert state.failed_steps == ("b", "c", "d", "a")


def test_equal_times_leave_the_topological_order():
    graph = make_graph("c: b", "b?", "a")
    states = dict.fromkeys("abc", "failed")

    state = verdict(graph, states, {}, ended_at=dict.fromkeys("abc", 7.0))

    assert state.failed_steps == ("c", "b", "a")


def test_unknown_times_leave_the_topological_order_after_the_known_ones():
    graph = make_graph("a", "b", "c")
    states = dict.fromkeys("abc", "failed")

    assert verdict(graph, states, {}).failed_steps == ("a", "b", "c")
    assert verdict(graph, states, {}, ended_at={"c": 1.0}).failed_steps == ("c", "a", "b")


def test_a_step_cut_by_the_deadline_times_the_workflow_out():
    graph = make_graph("a", "b", "c: b")
    states = {"a": "failed", "b": "failed", "c": "upstream_failed"}
    records = {name: make_record(name, type=WORKFLOW_TIMEOUT) for name in "ab"}

    state = verdict(graph, states, records, ended_at={"a": 2.0, "b": 1.0}, timeout_text="5m")

    assert (state.status, state.failed_step, state.error) == (
        "timed_out",
        "b",
        "workflow timed out after 5m",
    )
    assert state.nodes["c"].reason == 'step "b" failed'


def test_a_failure_at_the_deadline_is_the_deadlines():
    states = {"a": "failed"}

    before = verdict(make_graph("a"), states, {}, ended_at={"a": 299.9}, deadline=300.0)
    at = verdict(make_graph("a"), states, {}, ended_at={"a": 300.0}, deadline=300.0)

    assert (before.status, before.error) == ("failed", KILLED)
    assert (at.status, at.error) == ("timed_out", "workflow timed out")


def test_a_fatal_failure_before_the_deadline_keeps_the_status_failed():
    graph = make_graph("a", "b")
    records = {"a": make_record("a"), "b": make_record("b", type=WORKFLOW_TIMEOUT)}
    states = {"a": "failed", "b": "failed"}

    state = verdict(graph, states, records, ended_at={"a": 1.0, "b": 9.0}, deadline=9.0)

    assert (state.status, state.failed_step, state.error) == ("failed", "a", "boom")


def test_continue_on_error_is_not_asked_about_the_deadline():
    """LANGUAGE, "Failure keys", row 2: no other key is consulted."""
    record = make_record("a", type=WORKFLOW_TIMEOUT)

    state = verdict(make_graph("a?"), {"a": "failed"}, {"a": record}, timeout_text="1s")

    assert (state.status, state.nodes["a"].effect) == ("timed_out", "fatal")


def test_nodes_stand_in_the_order_of_the_file():
    graph = make_graph("c: b", "b: a", "a")

    assert list(verdict(graph, dict.fromkeys("abc", "success"), {}).nodes) == ["c", "b", "a"]


def test_a_verdict_survives_its_own_json():
    graph = make_graph("a", "b: a", "c?")
    states = {"a": "failed", "b": "upstream_failed", "c": "failed"}
    state = verdict(graph, states, {"a": make_record("a")}, ended_at={"a": 1.5})

    assert WorkflowState.from_data(state.to_data()) == state


def test_a_graph_survives_its_own_json():
    graph = make_graph("a?", "b: a", order="listed")

    assert WorkflowGraph.from_data(json.loads(json.dumps(graph.to_data()))) == graph


@pytest.mark.parametrize("order", ["graph", "listed"])
@pytest.mark.timeout(60)
def test_a_chain_of_steps_may_be_long(order):
    """Neither recursion nor quadratic time would come to an end here."""
    length = 20_000
    texts = (f"s{place}: s{place - 1}" if place else "s0" for place in range(length))
    graph = make_graph(*texts, order=order)
    states = {f"s{place}": "skipped" if place else "failed" for place in range(length)}
    assert verdict(graph, states, {}).nodes[f"s{length - 1}"].reason == 'step "s0" failed'
    assert is_blocked(graph, states, f"s{length - 1}")


def stopped(step, *, phase=Phase.EXECUTION):
    return make_record(step, type="FailFast", phase=phase, message='stopped: step "a" failed')


def test_a_step_that_fail_fast_stopped_is_killed_and_never_the_first_cause():
    graph = make_graph("a", "b")
    records = {"a": make_record("a"), "b": stopped("b")}
    state = verdict(graph, {"a": "failed", "b": "failed"}, records, ended_at={"b": 1.0, "a": 2.0})
    assert (state.failed_step, state.failed_steps) == ("a", ("a", "b"))
    assert state.nodes["b"].status is NodeStatus.KILLED
    assert state.nodes["b"].reason == 'stopped: step "a" failed'


def test_a_tolerant_step_that_fail_fast_stopped_is_not_tolerated():
    graph = make_graph("a", "b?")
    records = {"a": make_record("a"), "b": stopped("b")}
    state = verdict(graph, {"a": "failed", "b": "failed"}, records)
    assert state.nodes["b"].effect == "fatal"


@pytest.mark.parametrize("kind", ["FailFast", "WorkflowTimeout"])
def test_a_step_that_was_kept_from_starting_is_cancelled(kind):
    graph = make_graph("a", "b")
    kept = make_record("b", type=kind, phase=Phase.EDGE_CONDITION, message="not started")
    state = verdict(graph, {"a": "failed", "b": "failed"}, {"a": make_record("a"), "b": kept})
    node = state.nodes["b"]
    assert (node.status, node.effect, node.reason) == (NodeStatus.CANCELLED, None, "not started")
    assert (state.status, state.failed_step, state.failed_steps) == ("failed", "a", ("a",))


def test_a_deadline_that_only_kept_steps_from_starting_names_no_step():
    kept = make_record("a", type="WorkflowTimeout", phase=Phase.EDGE_CONDITION)
    state = verdict(make_graph("a"), {"a": "failed"}, {"a": kept}, timeout_text="5m")
    assert (state.status, state.failed_step) == ("timed_out", None)
    assert state.error == "workflow timed out after 5m"


def make_recovery(*, cut, at=2.0, phase=Phase.EXECUTION):
    """Build a run in which ``a`` failed, and its recovery ``repair`` was ended early."""
    nodes = (GraphNode("a", transitions=("repair",)), GraphNode("repair"), GraphNode("b"))
    went = replace(make_record("a"), resolution="transition", target="repair")
    records = {"a": went, "repair": make_record("repair", type=cut, phase=phase)}
    states = {"a": "failed", "repair": "failed", "b": "success"}
    return WorkflowGraph(nodes), states, records, {"a": 1.0, "repair": at}


def test_a_recovery_that_the_deadline_cuts_times_the_workflow_out():
    """Before the deadline nothing had failed for good."""
    graph, states, records, times = make_recovery(cut=WORKFLOW_TIMEOUT)

    state = verdict(graph, states, records, ended_at=times, timeout_text="5m")

    assert (state.status, state.error) == ("timed_out", "workflow timed out after 5m")
    assert (state.failed_step, state.failed_steps) == ("repair", ("repair", "a"))
    assert (state.nodes["a"].effect, state.nodes["repair"].effect) == ("fatal", "fatal")


def test_a_recovery_that_the_deadline_keeps_from_starting_times_the_workflow_out():
    graph, states, records, times = make_recovery(cut=WORKFLOW_TIMEOUT, phase=Phase.EDGE_CONDITION)

    state = verdict(graph, states, records, ended_at=times)

    assert (state.status, state.failed_steps) == ("timed_out", ("a",))
    assert state.nodes["repair"].status is NodeStatus.CANCELLED


def test_what_was_recovering_when_fail_fast_stopped_it_is_no_first_cause():
    graph, states, records, times = make_recovery(cut="FailFast", at=4.0)
    records["b"] = make_record("b", "b broke")

    state = verdict(graph, states | {"b": "failed"}, records, ended_at=times | {"b": 3.0})

    assert (state.failed_step, state.error) == ("b", "b broke")
    assert state.failed_steps == ("b", "a", "repair")


def test_what_was_kept_from_starting_has_not_failed_for_those_below():
    graph = make_graph("a", "b", "c: b")
    records = {"a": make_record("a"), "b": stopped("b", phase=Phase.EDGE_CONDITION)}
    states = {"a": "failed", "b": "failed", "c": "upstream_failed"}

    assert verdict(graph, states, records).nodes["c"].reason == 'step "b" did not run'


def test_a_step_between_a_failure_and_its_recovery_in_a_list_runs():
    """It asks before the recovery has ended, and its own skip stays one when that fails."""
    nodes = (
        GraphNode("a", transitions=("repair",)),
        GraphNode("between", after="a"),
        GraphNode("repair", after="between"),
        GraphNode("last", after="repair"),
    )
    went = replace(make_record("a"), resolution="transition", target="repair")
    skip = make_record("between", type=CONDITION, phase=Phase.EDGE_CONDITION)
    records = {"a": went, "between": skip, "repair": make_record("repair")}
    states = {"a": "failed", "between": "skipped", "repair": "failed", "last": "upstream_failed"}

    state = verdict(WorkflowGraph(nodes), states, records)

    assert statuses(state) == {
        "a": "FAILED",
        "between": "SKIPPED",
        "repair": "FAILED",
        "last": "CANCELLED",
    }
    assert state.nodes["last"].reason == 'step "repair" failed'
    assert state.failed_steps == ("a", "repair")
