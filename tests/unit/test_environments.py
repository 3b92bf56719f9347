"""Values files and named environments, where the projects of tests/cases do not show them."""

from __future__ import annotations

import pytest

from mantle_provider.diagnostics import render_text
from mantle_provider.plan.planner import plan_workflow

WORKFLOW = "name: flow\nsteps:\n  - {name: a, action: bash/run, params: {command: echo}}\n"


def codes(result):
    return [item.code for item in result.report.diagnostics]


INPUTS = "inputs:\n  n: {type: number, default: 1}\n  s:\n"


def test_an_environment_gives_inputs_other_defaults(project):
    project.write("values/prod.yaml", "inputs: {n: 5, s: text, other: 1}\n")
    text = WORKFLOW + INPUTS
    workflow = project.workflow("flow.yaml", text, environment="prod")
    assert [(item.name, item.default) for item in workflow.inputs] == [("n", 5), ("s", "text")]
    assert [item.default for item in project.workflow("flow.yaml", text).inputs] == [1, None]


def test_an_environment_gives_texts_under_names_in_upper_case(project):
    project.write("values/prod.yaml", "env: {a: x, B: 1.50, c: true, d: , e: '5', f: 0x1F}\n")
    workflow = project.workflow("flow.yaml", WORKFLOW, environment="prod")
    assert workflow.env == {"A": "x", "B": "1.50", "C": "true", "D": "", "E": "5", "F": "0x1F"}


def test_a_plan_has_the_values_that_its_expressions_read_and_never_shows_them(project):
    project.write("values/prod.yaml", "env: {a: secret-a, b: secret-b}\n")
    text = WORKFLOW.replace("echo", "'echo {{ env.A }}'")
    plan = plan_workflow(project.workflow("flow.yaml", text, environment="prod"))
    assert plan.env == {"A": "secret-a"}
    assert "secret" not in f"{plan} {plan.to_data()} {project.workflow('flow.yaml')}"
    computed = WORKFLOW.replace("echo", "\"echo {{ env['A' + ''] }}\"")
    plan = plan_workflow(project.workflow("flow.yaml", computed, environment="prod"))
    assert plan.env == {"A": "secret-a", "B": "secret-b"}
    assert plan_workflow(project.workflow("flow.yaml", WORKFLOW, environment="prod")).env is None


def test_values_that_are_read_count_in_the_version(project):
    text = WORKFLOW.replace("echo", "'echo {{ env.A }}'")

    def version(values):
        project.write("values/prod.yaml", values)
        return plan_workflow(project.workflow("flow.yaml", text, environment="prod")).version

    assert version("env: {a: x}\n") == version("env: {a: x, b: y}\n") != version("env: {a: y}\n")


@pytest.mark.parametrize(
    "values",
    [
        "env: {token: hidden-value, token: hidden-value}\n",
        "env: {token: [hidden-value]}\n",
        "env: [hidden-value]\n",
        "env:\n  token: hidden-value\n wrong: [\n",
        "env:\n  token: 'hidden-value\n",
        "env: {token: {{ hidden }}}\n",
        "env: hidden-value\n",
        "env: {token: 12345678901234567890hidden, pin: 99999999999999999999999987}\n",
        "env: {token: *hidden-value}\n",
        "env: {token: !hidden-value x}\n",
        "env: {token: !!int hidden-value}\n",
        "env: &hidden-value {token: *hidden-value}\n",
        "x-a: &hidden-value a\nenv: {token: *hidden-walue}\n",
    ],
)
def test_a_mistake_in_a_values_file_shows_no_value(project, values):
    project.write("values/prod.yaml", values)
    result = project.check("flow.yaml", WORKFLOW, environment="prod")
    assert result.workflow is None
    text = render_text(result.report)
    assert "hidden" not in text
    assert "9987" not in text
    # A loader of the folder comes by the file, too.
    assert "hidden" not in render_text(project.check("values/prod.yaml").report)


def test_texts_of_an_environment_may_begin_with_a_zero(project):
    project.write("values/prod.yaml", "env: {pin: 0123}\n")
    assert project.workflow("flow.yaml", WORKFLOW, environment="prod").env == {"PIN": "0123"}


@pytest.mark.parametrize("path", ["values/prod.yaml#env.token", "other.yaml#env.token"])
def test_values_of_an_environment_cannot_be_included(project, path):
    project.write("values/prod.yaml", "env: {token: hidden}\n")
    (project.root / "other.yaml").symlink_to("values/prod.yaml")
    [item] = project.check("flow.yaml", f"{WORKFLOW}x-a: !include {path}\n").report.diagnostics
    assert (item.code, item.message) == (
        "invalid-include",
        f'cannot include "{path.partition("#")[0]}": it may hold secrets;'
        ' read its values as "env.X"',
    )


def test_a_values_file_may_be_empty_but_must_be_there(project):
    project.write("values/prod.yaml", "# nothing\n")
    assert project.workflow("flow.yaml", WORKFLOW, environment="prod").env == {}
    result = project.check("flow.yaml", environment="test")
    [item] = result.report.diagnostics
    assert (item.code, item.message) == (
        "missing-environment",
        'environment "test" has no values file "values/test.yaml"; known: "prod"',
    )
    assert result.sources == ("defaults.yaml", "values/test.yaml")


@pytest.mark.parametrize("name", ["test.yml", "TEST.YAML"])
def test_a_values_file_of_another_suffix_is_to_be_renamed(project, name):
    project.write(f"values/{name}", "env: {token: hidden}\n")
    [item] = project.check("flow.yaml", WORKFLOW, environment="test").report.diagnostics
    assert (item.code, item.message) == (
        "missing-environment",
        f'environment "test" has no values file "values/test.yaml"; rename "values/{name}"',
    )


@pytest.mark.parametrize(
    ("inputs", "expected"), [("{n: [1]}", ["wrong-type"]), ("[n]", ["wrong-type"])]
)
def test_values_leave_alone_what_is_no_input(project, inputs, expected):
    project.write("values/prod.yaml", "inputs: {n: 5}\n")
    text = f"{WORKFLOW}inputs: {inputs}\n"
    assert codes(project.check("flow.yaml", text, environment="prod")) == expected


def test_values_must_be_a_mapping_that_can_be_read(project):
    values = project.write("values/prod.yaml", "- inputs\n")
    result = project.check("flow.yaml", WORKFLOW, environment="prod")
    assert codes(result) == ["root-not-a-mapping"]
    values.unlink()
    values.mkdir()
    result = project.check("flow.yaml", WORKFLOW, environment="prod")
    assert codes(result) == ["unreadable-file"]


@pytest.mark.parametrize("name", ["Prod", "../prod", "-a", "a" * 64, "a b"])
def test_a_name_that_is_none_is_refused_before_anything_is_read(project, name):
    result = project.check("flow.yaml", WORKFLOW, environment=name)
    assert codes(result) == ["missing-environment"]
    assert result.sources == ("defaults.yaml",)
