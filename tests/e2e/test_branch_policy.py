"""Failures that stay in their branch, results and versions, against a real Airflow."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.e2e

DAG_ID = "contain-failures"
ERROR = "http/request: GET /stock/atlantis returned 404"


@pytest.mark.workflow(DAG_ID)
def test_a_contained_failure_cancels_its_branch_and_the_run_completes(run):
    assert run.state == "success"
    assert {name: state for name, state in run.task_states.items() if "_" not in name} == {
        "stock-north": "success",
        "stock-west": "success",
        "stock-east": "failed",
        "archive-north": "success",
        "total": "upstream_failed",
    }
    assert run.output("on_success.name-gaps") == {"result": 'without ["stock-east"]'}


@pytest.mark.workflow(DAG_ID)
def test_the_outcome_says_what_was_contained_and_cancelled(run):
    events = map(json.loads, run.log_text("workflow_outcome").splitlines())
    ours = "mantle_provider.operators.outcome"
    lines = [event["event"] for event in events if event.get("logger") == ours]
    assert lines == [
        "workflow completed",
        f'contained failure: step "stock-east" FAILED in EXECUTION, try 1: ActionError: {ERROR}',
        '  cancelled because of it: "total"',
        'completed: "stock-north", "stock-west", "archive-north"',
    ]


@pytest.mark.workflow(DAG_ID)
def test_a_contained_run_has_no_result_and_says_why(run, mantle):
    assert mantle("result", run.dag_id, run.run_id) == (
        1,
        "",
        f'mantle: error: run "{run.run_id}" of "{DAG_ID}": the workflow has no result:'
        ' step "total" is CANCELLED (step "stock-east" failed)\n',
    )
    assert wait_for_results(run) == {"state": "success"}


@pytest.mark.workflow(DAG_ID, east="south")
def test_a_run_gives_its_result_to_the_command_and_to_airflow(run, mantle):
    code, out, err = mantle("result", run.dag_id, run.run_id)
    assert (code, json.loads(out), err) == (0, {"result": "21 pieces"}, "")
    assert wait_for_results(run) == {
        "state": "success",
        "results": {"total": {"result": "21 pieces"}},
    }


@pytest.mark.workflow(DAG_ID, east="south")
def test_the_state_names_the_version_that_the_plan_names(run, mantle, suite):
    _, plan, _ = mantle("plan", str(suite.folder / f"{DAG_ID}.yaml"), "--format", "json")
    _, status, _ = mantle("status", run.dag_id, run.run_id, "--format", "json")
    version = json.loads(plan)["version"]
    report = json.loads(status)
    assert (report["version"], report["started_version"]) == (version, version)


def wait_for_results(run):
    """Return what Airflow itself says of the results of a run that has ended."""
    path = f"/api/v2/dags/{run.dag_id}/dagRuns/{run.run_id.replace('+', '%2B')}/wait?interval=1"
    return run.client.call(path)
