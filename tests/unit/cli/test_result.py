"""``mantle result``: a run's result, or why there is none."""

from __future__ import annotations

import json

import pytest

from mantle_provider.lifecycle import (
    OUTCOME,
    STATE,
    ErrorRecord,
    NodeStatus,
    WorkflowNodeState,
    WorkflowState,
)
from support.fake_airflow import DAG_ID, RUN_ID, make_run, make_task

LATER = "2026-11-30T12:13:00Z"


COMPLETED = WorkflowNodeState("total", NodeStatus.COMPLETED)


def judged(airflow, status="completed", node=COMPLETED, *, result="total"):
    """Let a run have ended whose one step ended in some way."""
    states = {NodeStatus.COMPLETED: "success", NodeStatus.CANCELLED: "upstream_failed"}
    run_state = "success" if status == "completed" else "failed"
    airflow.runs = [make_run(state=run_state)]
    airflow.tasks = [
        make_task("total", states.get(node.status, "failed")),
        make_task(OUTCOME, run_state),
    ]
    verdict = WorkflowState(status, {"total": node}, result_step=result)
    airflow.xcoms = {(OUTCOME, STATE): verdict.to_data()}
    if node is COMPLETED:
        airflow.xcoms["total", "return_value"] = {"sum": "3 €"}


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_the_result_is_printed_as_json_whatever_else_failed(airflow, mantle, status):
    judged(airflow, status)
    code, out, err = mantle("result", DAG_ID, "latest")
    assert (code, json.loads(out), err) == (0, {"sum": "3 €"}, "")
    assert "€" in out


def test_a_step_that_was_marked_success_has_an_empty_result(airflow, mantle):
    judged(airflow)
    del airflow.xcoms["total", "return_value"]
    assert mantle("result", DAG_ID, RUN_ID) == (0, "null\n", "")


def problem(mantle):
    code, out, err = mantle("result", DAG_ID, RUN_ID)
    assert (code, out) == (1, "")
    start = f'mantle: error: run "{RUN_ID}" of "{DAG_ID}": '
    assert err.startswith(start)
    return err.removeprefix(start).rstrip("\n")


def test_a_completed_run_whose_result_was_cancelled_has_none(airflow, mantle):
    reason = 'step "fetch" failed'
    judged(airflow, node=WorkflowNodeState("total", NodeStatus.CANCELLED, reason=reason))
    assert problem(mantle) == (
        'the workflow has no result: step "total" is CANCELLED (step "fetch" failed)'
    )


def test_a_failed_step_gives_its_reason(airflow, mantle):
    record = ErrorRecord("EXECUTION", "total", "no disk", "OSError", 1, "")
    judged(airflow, "failed", WorkflowNodeState("total", NodeStatus.FAILED, "fatal", record))
    assert problem(mantle) == 'the workflow has no result: step "total" is FAILED (no disk)'


def test_a_workflow_that_names_none_has_none(airflow, mantle):
    judged(airflow, result=None)
    assert problem(mantle) == 'the workflow has no result: it has no key "result"'
    airflow.tasks = [make_task("total", "success")]
    assert problem(mantle) == 'the workflow has no result: it has no key "result"'


def test_a_run_that_was_not_judged_has_none_yet(airflow, mantle):
    airflow.runs = [make_run(state="running", duration=None)]
    airflow.tasks = [make_task("total", "running"), make_task(OUTCOME, None, tries=0)]
    assert problem(mantle) == "the run is running, and its steps have not been judged yet"


def test_a_run_that_a_user_cancelled_has_none(airflow, mantle):
    airflow.runs = [make_run(state="failed")]
    airflow.tasks = [make_task("total", "failed"), make_task(OUTCOME, "skipped", tries=0)]
    assert problem(mantle) == "the run was cancelled before its steps were judged"


def test_a_lost_outcome_is_named(airflow, mantle):
    airflow.tasks = [make_task("total", "success"), make_task(OUTCOME, "failed")]
    assert problem(mantle) == "the outcome left no verdict that can be read"


def test_a_result_that_changed_since_is_not_told(airflow, mantle):
    judged(airflow)
    airflow.tasks[0] = make_task("total", "success", end=LATER)
    assert problem(mantle) == (
        'step "total" changed after the workflow was judged;'
        " clear that step with Downstream to run again from there"
    )
