"""Cyclone's branch policy, row by row: what a failure does, to whom, and to the run.

In the tables F stands for ``fail_run`` and C for ``cancel_branch``.
"""

from dataclasses import replace
from itertools import product

import pytest

from mantle_provider.errors import ResultNotCompletedError
from mantle_provider.lifecycle import (
    FAIL_FAST,
    ErrorRecord,
    GraphNode,
    Phase,
    WorkflowGraph,
    verdict,
)
from mantle_provider.plan.planner import plan_workflow
from mantle_provider.workflow.model import Step, Workflow

POLICIES = {"F": "fail_run", "C": "cancel_branch"}


def make_graph(edges, policies=None):
    """Build a graph from ``{step: "what it depends on"}`` and ``{step: "F" or "C"}``."""
    policies = policies or {}
    return WorkflowGraph(
        tuple(
            GraphNode(name, tuple(above.split()), on_dep_failure=POLICIES[policies.get(name, "F")])
            for name, above in edges.items()
        )
    )


def run_graph(graph, failing=()):
    """Let a graph's steps run, and return the verdict: what depends on a failed one does not."""
    states = {}
    for name, above in graph.upstream.items():
        is_free = all(states[step] == "success" for step in above)
        states[name] = "upstream_failed" if not is_free else "success"
        if is_free and name in failing:
            states[name] = "failed"
    return verdict(graph, states, {name: make_record(name) for name in failing})


def make_record(step):
    at = "2026-01-01T00:00:00Z"
    return ErrorRecord("EXECUTION", step, f"{step} broke", "ActionError", 1, at)


def make_step(name, **keys):
    return Step(name, action="text/chunk", params={"text": "x"}, **keys)


def statuses(state):
    return {name: node.status.value for name, node in state.nodes.items()}


def check_single_failure(graph, failing, effect):
    """Check that one step's failure has an effect, and what this means for all others."""
    state = run_graph(graph, {failing})

    cancelled = graph.all_dependents(failing)
    assert state.nodes[failing].effect == effect
    assert statuses(state) == {
        node.name: "FAILED"
        if node.name == failing
        else "CANCELLED"
        if node.name in cancelled
        else "COMPLETED"
        for node in graph.nodes
    }
    assert state.status == ("completed" if effect == "contained" else "failed")
    assert state.failed_step == (failing if effect == "fatal" else None)
    assert state.failed_steps == (failing,)
    for name in cancelled:
        assert state.nodes[name].reason == f'step "{failing}" failed'


TABLES = {
    "single-edge": (
        {"n": "", "m": "n"},
        ("m",),
        {
            "F": {"n": "fatal", "m": "fatal"},
            "C": {"n": "contained", "m": "fatal"},
        },
    ),
    "chain": (
        {"n": "", "m": "n", "k": "m"},
        ("m", "k"),
        {
            "FF": {"n": "fatal", "m": "fatal", "k": "fatal"},
            "FC": {"n": "fatal", "m": "contained", "k": "fatal"},
            "CF": {"n": "fatal", "m": "fatal", "k": "fatal"},
            "CC": {"n": "contained", "m": "contained", "k": "fatal"},
        },
    ),
    "diamond": (
        {"n": "", "a": "n", "b": "n", "j": "a b"},
        ("a", "b", "j"),
        {
            "FFF": {"n": "fatal", "a": "fatal", "b": "fatal", "j": "fatal"},
            "FFC": {"n": "fatal", "a": "contained", "b": "contained", "j": "fatal"},
            "FCF": {"n": "fatal", "a": "fatal", "b": "fatal", "j": "fatal"},
            "FCC": {"n": "fatal", "a": "contained", "b": "contained", "j": "fatal"},
            "CFF": {"n": "fatal", "a": "fatal", "b": "fatal", "j": "fatal"},
            "CFC": {"n": "fatal", "a": "contained", "b": "contained", "j": "fatal"},
            "CCF": {"n": "fatal", "a": "fatal", "b": "fatal", "j": "fatal"},
            "CCC": {"n": "contained", "a": "contained", "b": "contained", "j": "fatal"},
        },
    ),
    "two-consumers": (
        {"n": "", "agg": "n", "pub": "agg", "audit": "n"},
        ("agg", "audit", "pub"),
        {
            **{
                "".join(policies): {"n": "fatal", "agg": "fatal", "audit": "fatal", "pub": "fatal"}
                for policies in product("FC", "FC", "F")
            },
            "FFC": {"n": "fatal", "agg": "contained", "audit": "fatal", "pub": "fatal"},
            "FCC": {"n": "fatal", "agg": "contained", "audit": "fatal", "pub": "fatal"},
            "CFC": {"n": "fatal", "agg": "contained", "audit": "fatal", "pub": "fatal"},
            "CCC": {"n": "contained", "agg": "contained", "audit": "fatal", "pub": "fatal"},
        },
    ),
    "nested-tolerance": (
        {"fetch": "", "shard-agg": "fetch", "total": "shard-agg", "report": "total"},
        ("shard-agg", "total", "report"),
        {
            "CFC": {
                "fetch": "fatal",
                "shard-agg": "fatal",
                "total": "contained",
                "report": "fatal",
            },
        },
    ),
}
"""Name -> edges, the steps whose policies the keys spell, and per row the effect of each failure.

``spec/cyclone-branch-policy.md`` C.4.
"""

ROWS = {
    f"{table}-{policies}-{failing}": (edges, dict(zip(steps, policies, strict=True)), failing, end)
    for table, (edges, steps, rows) in TABLES.items()
    for policies, effects in rows.items()
    for failing, end in effects.items()
}


@pytest.mark.parametrize(("edges", "policies", "failing", "effect"), ROWS.values(), ids=ROWS)
def test_each_row_of_the_decision_tables(edges, policies, failing, effect):
    check_single_failure(make_graph(edges, policies), failing, effect)


def test_each_table_has_all_its_rows():
    assert {table: len(rows) for table, (_, _, rows) in TABLES.items()} == {
        "single-edge": 2,
        "chain": 4,
        "diamond": 8,
        "two-consumers": 8,
        "nested-tolerance": 1,
    }


FETCHES = [f"fetch{number}" for number in range(40)]
FAN_IN = {**dict.fromkeys(FETCHES, ""), "aggregate": " ".join(FETCHES)}


@pytest.mark.parametrize("count", [0, 1, 39, 40])
def test_a_fan_in_of_forty_completes_however_many_fetches_fail(count):
    failing = FETCHES[:count]

    state = run_graph(make_graph(FAN_IN, {"aggregate": "C"}), set(failing))

    assert statuses(state) == {
        **dict.fromkeys(failing, "FAILED"),
        **dict.fromkeys(FETCHES[count:], "COMPLETED"),
        "aggregate": "CANCELLED" if count else "COMPLETED",
    }
    assert {state.nodes[name].effect for name in failing} <= {"contained"}
    assert (state.status, state.failed_step) == ("completed", None)
    assert set(state.failed_steps) == set(failing)


def test_a_fan_in_of_forty_fails_when_the_aggregate_does():
    check_single_failure(make_graph(FAN_IN, {"aggregate": "C"}), "aggregate", "fatal")


# n1 -> m1 and n2 -> m2 are two branches; x and y depend on nothing and have no dependents.
BRANCHES = {"n1": "", "m1": "n1", "n2": "", "m2": "n2", "x": "", "y": ""}
SEVERAL = {
    "contained-and-contained": ({"n1", "n2"}, "completed", {"m1", "m2"}),
    "contained-and-fatal": ({"n1", "x"}, "failed", {"m1"}),
    "fatal-and-fatal": ({"x", "y"}, "failed", set()),
}


@pytest.mark.parametrize(("failing", "status", "cancelled"), SEVERAL.values(), ids=SEVERAL)
def test_several_failures_at_once(failing, status, cancelled):
    state = run_graph(make_graph(BRANCHES, {"m1": "C", "m2": "C"}), failing)

    assert state.status == status
    assert {name for name, end in statuses(state).items() if end == "CANCELLED"} == cancelled
    assert {name for name, end in statuses(state).items() if end == "FAILED"} == failing
    assert set(state.failed_steps) == failing


# spec/cyclone-branch-policy.md C.3; rows 2 to 4 are the tables above; row 14 (what runs
# at a fatal failure) is for fail_fast, and row 16 (a new policy) for def_version.


def test_c3_row_1_a_step_with_attempts_left_has_no_effect():
    state = verdict(make_graph({"n": "", "m": "n"}, {"m": "C"}), {"n": "up_for_retry"}, {})

    assert (state.nodes["n"].status.value, state.nodes["n"].effect) == ("NOT_RUN", None)


def test_c3_row_5_a_second_failure_into_a_cancelled_branch_changes_nothing_else():
    graph = make_graph({"a": "", "b": "", "j": "a b", "k": "j"}, {"j": "C", "k": "C"})

    first, both = run_graph(graph, {"a"}), run_graph(graph, {"a", "b"})

    assert statuses(both) == statuses(first) | {"b": "FAILED"}
    assert (first.status, both.status) == ("completed", "completed")
    assert both.nodes["b"].effect == "contained"


@pytest.mark.parametrize("times", [{"n1": 1.0, "x": 2.0}, {"n1": 2.0, "x": 1.0}])
def test_c3_row_6_a_fatal_failure_counts_before_and_after_a_contained_one(times):
    graph = make_graph(BRANCHES, {"m1": "C"})
    states = dict.fromkeys(BRANCHES, "success")
    states |= {"n1": "failed", "m1": "upstream_failed", "x": "failed"}
    records = {name: make_record(name) for name in ("n1", "x")}

    state = verdict(graph, states, records, ended_at=times)

    assert (state.status, state.failed_step, state.error) == ("failed", "x", "x broke")
    assert state.failed_steps == ("x", "n1")


def test_c3_rows_7_and_8_both_branches_are_cancelled_and_the_run_completes():
    state = run_graph(make_graph(BRANCHES, {"m1": "C", "m2": "C"}), {"n1", "n2"})

    assert (state.status, state.error) == ("completed", None)
    assert (statuses(state)["m1"], statuses(state)["m2"]) == ("CANCELLED", "CANCELLED")


def with_result(state, step):
    return replace(state, result_step=step, result_output={"rows": 3})


def test_c3_row_9_the_result_of_a_completed_step_is_available():
    state = run_graph(make_graph({"n": "", "m": "n", "r": ""}, {"m": "C"}), {"n"})

    assert (state.status, with_result(state, "r").result) == ("completed", {"rows": 3})


@pytest.mark.parametrize("step", ["m", "n"])
def test_c3_rows_10_and_12_a_completed_run_without_its_result_has_none(step):
    """The result step was cancelled with its branch, or is the contained failure itself."""
    state = run_graph(make_graph({"n": "", "m": "n"}, {"m": "C"}), {"n"})

    assert state.status == "completed"
    with pytest.raises(ResultNotCompletedError):
        _ = with_result(state, step).result


def test_c3_row_11_a_failed_leaf_is_fatal_whatever_it_says_itself():
    state = run_graph(make_graph({"n": "", "m": "n"}, {"m": "C"}), {"m"})

    assert (state.status, state.nodes["m"].effect) == ("failed", "fatal")


def test_c3_row_13_steps_beside_a_contained_failure_go_on():
    graph = make_graph({"n": "", "m": "n", "a": "", "b": "a"}, {"m": "C"})

    assert statuses(run_graph(graph, {"n"})) == {
        "n": "FAILED",
        "m": "CANCELLED",
        "a": "COMPLETED",
        "b": "COMPLETED",
    }


def test_c3_row_14_what_a_fatal_failure_stops_counts_as_killed_and_is_no_cause():
    """Under ``fail_fast``, as in Cyclone; without it other branches finish first."""
    stopped = replace(make_record("a"), type=FAIL_FAST)
    kept = replace(stopped, step="b", phase=Phase.EDGE_CONDITION.value)
    records = {"n": make_record("n"), "a": stopped, "b": kept}

    state = verdict(
        make_graph({"n": "", "a": "", "b": ""}), dict.fromkeys(records, "failed"), records
    )

    assert statuses(state) == {"n": "FAILED", "a": "KILLED", "b": "CANCELLED"}
    assert (state.status, state.failed_step, state.error) == ("failed", "n", "n broke")


def test_c3_row_15_what_feeds_only_the_cancelled_branch_still_runs():
    state = run_graph(make_graph({"n": "", "other": "", "m": "n other"}, {"m": "C"}), {"n"})

    assert (state.status, statuses(state)["other"]) == ("completed", "COMPLETED")


def test_c3_row_16_another_policy_is_another_version():
    """So that a run keeps the graph of its start; ``fail_run`` written out is the default."""
    steps = (make_step("n"), make_step("m", depends_on=("n",)))
    strict = replace(steps[1], on_dep_failure="fail_run")
    tolerant = replace(steps[1], on_dep_failure="cancel_branch")

    versions = [
        plan_workflow(Workflow("flow", (steps[0], step))).version
        for step in (steps[1], strict, tolerant)
    ]

    assert versions[0] == versions[1] != versions[2]


@pytest.mark.parametrize("gate", ["upstream_failed", "skipped"])
def test_the_colour_is_not_lost_behind_a_gate_that_only_skips(gate):
    """Trap e13: n fails, x is strict, y is a tolerant leaf below.

    A gate that skips when anything is not success left y skipped, and the run's leaves green.
    """
    graph = make_graph({"n": "", "x": "n", "y": "x"}, {"y": "C"})
    states = {"n": "failed", "x": "upstream_failed", "y": gate}

    state = verdict(graph, states, {"n": make_record("n")})

    assert statuses(state) == {"n": "FAILED", "x": "CANCELLED", "y": "CANCELLED"}
    assert (state.status, state.failed_step, state.nodes["n"].effect) == ("failed", "n", "fatal")
