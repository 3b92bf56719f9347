"""``Judge``, ``verdict`` and ``first_fatal`` against ``support.branch_model``.

Each run is led step by step: before a step starts the gate's question is asked, with the states of
that moment, and after the last one the verdict's.
"""

from itertools import combinations, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mantle_provider.lifecycle import (
    ACTION_SKIP,
    CONDITION,
    DEPENDENCY,
    FAIL_FAST,
    NOT_TAKEN,
    ErrorRecord,
    GraphNode,
    Judge,
    WorkflowGraph,
    first_fatal,
    stopped_early,
    verdict,
    ways_taken,
)
from mantle_provider.plan.graph import gated_steps
from support.branch_model import FAILED, BranchModel, ModelStep

STATUSES = {
    "ok": "COMPLETED",
    "if": "SKIPPED",
    "skip": "SKIPPED",
    "not_taken": "SKIPPED",
    "fail": "FAILED",
    "kill": "KILLED",
    "stopped": "KILLED",
    "cancelled": "CANCELLED",
}
REASONS = {"if": CONDITION, "not_taken": NOT_TAKEN}
SKIPS = {
    "if": CONDITION,
    "skip": ACTION_SKIP,
    "cancelled": DEPENDENCY,
    "not_taken": NOT_TAKEN,
}


def make_graph(model):
    return WorkflowGraph(
        tuple(
            GraphNode(
                step.name,
                step.depends_on,
                continue_on_error=step.is_tolerant,
                after=step.after,
                on_dep_failure="fail_run" if step.is_strict else "cancel_branch",
                transitions=step.transitions,
                cases=step.cases,
            )
            for step in model.steps.values()
        )
    )


class Run:
    """What Airflow and the records show of a run that the model follows.

    :param script: step -> (how it ends if it runs, where it goes); ``kill`` is a failure without
        a record, so that it goes nowhere.
    :param random: decides in which order steps end, and whether those that are cancelled have the
        states that follow from the plan, or any that a cancelled step can have.
    """

    def __init__(self, model, script, random):
        self.model = model
        self.graph = make_graph(model)
        self.script = script
        self.random = random
        self.gated = gated_steps(self.graph)
        self.is_planned = random.random() < 0.5
        self.states = {}
        self.records = {}
        self.routes = {}
        self.words = {}

    def finish(self):
        """Run all steps, in any order that fits, and compare at each of them."""
        model = self.model
        waits_for = {name: model.waits_for(name) for name in model.steps}
        while left := [name for name in model.steps if name not in model.ends]:
            ready = [name for name in left if waits_for[name] <= model.ends.keys()]
            self.step(self.random.choice(ready))
        self.compare_end()
        return self

    def step(self, name):
        judge = Judge(self.graph, self.states, self.taken, stopped_early(self.records))
        standing = judge.standings[name]
        decided = self.model.decide(name)
        assert standing.may_run == (decided == "runs"), (name, decided)
        assert standing.is_not_taken == (decided == "not_taken"), (name, decided)
        if decided == "cancelled":
            assert standing.blocker in self.model.causes[name]
        if self.is_planned and name not in self.gated:
            # Airflow's rule `none_failed` decides alone.
            above = {self.states[step] for step in self.graph.upstream[name]}
            assert above.isdisjoint({"failed", "upstream_failed"}) == (decided == "runs")
        how, way = (decided, None) if decided != "runs" else self.script[name]
        self.words[name] = how
        if decided == "runs":
            self.model.end(name, "fail" if how == "kill" else how, way)
        self.record(name, how, way)
        self.compare_fatal()

    def record(self, name, how, way):
        self.states[name] = "skipped"
        if how == "ok":
            self.states[name] = "success"
            if way is not None:
                self.routes[name] = way
        elif how == "cancelled" and self.is_ended_by_airflow(name):
            self.states[name] = "upstream_failed"
        elif how in {"fail", "kill", "stopped"}:
            self.states[name] = "failed"
        if self.states[name] == "failed" and how != "kill":
            kind = FAIL_FAST if how == "stopped" else "ActionError"
            self.records[name] = make_record(name, kind, way)
        elif self.states[name] == "skipped":
            self.records[name] = make_record(name, SKIPS[how])

    def is_ended_by_airflow(self, name):
        return name not in self.gated if self.is_planned else self.random.random() < 0.5

    @property
    def taken(self):
        return ways_taken(self.records, self.routes)

    def compare_fatal(self):
        """``first_fatal`` knows no records: a step that was stopped follows upon another."""
        found = first_fatal(self.graph, self.states, self.taken)
        fatal = {name for name in self.model.failed if self.model.effect(name) == "fatal"}
        if "stopped" not in self.words.values():
            assert (found in fatal) if fatal else (found is None)

    def compare_end(self):
        model = self.model
        state = verdict(self.graph, self.states, self.records, routes=self.routes)
        assert {name: node.status.value for name, node in state.nodes.items()} == {
            name: STATUSES[how] for name, how in self.words.items()
        }
        assert {name: node.effect for name, node in state.nodes.items()} == {
            name: model.effect(name) if end in FAILED else None for name, end in model.ends.items()
        }
        assert state.is_succeeded == model.is_completed
        assert set(state.failed_steps) == model.failed
        for name, node in state.nodes.items():
            if self.words[name] in REASONS:
                assert node.reason == REASONS[self.words[name]]
            if self.words[name] == "cancelled":
                assert node.reason in {f'step "{f}" failed' for f in model.causes[name]}
        if state.is_succeeded:
            assert state.failed_step is None
        else:
            assert model.effect(state.failed_step) == "fatal"
            assert state.failed_steps[0] == state.failed_step


def make_record(step, kind, way=None):
    return ErrorRecord(
        "EXECUTION",
        step,
        "broke",
        kind,
        1,
        "2026-01-01T00:00:00Z",
        resolution=None if way is None else "transition",
        target=way,
    )


# What stands between two steps: a dependency, and how the first may go to the second.
EDGES = [(depends, way) for depends in (False, True) for way in (None, "transitions", "cases")]


def make_steps(names, edges, strict, *, is_listed=False, tolerant=()):
    """Build steps from ``{(first, second): (is dependency, kind of way)}``."""

    def ways(name, kind):
        return tuple(b for (a, b), (_, way) in edges.items() if a == name and way == kind)

    return [
        ModelStep(
            name,
            tuple(a for (a, b), (depends, _) in edges.items() if b == name and depends),
            is_tolerant=name in tolerant,
            is_strict=name in strict,
            transitions=ways(name, "transitions"),
            cases=ways(name, "cases"),
            after=names[place - 1] if is_listed and place else None,
        )
        for place, name in enumerate(names)
    ]


def possible_ends(step):
    """Return how a step may end, and whether it is tolerant, as far as it makes a difference."""
    yield from [("if", None, False), ("fail", None, False), ("fail", None, True)]
    yield from [("fail", target, True) for target in step.transitions]
    yield from [("ok", case, False) for case in step.cases or (None,)]


def every_run(names, *, is_listed):
    """Yield all workflows of some steps, with all ways in which these can end."""
    pairs = list(combinations(names, 2))
    policies = list(product([False, True], repeat=len(names) - 1))
    for chosen in product(EDGES, repeat=len(pairs)):
        edges = dict(zip(pairs, chosen, strict=True))
        for flags in policies:
            strict = {names[0], *(n for n, flag in zip(names[1:], flags, strict=True) if flag)}
            steps = make_steps(names, edges, strict, is_listed=is_listed)
            for ends in product(*map(possible_ends, steps)):
                yield steps, dict(zip(names, ends, strict=True))


def run_with(steps, ends, random):
    tolerant = {name for name, (_, _, is_tolerant) in ends.items() if is_tolerant}
    model = BranchModel(steps)
    for name in tolerant:
        model = model.with_keys(name, is_tolerant=True)
    script = {name: (how, way) for name, (how, way, _) in ends.items()}
    return Run(model, script, random).finish()


@pytest.mark.parametrize("is_listed", [False, True], ids=["graph", "listed"])
@pytest.mark.parametrize(("size", "stride"), [(1, 1), (2, 1), (3, 31)])
def test_every_small_workflow_and_every_way_to_end(size, stride, is_listed):
    """Of the 71,000 runs of three steps every 31st: all of them agree, which takes a minute."""
    for number, (steps, ends) in enumerate(every_run("abc"[:size], is_listed=is_listed)):
        if number % stride == 0:
            run_with(steps, ends, Random(number))


@st.composite
def runs(draw):
    """Draw a larger workflow, how its steps end if they run, and a seed for the order of that."""
    size = draw(st.integers(2, 8))
    names = [f"s{place}" for place in range(size)]
    pairs = st.sampled_from(list(combinations(names, 2)))
    edges = draw(st.dictionaries(pairs, st.sampled_from(EDGES[1:]), max_size=2 * size))
    steps = make_steps(
        names,
        edges,
        draw(st.sets(st.sampled_from(names))),
        is_listed=draw(st.booleans()),
        tolerant=draw(st.sets(st.sampled_from(names))),
    )
    script = {}
    for step in steps:
        to_choose = [*step.transitions, *step.cases]
        ways = [("fail", target) for target in step.transitions]
        ways += [("ok", case) for case in step.cases or (None,)]
        ways += [(how, None) for how in ("fail", "kill", "if", "skip", "stopped")]
        script[step.name] = draw(st.sampled_from(ways + ways[: len(to_choose)]))
    return draw(st.permutations(steps)), script, draw(st.integers(0, 1000))


@pytest.mark.property
@settings(max_examples=400, deadline=None)
@given(runs())
def test_larger_workflows_in_any_order_of_events(run):
    steps, script, seed = run

    one = Run(BranchModel(steps), script, Random(seed)).finish()
    other = Run(BranchModel(steps), script, Random(seed + 1)).finish()

    assert one.words == other.words
    assert one.model.is_completed == other.model.is_completed


@pytest.mark.property
@settings(max_examples=400, deadline=None)
@given(runs())
def test_no_strict_step_is_cancelled_in_a_completed_run_except_beside_a_recovery(run):
    steps, script, seed = run
    model = Run(BranchModel(steps), script, Random(seed)).finish().model

    if model.is_completed:
        for name, causes in model.causes.items():
            if model.steps[name].is_strict:
                assert causes <= model.ways.keys()


@pytest.mark.property
@settings(max_examples=200, deadline=None)
@given(runs())
def test_what_is_containable_is_what_the_language_says(run):
    steps, _, _ = run
    model = BranchModel(steps)

    assert make_graph(model).containable == {
        name
        for name in model.steps
        if (below := model.dependents(name))
        and not any(model.steps[step].is_strict for step in below)
    }
