"""Rules where they must be silent, and corners that no case file shows.

What each rule says is in ``tests/cases/errors``.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from mantle_provider import rules
from mantle_provider.actions import ParamSpec
from mantle_provider.check import check_text
from mantle_provider.diagnostics import CATALOGUE
from mantle_provider.rules.invalid_param import _check_literal
from mantle_provider.rules.subject import index_at

HELPERS = {"__init__", "edges", "prospects", "subject", "ways"}
ACROSS_FILES = {"duplicate_workflow"}

STEP = '{name: a, action: bash/run, params: {command: "true"}}'


def codes_of(text):
    return [item.code for item in check_text(text).report.diagnostics]


def with_steps(*steps, **keys):
    """Return a file with steps in flow style, and further keys as YAML text."""
    lines = ["name: file", *(f"{key}: {value}" for key, value in keys.items()), "steps:"]
    return "\n".join([*lines, *(f"  - {step}" for step in steps or [STEP])])


def test_every_rule_is_registered_under_its_code():
    stems = {path.stem for path in Path(rules.__file__).parent.glob("*.py")} - HELPERS
    assert {stem.replace("_", "-") for stem in stems} <= set(CATALOGUE)
    modules = [import_module(f"mantle_provider.rules.{stem}") for stem in stems - ACROSS_FILES]
    assert {module.check for module in modules} == set(rules.RULES)
    assert len(set(rules.RULES)) == len(rules.RULES)


def test_steps_that_could_not_be_decoded_are_not_judged_further():
    wrong = "{name: b, action: bash/rum, timeout: 5, depends_on: [nobody]}"
    nameless = "{action: bash/run}"
    reader = (
        '{name: c, action: bash/run, depends_on: [b], params: {command: "{{ steps.b.error }}"}}'
    )
    assert codes_of(with_steps(wrong, nameless, reader)) == ["invalid-duration", "missing-key"]


def test_hooks_that_could_not_be_decoded_are_not_judged_further():
    hooks = "{timeout: 1m, on_finish: [{action: bash/run}, {name: h, depends_on: [a], timeout: 5}]}"
    codes = codes_of(with_steps(hooks=hooks))
    assert codes == ["missing-key", "missing-key", "invalid-duration"]


def test_artifacts_are_not_judged_while_a_step_could_not_be_decoded():
    reader = """{name: b, action: bash/run, params: {command: "{{ artifacts['x'].url }}"}}"""
    assert codes_of(with_steps("{name: a}", reader)) == ["missing-key"]


def test_a_declared_artifact_can_be_read():
    maker = '{name: a, action: bash/run, params: {command: "x"}, artifacts: [{path: p, name: x}]}'
    reader = """{name: b, action: bash/run, params: {command: "{{ artifacts['x'].url }}"}}"""
    assert codes_of(with_steps(maker, reader)) == []


@pytest.mark.parametrize(
    ("makers", "reader"),
    [
        ("before_start", "before_start"),
        ("before_start", "steps"),
        ("before_start", "hooks"),
        ("steps", "hooks"),
        ("hooks", "hooks"),
    ],
)
def test_an_artifact_can_be_read_by_what_comes_after_its_step(makers, reader):
    maker = """{name: m, action: bash/run, params: {command: "x"},
      artifacts: [{path: p, name: x}]}"""
    read = """{name: r, action: bash/run, params: {command: "{{ artifacts['x'].url }}"}}"""
    places = {"before_start": "", "steps": STEP, "hooks": ""}
    for place, step in ((makers, maker), (reader, read)):
        places[place] += f", {step}" if places[place] else step
    text = f"""name: file
before_start: [{places["before_start"]}]
steps: [{places["steps"]}]
hooks: {{on_finish: [{places["hooks"]}]}}
"""
    assert codes_of(text) == []


def test_steps_that_read_each_other_s_artifacts_are_a_cycle():
    steps = [
        f"""{{name: {name}, action: bash/run, artifacts: [{{path: p, name: {name}}}],
      params: {{command: "{{{{ artifacts['{other}'].url }}}}"}}}}"""
        for name, other in ("ab", "ba")
    ]
    assert codes_of(with_steps(*steps)) == ["dependency-cycle"]


def test_an_input_that_could_not_be_decoded_counts_as_declared():
    reader = '{name: b, action: bash/run, params: {command: "{{ inputs.x }}"}}'
    assert codes_of(with_steps(reader, inputs="{x: {type: text}}")) == ["invalid-choice"]


def test_inputs_of_a_wrong_type_are_not_compared():
    reader = '{name: b, action: bash/run, params: {command: "{{ inputs.trigger.payload }}"}}'
    assert codes_of(with_steps(reader, inputs="[x]")) == ["wrong-type"]


def test_a_guarded_undeclared_input_is_a_warning():
    reader = """{name: b, action: bash/run, params: {command: "{{ default(inputs.x, '') }}"}}"""
    [item] = check_text(with_steps(reader)).report.diagnostics
    assert (item.code, item.severity) == ("undefined-input", "warning")


def test_the_name_of_a_workflow_may_have_250_characters():
    assert codes_of(with_steps().replace("name: file", f"name: {'a' * 250}")) == []
    assert codes_of(with_steps().replace("name: file", f"name: {'a' * 251}")) == ["name-too-long"]


def test_listed_order_allows_dependencies_on_steps_above():
    reader = '{name: b, action: bash/run, depends_on: [a], params: {command: "true"}}'
    assert codes_of(with_steps(STEP, reader, order="listed")) == []


def test_a_recovery_step_of_its_own_is_no_invalid_transition():
    recovering = (
        '{name: b, action: bash/run, depends_on: [a], params: {command: "true"},'
        " on_error: [{transition_to: c}]}"
    )
    waiting = '{name: c, action: bash/run, depends_on: [d], params: {command: "true"}}'
    free = '{name: d, action: bash/run, params: {command: "true"}}'
    assert codes_of(with_steps(STEP, recovering, waiting, free)) == []


def test_long_ways_to_an_ancestor_are_followed():
    chain = [STEP]
    chain += [
        f'{{name: {name}, action: bash/run, depends_on: [{before}, a], params: {{command: "x"}}}}'
        for before, name in ("ab", "bc")
    ]
    chain[-1] = chain[-1][:-1] + ", on_error: [{transition_to: a}]}"
    assert codes_of(with_steps(*chain)) == [
        "duplicate-dependency",
        "invalid-transition",
    ]


def test_before_start_may_read_what_stands_above_and_only_unknown_names_twice():
    early = """[{name: b, action: bash/run, params: {command: "{{ steps['nobody'].error }}"}}]"""
    assert codes_of(with_steps(before_start=early)) == ["undefined-step"]


def test_an_expression_with_a_declared_hyphen_name_and_another_mistake_is_explained():
    step = '{name: a-b, action: bash/run, params: {command: "x"}}'
    reader = '{name: c, action: bash/run, params: {command: "{{ steps.a-b.output + nope }}"}}'
    assert codes_of(with_steps(step, reader)) == ["invalid-expression"]


def test_what_one_string_reads_twice_is_told_once():
    reader = '{name: b, action: bash/run, params: {command: "{{ inputs.x }} {{ inputs.x }}"}}'
    assert codes_of(with_steps(reader)) == ["undefined-input"]


@pytest.mark.parametrize("root", ["hooks", "artifacts"])
def test_misspelt_hyphen_names_below_other_roots_are_invalid_expressions(root):
    reader = f'{{name: c, action: bash/run, params: {{command: "{{{{ {root}.a-b.x }}}}"}}}}'
    assert codes_of(with_steps(reader)) == ["invalid-expression"]


def test_a_number_below_the_minimum_of_its_parameter_is_refused():
    param = ParamSpec("count", ("integer",), "a number", minimum=1)
    assert _check_literal(param, 0) == "must be at least 1, got 0"
    assert _check_literal(param, 1) == ""


@pytest.mark.parametrize(("line", "column", "index"), [(1, 1, 0), (2, 2, 4), (3, 1, 6), (3, 9, 8)])
def test_lines_and_columns_become_indexes(line, column, index):
    assert index_at("ab\ncd\nef", line, column) == index


def policy(name, *above, says="cancel_branch", keys=""):
    depends_on = f"depends_on: [{', '.join(above)}], " if above else ""
    return (
        f"{{name: {name}, action: bash/run, params: {{command: a}}, {keys}{depends_on}"
        f"on_dep_failure: {says}}}"
    )


PLAIN = "{name: a, action: bash/run, params: {command: a}}"


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([PLAIN, policy("b", "a")], id="leaf"),
        pytest.param([PLAIN, policy("b", "a"), policy("c", "b")], id="branch"),
        pytest.param(
            [PLAIN, policy("b", "a", keys="continue_on_error: true, "), policy("c", "b")],
            id="tolerated step in a branch",
        ),
        pytest.param([PLAIN, policy("b", "a", says="fail_run")], id="default said"),
    ],
)
def test_a_policy_that_contains_something_is_no_mistake(steps):
    assert codes_of(with_steps(*steps)) == []


def test_in_a_circle_only_the_circle_is_reported():
    assert codes_of(with_steps(policy("a", "b"), policy("b", "a"))) == ["dependency-cycle"]


def test_a_policy_is_judged_beside_a_step_that_could_not_be_read():
    broken = "{name: c, action: bash/run, params: {command: a}, depends_on: [b], timeout: 1d}"
    assert codes_of(with_steps(PLAIN, policy("b", "a"), broken)) == ["invalid-duration"]
