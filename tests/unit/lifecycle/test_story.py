"""How a run went, in words."""

from mantle_provider.lifecycle import (
    Cause,
    ErrorRecord,
    NodeStatus,
    WorkflowNodeState,
    WorkflowState,
    tell_failures,
    tell_rest,
    tell_verdict,
)


def make_node(name, status, effect=None, **keys):
    return WorkflowNodeState(name, NodeStatus(status), effect, **keys)


def make_state(*nodes, status="failed", failed=(), **keys):
    first = failed[0] if failed and status != "completed" else None
    by_name = {node.node_id: node for node in nodes}
    return WorkflowState(status, by_name, first, tuple(failed), **keys)


def make_record(step, **keys):
    return ErrorRecord("EXECUTION", step, "boom", "ValueError", 2, "", **keys)


def test_a_failure_tells_its_chain_of_causes():
    record = make_record("a", causes=(Cause("KeyError", "inner"), Cause("OSError", "innermost")))
    state = make_state(make_node("a", "FAILED", "fatal", failure_cause=record), failed=["a"])

    assert [*tell_failures(state)] == [
        'first cause: step "a" FAILED in EXECUTION, try 2: ValueError: boom',
        "  caused by KeyError: inner",
        "  caused by OSError: innermost",
    ]


def test_a_recovered_failure_tells_where_it_went():
    record = make_record("a", resolution="transition", target="mend")
    node = make_node("a", "FAILED", "recovered", failure_cause=record)
    state = make_state(node, make_node("mend", "COMPLETED"), status="completed", failed=["a"])

    assert tell_verdict(state) == "workflow completed"
    assert [*tell_failures(state)] == [
        'recovered failure: step "a" FAILED in EXECUTION, try 2: ValueError: boom; went to "mend"'
    ]


def test_a_killed_step_tells_what_is_known():
    node = make_node("a", "KILLED", "fatal", reason="killed, lost or marked failed")

    assert [*tell_failures(make_state(node, failed=["a"]))] == [
        'first cause: step "a" KILLED: killed, lost or marked failed'
    ]


def test_what_no_failure_cancelled_tells_its_own_reason():
    state = make_state(
        make_node("a", "CANCELLED", reason="workflow timed out after 5m"),
        make_node("b", "CANCELLED", reason='step "x" did not run', cancelled_by="x"),
        make_node("c", "CANCELLED"),
        status="timed_out",
        error="workflow timed out after 5m",
    )

    assert tell_verdict(state) == "workflow timed_out: workflow timed out after 5m"
    assert [*tell_failures(state)] == [
        'cancelled: step "a" (workflow timed out after 5m)',
        'cancelled: step "b" (step "x" did not run)',
        'cancelled: step "c"',
    ]


def test_skipped_untaken_and_missing_steps_are_told_apart():
    state = make_state(
        make_node("a", "SKIPPED", reason="condition"),
        make_node("b", "SKIPPED", reason="not_taken"),
        make_node("c", "NOT_RUN"),
        make_node("d", "COMPLETED"),
    )

    assert [*tell_rest(state)] == [
        'skipped: step "a" (condition)',
        'skipped: step "b" (not_taken)',
        'not run: step "c"',
        'completed: "d"',
    ]


def test_of_very_many_steps_the_first_are_named():
    state = make_state(*(make_node(f"s{number}", "COMPLETED") for number in range(52)))

    (line,) = tell_rest(state)
    assert line.endswith('"s48", "s49" and 2 more')
