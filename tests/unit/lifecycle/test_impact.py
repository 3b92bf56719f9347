"""What each failure would do, foreseen from the graph, and against runs that really have it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mantle_provider.lifecycle import (
    ErrorRecord,
    GraphNode,
    Judge,
    WorkflowGraph,
    failure_impacts,
    first_fatal,
    ways_taken,
)


def make_graph(text, *nodes, **keys):
    """Make a graph of words ``name``, ``name<above,above``, with ``!`` for ``cancel_branch``."""
    made = []
    for word in text.split():
        name, _, above = word.partition("<")
        policy = "cancel_branch" if name.endswith("!") else "fail_run"
        dependencies = tuple(above.split(",")) if above else ()
        name = name.rstrip("!")
        made.append(GraphNode(name, dependencies, on_dep_failure=policy, **keys.get(name, {})))
    return WorkflowGraph((*made, *nodes))


def effects(graph, **options):
    return {name: impact.effect for name, impact in failure_impacts(graph, **options).items()}


def cancels(graph, name, **options):
    return failure_impacts(graph, **options)[name].cancels


def test_a_fan_in_of_40_contains_each_fetch_and_not_its_own_failure():
    fetches = [f"f{number}" for number in range(40)]
    graph = make_graph(" ".join([*fetches, f"all!<{','.join(fetches)}"]))

    assert effects(graph) == {**dict.fromkeys(fetches, "contained"), "all": "fatal"}
    assert {cancels(graph, fetch) for fetch in fetches} == {("all",)}
    assert cancels(graph, "all") == ()


def test_a_strict_step_in_the_middle_makes_all_above_it_fatal_again():
    graph = make_graph("fetch shard!<fetch total<shard report!<total")

    assert effects(graph) == {
        "fetch": "fatal",
        "shard": "fatal",
        "total": "contained",
        "report": "fatal",
    }
    assert cancels(graph, "fetch") == ("shard", "total", "report")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("n a!<n b!<n j!<a,b", "contained", id="all tolerate"),
        pytest.param("n a<n b!<n j!<a,b", "fatal", id="one branch is strict"),
        pytest.param("n a!<n b!<n j<a,b", "fatal", id="the join is strict"),
    ],
)
def test_in_a_diamond_every_step_below_has_a_say(text, expected):
    graph = make_graph(text)

    assert effects(graph)["n"] == expected
    assert cancels(graph, "n") == ("a", "b", "j")
    assert cancels(graph, "a") == ("j",)


def test_a_tolerated_failure_cancels_nothing_and_its_dependents_policies_are_not_asked():
    graph = make_graph("n a!<n b<a", n={"continue_on_error": True})

    assert effects(graph)["n"] == "tolerated"
    assert cancels(graph, "n") == ()


def test_in_a_list_a_fatal_failure_cancels_all_below_and_a_contained_one_its_branch():
    graph = make_graph("a b!<a c d", b={"after": "a"}, c={"after": "b"}, d={"after": "c"})

    assert cancels(graph, "a") == ("b",)
    assert cancels(graph, "c") == ("d",)


def test_with_fail_fast_a_fatal_failure_ends_all_that_need_not_have_ended_before():
    graph = make_graph("a b<a c d!<c")

    assert cancels(graph, "b", fail_fast=True) == ("c", "d")
    assert cancels(graph, "c", fail_fast=True) == ("d",)


def test_a_recoverable_failure_names_its_targets_and_what_each_leaves_cancelled():
    graph = make_graph("a b<a c<a,repair repair", a={"transitions": ("repair",)})
    impact = failure_impacts(graph)["a"]

    assert impact.to_data() == {
        "effect": "recoverable",
        "otherwise": "fatal",
        "cancels": ["b", "c"],
        "recoveries": {"repair": ["b"]},
    }


def test_a_case_whose_router_could_not_choose_is_cancelled():
    graph = make_graph("a r<a x y<x z", r={"cases": ("x",)})

    assert cancels(graph, "a") == ("r", "x", "y")


def simulate(graph, name, way=None, *, routes):
    """Run all steps one by one; step ``name`` fails for good, and every other one succeeds."""
    states, records, chosen = {}, {}, {}
    for step in graph.upstream:
        standing = Judge(graph, states, ways_taken(records, chosen)).standings[step]
        if not standing.may_run:
            states[step] = "skipped"
        elif step == name:
            states[step] = "failed"
            resolution = "transition" if way else "fail"
            records[step] = ErrorRecord(
                "EXECUTION", step, "no", "E", 1, "", resolution=resolution, target=way
            )
        else:
            states[step] = "success"
            cases = graph.by_name[step].cases
            if cases:
                chosen[step] = cases[routes % len(cases)]
    judge = Judge(graph, states, ways_taken(records, chosen))
    standings = judge.standings
    cancelled = {
        step for step, state in states.items() if state == "skipped" and standings[step].blocker
    }
    not_taken = {
        step
        for step, state in states.items()
        if state == "skipped" and standings[step].is_not_taken
    }
    effect = judge.effect(name) if states[name] == "failed" else None
    assert (first_fatal(graph, states, ways_taken(records, chosen)) == name) == (effect == "fatal")
    return effect, cancelled, not_taken


@st.composite
def graphs(draw):
    names = [f"s{place}" for place in range(draw(st.integers(1, 8)))]
    is_listed = draw(st.booleans())
    nodes = []
    routed, targets = set(), set()
    for place, name in enumerate(names):
        above, below = names[:place], names[place + 1 :]
        dependencies = (
            draw(st.lists(st.sampled_from(above), unique=True, max_size=3)) if above else []
        )
        ways = draw(st.lists(st.sampled_from(below), unique=True, max_size=2)) if below else []
        is_router = name not in targets and draw(st.integers(0, 4)) == 0
        # What a case does that has other reasons to run follows from the choices of a run, and so
        # does where a recovery leads that is a router.
        if name in routed:
            dependencies = []
        cases = [way for way in ways if way not in routed] if is_router else []
        transitions = [] if is_router or draw(st.booleans()) else ways
        routed |= {*cases}
        targets |= {*transitions}
        nodes.append(
            GraphNode(
                name,
                tuple(dependencies),
                continue_on_error=draw(st.integers(0, 3)) == 0,
                after=names[place - 1] if is_listed and place else None,
                on_dep_failure=draw(
                    st.sampled_from(["fail_run", "cancel_branch", "cancel_branch"])
                ),
                transitions=tuple(transitions),
                cases=tuple(cases),
            )
        )
    return WorkflowGraph(tuple(nodes))


@settings(max_examples=400, deadline=None)
@given(graph=graphs(), routes=st.integers(0, 1))
def test_what_is_foreseen_is_what_happens(graph, routes):
    for name, impact in failure_impacts(graph).items():
        effect, cancelled, not_taken = simulate(graph, name, routes=routes)
        if effect is None:  # nothing went to the step, so that it could not fail
            continue
        assert effect == impact.otherwise
        assert cancelled == {*impact.cancels} - not_taken
        for target, foreseen in impact.recoveries.items():
            effect, cancelled, not_taken = simulate(graph, name, target, routes=routes)
            assert effect == "recovered"
            assert cancelled == {*foreseen} - not_taken
