"""`outputs`: what of a step's output must be there, and what is kept."""

from __future__ import annotations

import pytest
from airflow.sdk.exceptions import AirflowFailException

from mantle_provider.errors import WorkflowError
from mantle_provider.workflow.model import Outputs, Step, Workflow
from support.runs import FakeRun

ROWS = {"rows": [1, 2, 3], "path": "a.csv", "note": None}


def run_of(result, *, required=(), mapping=None, action="python/call"):
    if action == "python/call":
        params = {"callable": "support.functions.echo", "args": [result]}
    else:
        params = {"operator": "support.operators.Echo", "text": result}
    outputs = Outputs(required=required, map=mapping or {})
    return FakeRun(
        Workflow(
            name="test",
            steps=(
                Step(name="a", action=action, params=params, outputs=outputs),
                Step(
                    name="b",
                    action="python/call",
                    params={
                        "callable": "support.functions.echo",
                        "args": ["{{ steps.a.output }}"],
                    },
                    depends_on=("a",),
                ),
            ),
        )
    )


def failure(run):
    with pytest.raises((WorkflowError, AirflowFailException)):
        run.run("a")
    record = run.record("a")
    return {key: record[key] for key in ("phase", "field", "expression", "message")}


def test_the_output_is_exactly_what_the_map_says():
    mapping = {"count": "size(output.rows)", "file": "output.path + '.gz'"}
    run = run_of(ROWS, required=("rows", "path"), mapping=mapping)
    run.run("a")
    run.run("b")
    assert run.output("a") == run.output("b") == {"count": 3, "file": "a.csv.gz"}


def test_without_a_map_the_output_is_kept_whole():
    run = run_of(ROWS, required=("rows",))
    run.run("a")
    assert run.output("a") == ROWS


def test_a_map_reads_everything_that_parameters_read():
    run = run_of(ROWS, mapping={"who": "execution.workflow_name + '/' + output.path"})
    run.run("a")
    assert run.output("a") == {"who": "test/a.csv"}


@pytest.mark.parametrize("name", ["gone", "note"], ids=["missing", "null"])
def test_a_required_field_that_is_missing_or_null_fails_the_step(name):
    run = run_of(ROWS, required=("rows", name), mapping={"n": "size(output.rows)"})
    assert failure(run) == {
        "phase": "OUTPUT_VALIDATION",
        "field": name,
        "expression": None,
        "message": f'the output lacks "{name}", which `outputs.required` asks for',
    }
    assert run.output("a") is None


def test_an_operator_of_airflows_is_checked_alike():
    run = run_of("plain", required=("rows",), action="airflow/operator")
    assert failure(run)["message"] == 'the output lacks "rows", which `outputs.required` asks for'
    run = run_of("plain", mapping={"text": "output.result"}, action="airflow/operator")
    run.run("a")
    assert run.output("a") == {"text": "plain"}


def test_an_expression_that_fails_is_named_and_nothing_is_kept():
    run = run_of(ROWS, mapping={"n": "size(output.rows)", "x": "output.gone.x"})
    assert failure(run) == {
        "phase": "OUTPUT_MAPPING",
        "field": "outputs.map.x",
        "expression": "output.gone.x",
        "message": 'cannot evaluate `outputs.map.x`: no such key: "gone"',
    }
    # As of every other place of an expression, so that one rule of `on_error` tells them all.
    assert run.record("a")["type"] == "ExpressionError"
    assert run.output("a") is None


def test_a_value_that_json_does_not_have_is_named():
    run = run_of(ROWS, mapping={"at": "timestamp('2026-01-01T00:00:00Z')"})
    assert failure(run) == {
        "phase": "OUTPUT_MAPPING",
        "field": "outputs.map.at",
        "expression": "timestamp('2026-01-01T00:00:00Z')",
        "message": "`outputs.map.at` cannot be kept: output.at is of type datetime, which JSON "
        "does not have",
    }


def test_a_mapped_output_has_the_same_limit(monkeypatch):
    monkeypatch.setenv("AIRFLOW__MANTLE__MAX_OUTPUT_BYTES", "60")
    mapping = dict.fromkeys(("one", "two", "six"), "output.path + output.path + output.path")
    run = run_of({"path": "x" * 10}, mapping=mapping)
    assert failure(run) == {
        "phase": "OUTPUT_MAPPING",
        "field": "outputs.map",
        "expression": None,
        "message": "output is 118 bytes of JSON; at most 60 are allowed ([mantle] "
        "max_output_bytes): keep the data in a file or a store and give out its name",
    }
