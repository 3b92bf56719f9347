"""What steps read, and so wait for."""

from __future__ import annotations

from mantle_provider.workflow.model import (
    Artifact,
    ErrorRule,
    LifecycleHooks,
    Outputs,
    Step,
    SwitchCase,
    Workflow,
)
from mantle_provider.workflow.references import (
    ExpressionSite,
    declared_names,
    iterate_expressions,
    step_dependencies,
)


def make_step(name="a", **fields):
    return Step(name, "bash/run", **fields)


def test_every_expression_of_a_step_is_found_with_its_path():
    step = make_step(
        params={"x": "{{ 1 }}", "y": {"z": ["plain", 5, "{{ 2 }}"]}},
        switch=(SwitchCase("b", "true"), SwitchCase("c")),
        for_each="[1]",
        condition="false",
        on_error=(ErrorRule("error.phase == 'x'", fail=True), ErrorRule(fail=True)),
        outputs=Outputs(map={"o": "output.x"}),
    )
    assert list(iterate_expressions(step)) == [
        ExpressionSite(("params", "x"), "{{ 1 }}", "params", is_template=True),
        ExpressionSite(("params", "y", "z", 2), "{{ 2 }}", "params", is_template=True),
        ExpressionSite(("switch", 0, "when"), "true", "when"),
        ExpressionSite(("for_each",), "[1]", "for_each"),
        ExpressionSite(("if",), "false", "if"),
        ExpressionSite(("on_error", 0, "when"), "error.phase == 'x'", "on_error"),
        ExpressionSite(("outputs", "map", "o"), "output.x", "outputs"),
    ]


def test_dependencies_are_declared_ones_then_those_that_are_read_each_once():
    steps = (
        make_step("a"),
        make_step("b-c"),
        make_step("d"),
        make_step(
            "e",
            depends_on=("d",),
            params={"x": "{{ steps.b-c.output }} {{ steps['d'].output }}"},
            condition="steps.a.error == null",
        ),
    )
    assert step_dependencies(Workflow("w", steps)) == {
        "a": (),
        "b-c": (),
        "d": (),
        "e": ("d", "b-c", "a"),
    }


def test_an_artifact_is_waited_for_where_it_is_made():
    steps = (
        make_step("a", artifacts=(Artifact("p", "data"),)),
        make_step("b", params={"x": "{{ artifacts['data'].url }} {{ artifacts['of-hook'].url }}"}),
    )
    hooks = LifecycleHooks(on_failure=(make_step("h", artifacts=(Artifact("p", "of-hook"),)),))
    assert step_dependencies(Workflow("w", steps, hooks=hooks)) == {"a": (), "b": ("a",)}


def test_computed_names_and_foreign_roots_add_no_dependency():
    params = {"x": "{{ steps[inputs.which].output }}{{ steps }}{{ inputs.a }}"}
    workflow = Workflow("w", (make_step("a"), make_step("b", params=params)))
    assert step_dependencies(workflow) == {"a": (), "b": ()}


def test_steps_before_the_start_are_no_dependencies():
    steps = (make_step("a", params={"x": "{{ steps['early'].output }}"}),)
    workflow = Workflow("w", steps, before_start=(make_step("early"),))
    assert step_dependencies(workflow) == {"a": ()}


def test_items_are_known_under_for_each_but_not_in_its_own_expression():
    step = make_step("a", for_each="[1]", params={"x": "{{ item + index }}"}, condition="item > 0")
    assert step_dependencies(Workflow("w", (step,))) == {"a": ()}


def test_only_names_with_hyphens_are_declared():
    hooks = LifecycleHooks(on_failure=(make_step("h-1"),))
    workflow = Workflow("w", (make_step("a"), make_step("b-c")), hooks=hooks)
    assert declared_names(workflow) == {
        "steps": frozenset({"b-c"}),
        "hooks": frozenset({"h-1"}),
        "artifacts": frozenset(),
    }
