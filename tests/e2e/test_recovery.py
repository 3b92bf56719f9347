"""Failures that are answered: by another attempt, by another step, by a way that was chosen."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.e2e


@pytest.mark.workflow("recover")
def test_a_recovery_runs_in_the_place_of_the_failed_step_and_the_run_is_green(run):
    assert run.state == "success"
    assert run.task_states == {
        "todays-price": "failed",
        "yesterdays-price": "success",
        "publish": "success",
        "workflow_outcome": "success",
    }
    assert run.tasks["todays-price"]["try_number"] == 2
    assert run.output("publish") == {"result": "the price is 99"}


@pytest.mark.workflow("error-handler")
def test_a_handler_has_an_attempt_repeated_and_another_failure_recovered(run):
    assert run.state == "success"
    assert run.task_states == {
        "call-busy-service": "success",
        "load": "failed",
        "repair": "success",
        "workflow_outcome": "success",
    }
    tries = {name: run.tasks[name]["try_number"] for name in ("call-busy-service", "load")}
    assert tries == {"call-busy-service": 2, "load": 1}
    assert run.output("repair") == {
        "result": "repaired after bash/run: the command exited with code 3"
    }


@pytest.mark.workflow("route")
def test_the_way_that_a_router_chose_runs_and_the_other_is_skipped(run):
    assert run.task_states == {
        "count-orders": "success",
        "choose": "success",
        "long-report": "skipped",
        "short-report": "success",
        "send": "success",
        "workflow_outcome": "success",
    }
    assert run.output("choose") == {"to": "short-report"}
    assert run.output("send") == {"result": "sent a short report"}


@pytest.mark.workflow("route", many=1)
def test_what_a_router_reads_decides_its_way(run):
    assert run.output("choose") == {"to": "long-report"}
    assert run.output("send") == {"result": "sent a long report"}
