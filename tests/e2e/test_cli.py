"""The commands on runs, against a real Airflow."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.e2e


@pytest.fixture
def mantle(mantle):
    """Run a command; return its exit code and what it printed, with times and versions replaced."""

    def run(*arguments):
        code, output, errors = mantle(*arguments)
        lines = [re.sub(" {2,}", "  ", line) for line in output.splitlines()]
        lines = [re.sub(r"\b\d[\dhms.]*[hms]\b", "TIME", line) for line in lines]
        lines = [re.sub("^version: [0-9a-f]{12}$", "version: ID", line) for line in lines]
        return code, lines, errors

    return run


@pytest.mark.workflow("seed-success")
def test_status_of_a_completed_run(run, mantle):
    code, lines, _ = mantle("status", run.dag_id, run.run_id)
    assert code == 0
    assert lines[1:] == [
        "run: success, TIME",
        "workflow: completed",
        "version: ID",
        "",
        "steps",
        "  fetch-data  COMPLETED  TIME",
        "",
        "on_success",
        "  notify-team  success  TIME",
        "",
        "on_failure",
        "  alert-ops  skipped",
        "",
        "on_finish",
        "  cleanup  success  TIME",
    ]


@pytest.mark.workflow("seed-failed")
def test_status_of_a_failed_run(run, mantle):
    error = "http/request: GET /error returned 500"
    code, lines, _ = mantle("status", run.dag_id, run.run_id)
    assert code == 1
    assert lines == [
        f"seed-failed {run.run_id}",
        "run: failed, TIME",
        f'workflow: failed at step "fetch-data": {error}',
        "version: ID",
        "",
        "steps",
        f"  fetch-data  FAILED  fatal  TIME  {error}",
        "",
        "on_success",
        "  notify-team  upstream_failed",
        "",
        "on_failure",
        "  alert-ops  success  TIME",
        "",
        "on_finish",
        "  cleanup  success  TIME",
    ]


@pytest.mark.workflow("seed-timed-out")
def test_status_of_a_run_that_timed_out(run, mantle):
    code, lines, _ = mantle("status", run.dag_id, run.run_id)
    assert code == 1
    assert lines[1:3] == [
        "run: failed, TIME",
        'workflow: timed_out at step "fetch-data": workflow timed out after TIME',
    ]


@pytest.mark.workflow("plain-failure")
def test_status_of_a_run_without_an_outcome(run, mantle):
    code, lines, _ = mantle("status", run.dag_id, run.run_id)
    assert code == 1
    assert lines[1:] == [
        "run: failed, TIME",
        "workflow: failed",
        "",
        "steps",
        "  fetch-prices  failed  TIME  http/request: GET /error/404 returned 404",
        "  publish  upstream_failed",
    ]


def test_a_running_run_is_cancelled_once(suite, mantle):
    client = suite.client
    client.unpause("cancelled")
    run_id = client.trigger("cancelled")
    suite.airflow.wait(
        lambda: client.task_states("cancelled", run_id).get("long-work"),
        "the long step to run",
        seconds=120,
        is_good=lambda state: state == "running",
    )
    name = f'run "{run_id}" of "cancelled"'
    assert mantle("cancel", "cancelled", run_id) == (0, [f"cancelled {name}"], "")
    message = f"mantle: error: {name} has ended already: failed\n"
    assert mantle("cancel", "cancelled", run_id) == (1, [], message)
    code, lines, _ = mantle("status", "cancelled", run_id)
    assert code == 1
    assert lines[1:] == [
        "run: failed, TIME",
        "workflow: cancelled",
        "",
        "steps",
        "  long-work  failed  TIME",
        "",
        "on_failure",
        "  alert  skipped",
        "",
        "on_finish",
        "  clean-up  skipped",
    ]


def test_what_does_not_exist_is_said(mantle):
    message = 'mantle: error: there is no Dag "seed-faild"; did you mean "seed-failed"?\n'
    assert mantle("status", "seed-faild", "latest") == (2, [], message)
