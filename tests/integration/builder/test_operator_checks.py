"""Which Airflow operators can be steps, and with which arguments."""

from __future__ import annotations

import pytest

from mantle_provider.builder.operator_checks import check_operators
from mantle_provider.check import check_text
from mantle_provider.diagnostics import render_line

WORKFLOW = """\
name: test
steps:
  - name: a
    action: airflow/operator
    params:
      operator: {operator}
"""
BASH = "airflow.providers.standard.operators.bash.BashOperator"


def problems(operator, *lines):
    text = WORKFLOW.format(operator=operator) + "".join(f"      {line}\n" for line in lines)
    result = check_text(text, "test.yaml")
    assert result.workflow is not None, [
        render_line(result.report, d) for d in result.report.errors
    ]
    report = result.report.with_diagnostics(check_operators(result.workflow))
    return [render_line(report, item) for item in report.errors]


def test_operators_are_checked_wherever_a_step_may_stand():
    text = WORKFLOW.format(operator=BASH) + "      bash_command: echo\n"
    wrong = "- {name: x, action: airflow/operator, params: {operator: os.path}}"
    text += f"before_start:\n  {wrong}\nhooks:\n  on_finish:\n    {wrong}\n"
    result = check_text(text, "test.yaml")
    assert [found.path for found in check_operators(result.workflow)] == [
        ("before_start", 0, "params", "operator"),
        ("hooks", "on_finish", 0, "params", "operator"),
    ]


def test_an_operator_with_expressions_in_its_template_fields_is_fine():
    assert problems(BASH, 'bash_command: "echo {{ inputs }}"', 'env: {A: "{{ env.B }}"}') == []


@pytest.mark.parametrize(
    ("operator", "reason"),
    [
        (
            "airflow.providers.standard.operators.python.ShortCircuitOperator",
            'operator "ShortCircuitOperator" skips the tasks after it, which would skip hooks and '
            "turn failed runs green",
        ),
        (
            "airflow.providers.standard.operators.python.BranchPythonOperator",
            'operator "BranchPythonOperator" skips the tasks after it, which would skip hooks and '
            "turn failed runs green",
        ),
        (
            "airflow.providers.standard.operators.latest_only.LatestOnlyOperator",
            'operator "LatestOnlyOperator" skips the tasks after it, which would skip hooks and '
            "turn failed runs green",
        ),
        (
            "airflow.providers.standard.operators.hitl.ApprovalOperator",
            'operator "ApprovalOperator" skips the tasks after it, which would skip hooks and '
            "turn failed runs green",
        ),
        (
            "airflow.providers.standard.operators.hitl.HITLBranchOperator",
            'operator "HITLBranchOperator" skips the tasks after it, which would skip hooks and '
            "turn failed runs green",
        ),
        (
            "airflow.providers.standard.operators.trigger_dagrun.TriggerDagRunOperator",
            'operator "TriggerDagRunOperator" waits outside of its step, so that no timeout would '
            "hold",
        ),
    ],
    ids=lambda value: value.rpartition(".")[2] if value.startswith("airflow.") else "",
)
def test_operators_that_would_break_the_lifecycle_are_refused(operator, reason):
    assert problems(operator) == [
        f"test.yaml:6:17: error: {reason} (steps[0].params.operator) [refused-operator]"
    ]


@pytest.mark.parametrize(
    ("operator", "reason"),
    [
        (
            "no.such.module.Operator",
            'cannot import "no.such.module.Operator": there is no module "no"',
        ),
        ("json.dumps", '"json.dumps" is no Airflow operator'),
        ("json.nothing", 'cannot import "json.nothing": module "json" has no "nothing"'),
    ],
)
def test_what_is_no_operator_is_refused(operator, reason):
    assert problems(operator) == [
        f"test.yaml:6:17: error: {reason} (steps[0].params.operator) [unknown-operator]"
    ]


def test_unknown_and_missing_arguments_are_reported():
    assert problems(BASH, "bash_comand: x") == [
        'test.yaml:6:7: error: operator "BashOperator" requires the argument "bash_command" '
        "(steps[0].params) [missing-param]",
        'test.yaml:7:7: error: operator "BashOperator" has no argument "bash_comand"; '
        'did you mean "bash_command"? (steps[0].params.bash_comand) [unknown-param]',
    ]


def test_an_expression_outside_of_the_template_fields_is_reported():
    assert problems(BASH, "bash_command: x", 'output_encoding: "{{ env.ENCODING }}"') == [
        'test.yaml:8:24: error: argument "output_encoding" of operator "BashOperator" is no '
        "template field and cannot hold an expression (steps[0].params.output_encoding) "
        "[template-not-allowed]"
    ]
