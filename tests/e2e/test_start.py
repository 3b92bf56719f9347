"""What comes before the first step: ``before_start``, a first step that is skipped, and the limit
on parallel runs."""

from __future__ import annotations

import pytest
from e2e_scripts import LiveRun, script

pytestmark = pytest.mark.e2e

LIMIT = 2
ENDED = {"success", "failed"}


@script("rejecting")
def start_more_runs_than_are_allowed(first):
    """Return the runs started in turn and those started at once, each as admitted and refused.

    Which of them is refused is Airflow's choice: it may run the check of a later run first.
    """
    client = first.suite.client

    def start():
        return LiveRun(first.suite, first.dag_id, client.trigger(first.dag_id), {})

    def let_all_end(runs):
        client.set_slots("rejecting", LIMIT)
        for run in runs:
            yield from run.until_ended()
        client.set_slots("rejecting", 0)

    in_turn = [first]
    for _ in range(LIMIT):
        yield
        in_turn.append(start())
    decided = yield from until_decided(first, in_turn)
    yield from let_all_end(in_turn)

    at_once = [start() for _ in range(LIMIT + 2)]
    decided_at_once = yield from until_decided(first, at_once)
    yield from let_all_end(at_once)
    return decided, decided_at_once


def until_decided(first, runs):
    """Return the admitted and the refused runs, once each run has been checked."""
    yield from first.until(lambda: all(admission(run) in ENDED for run in runs))
    admitted = [run for run in runs if admission(run) == "success"]
    return admitted, [run for run in runs if run not in admitted]


def admission(run):
    return run.states()["workflow_admission"]


@pytest.mark.workflow("before-start-failed")
def test_no_step_runs_when_before_start_fails_but_the_hooks_do(run, suite):
    assert run.state == "failed"
    assert run.task_states == {
        "lock": "failed",
        "prepare": "upstream_failed",
        "work": "upstream_failed",
        "more-work": "upstream_failed",
        "workflow_outcome": "failed",
        "on_success.celebrate": "upstream_failed",
        "on_failure.alert": "success",
        "on_finish.clean-up": "success",
        "hooks_done": "success",
        "workflow_status": "upstream_failed",
    }
    (request,) = (
        request for request in suite.inbox.requests if request.path == "/echo/before-start-failed"
    )
    assert request.body == {
        "status": "failed",
        "failed_step": "lock",
        "error": "bash/run: the command exited with code 6",
        "lock": "FAILED",
        "work": "CANCELLED",
        "more_work": "CANCELLED",
    }


@pytest.mark.workflow("rejecting")
def test_one_run_too_many_is_refused_and_no_other(run):
    admitted, refused = run.seen[0]
    assert (states_of(run, admitted), states_of(run, refused)) == (["success"] * LIMIT, ["failed"])


@pytest.mark.workflow("rejecting")
def test_a_refused_run_runs_no_step_and_no_hook_and_says_why(run):
    _, (refused,) = run.seen[0]
    assert refused.states() == {
        "workflow_admission": "failed",
        "prepare": "upstream_failed",
        "work": "upstream_failed",
        "workflow_outcome": "failed",
        "on_success.celebrate": "upstream_failed",
        "on_failure.alert": "skipped",
        "on_finish.clean-up": "skipped",
        "hooks_done": "success",
        "workflow_status": "upstream_failed",
    }
    xcoms = run.client.xcoms(refused.dag_id, refused.run_id, "workflow_outcome")
    assert xcoms["mantle_workflow_state"]["error"] == (
        "rejected: 2 runs are at work, and at most 2 are allowed"
    )


@pytest.mark.workflow("rejecting")
def test_of_runs_that_start_at_once_as_many_as_allowed_are_at_work(run):
    admitted, refused = run.seen[1]
    assert states_of(run, admitted) == ["success"] * LIMIT
    assert states_of(run, refused) == ["failed"] * 2


def states_of(run, runs):
    return [run.client.run_state(live.dag_id, live.run_id) for live in runs]


@pytest.mark.workflow("first-skipped")
def test_a_first_step_that_is_skipped_ends_nothing(run):
    assert run.state == "success"
    assert run.task_states == {
        "optional": "skipped",
        "work": "success",
        "workflow_outcome": "success",
        "on_success.note": "success",
        "on_failure.alert": "skipped",
        "on_finish.clean-up": "success",
        "hooks_done": "success",
        "workflow_status": "success",
    }
    assert run.output("on_success.note") == {"result": "completed"}
