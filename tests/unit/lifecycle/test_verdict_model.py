"""``verdict`` against a model that shares no idea with it.

The model knows no order and no recursion: it looks for a path of cancelled steps that ends in a
failure, by trying every path.
"""

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mantle_provider.lifecycle import (
    ACTION_SKIP,
    ErrorRecord,
    GraphNode,
    Judge,
    WorkflowGraph,
    verdict,
)

NOT_RESOLVED = {"skipped", "marked", "upstream_failed"}

ENDS = {
    "success": ("success", False),
    "fatal": ("failed", False),
    "tolerated": ("failed", True),
    "skipped": ("skipped", False),
    "marked": ("skipped", False),
    "upstream_failed": ("upstream_failed", False),
    "none": (None, False),
}
"""How a step can end: Airflow's state and ``continue_on_error``, which only failures ask for.

A step that skipped itself has left a record, one that a mark of the run skipped has not.
"""


def is_blocked(graph, states, name):
    return Judge(graph, states).standings[name].blocker is not None


def paths_down_to(node, edges):
    """Yield every path of dependencies that starts below ``node``."""
    for above in edges[node]:
        yield [above]
        for path in paths_down_to(above, edges):
            yield [above, *path]


def model_is_blocked(node, edges, ends, listed=()):
    """Whether a path leads to a failure, or one stands anywhere above in the list."""

    def is_root(step):
        return ends[step] in {"fatal", "upstream_failed"}

    def blocks(path):
        *between, root = path
        return is_root(root) and all(ends[step] in NOT_RESOLVED for step in between)

    above = listed[: listed.index(node)] if listed else ()
    return any(map(is_root, above)) or any(map(blocks, paths_down_to(node, edges)))


def model_status(node, edges, ends, listed=()):
    return {
        "success": "COMPLETED",
        "fatal": "KILLED",
        "tolerated": "KILLED",
        "skipped": "CANCELLED" if model_is_blocked(node, edges, ends, listed) else "SKIPPED",
        "marked": "CANCELLED" if model_is_blocked(node, edges, ends, listed) else "NOT_RUN",
        "upstream_failed": "CANCELLED",
        "none": "NOT_RUN",
    }[ends[node]]


def model_is_completed(edges, ends, listed=()):
    """Every step succeeded, was tolerated, or was skipped by its own doing."""
    return all(
        end in {"success", "tolerated"}
        or (end == "skipped" and not model_is_blocked(node, edges, ends, listed))
        for node, end in ends.items()
    )


def make_records(ends):
    return {
        node: ErrorRecord("EXECUTION", node, "no need", ACTION_SKIP, 1, "2026-01-01T00:00:00Z")
        for node, end in ends.items()
        if end == "skipped"
    }


def compare(graph, edges, ends, listed=()):
    states = {node: ENDS[end][0] for node, end in ends.items()}
    state = verdict(graph, states, make_records(ends))

    assert state.is_succeeded == model_is_completed(edges, ends, listed)
    for node in edges:
        expected = model_is_blocked(node, edges, ends, listed)
        assert is_blocked(graph, states, node) == expected
        assert state.nodes[node].status == model_status(node, edges, ends, listed)
        expected_effect = ends[node] if ends[node] in {"fatal", "tolerated"} else None
        assert state.nodes[node].effect == expected_effect
    assert set(state.failed_steps) == {
        node for node, end in ends.items() if end in {"fatal", "tolerated"}
    }
    if state.is_succeeded:
        assert (state.failed_step, state.error) == (None, None)
    else:
        assert state.error is not None
    return state


def make_graph(edges, ends, after=None):
    after = after or {}
    return WorkflowGraph(
        tuple(
            GraphNode(node, tuple(above), ENDS[ends[node]][1], after.get(node))
            for node, above in edges.items()
        )
    )


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_every_small_graph_and_every_way_to_end(size):
    names = "abcd"[:size]
    possible = list(combinations(names, 2))
    for chosen in product([False, True], repeat=len(possible)):
        edges = {
            node: tuple(
                first
                for (first, second), is_edge in zip(possible, chosen, strict=True)
                if is_edge and second == node
            )
            for node in names
        }
        for ways in product(ENDS, repeat=size):
            ends = dict(zip(names, ways, strict=True))
            compare(make_graph(edges, ends), edges, ends)


@st.composite
def runs(draw):
    """Draw a larger graph whose file order is any, with or without listed edges, and its ends."""
    size = draw(st.integers(1, 9))
    names = [f"s{place}" for place in range(size)]
    is_listed = draw(st.booleans())
    file_order = names if is_listed else draw(st.permutations(names))
    depends_on = {
        name: tuple(draw(st.lists(st.sampled_from(names[:place]), unique=True, max_size=3)))
        if place
        else ()
        for place, name in enumerate(names)
    }
    after = dict(zip(names[1:], names, strict=False)) if is_listed else {}
    ends = {name: draw(st.sampled_from(sorted(ENDS))) for name in file_order}
    times = draw(st.dictionaries(st.sampled_from(names), st.integers(0, 3)))
    return {name: depends_on[name] for name in file_order}, after, ends, times


@pytest.mark.property
@settings(max_examples=300, deadline=None)
@given(runs())
def test_larger_graphs_and_listed_order(run):
    depends_on, after, ends, _ = run
    listed = ("s0", *after) if after else ()

    compare(make_graph(depends_on, ends, after), depends_on, ends, listed)


@pytest.mark.property
@settings(max_examples=300, deadline=None)
@given(runs())
def test_the_first_cause_is_the_earliest_fatal_failure_known(run):
    depends_on, after, ends, times = run
    graph = make_graph(depends_on, ends, after)
    state = verdict(graph, {node: ENDS[end][0] for node, end in ends.items()}, {}, ended_at=times)
    fatal = [node for node, end in ends.items() if end == "fatal"]
    timed = [node for node in fatal if node in times]

    if timed:
        assert times[state.failed_step] == min(times[node] for node in timed)
    else:
        assert (state.failed_step in fatal) == bool(fatal)
    if state.failed_step is not None:
        assert state.failed_steps[0] == state.failed_step
