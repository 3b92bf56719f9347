"""What a user does to a run by hand: marks it, marks a step, clears one and runs it again."""

from __future__ import annotations

import pytest
from e2e_scripts import LiveRun, script

pytestmark = pytest.mark.e2e

QUIET_SECONDS = 8


def posted(suite, path):
    """Return the bodies that arrived at one path of the test service."""
    return [request.body for request in suite.inbox.requests if request.path == path]


def told_of(suite, run_id):
    """Return what the hooks of the runs that are marked have said about one of them."""
    return [body for body in posted(suite, "/echo/silence") if body["run"] == run_id]


@script("cancelled-queued")
def mark_the_run_that_waits(holder):
    client = holder.suite.client
    yield from holder.until_state("work", "scheduled")
    waiting = LiveRun(holder.suite, holder.dag_id, client.trigger(holder.dag_id), {})
    assert client.run_state(waiting.dag_id, waiting.run_id) == "queued"
    client.mark_run(waiting.dag_id, waiting.run_id, "failed")
    client.set_slots("cancelled-queued", 1)
    yield from holder.until_ended()
    # A run that was started after it goes through, so that the scheduler has passed it by.
    later = LiveRun(holder.suite, holder.dag_id, client.trigger(holder.dag_id), {})
    yield from later.until_ended()
    return waiting.run_id, client.run_state(waiting.dag_id, waiting.run_id), waiting.states()


@script("cancelled-middle")
def mark_the_run_in_its_middle(run):
    yield from run.until_state("middle", "running")
    run.suite.client.mark_run(run.dag_id, run.run_id, run.inputs["mark"])
    return (yield from run.until_quiet(QUIET_SECONDS))


@script("cancelled-retry")
def mark_the_run_between_two_attempts(run):
    yield from run.until_state("try-again", "up_for_retry")
    run.suite.client.mark_run(run.dag_id, run.run_id, "failed")
    # Longer than the ten seconds until the next attempt.
    return (yield from run.until_quiet(QUIET_SECONDS + 10))


@script("cancelled-hook")
def mark_the_run_in_a_hook(run):
    yield from run.until_state("on_success.slow", "running")
    run.suite.client.mark_run(run.dag_id, run.run_id, "failed")
    return (yield from run.until_quiet(QUIET_SECONDS))


@script("marked-step")
def mark_the_step(run):
    yield from run.until_state("work", "running")
    run.suite.client.mark_task(run.dag_id, run.run_id, "work", "failed")


CLEARS = {
    "downstream": {"downstream": True, "only_failed": False},
    "failed": {"downstream": True, "only_failed": True},
    "alone": {"downstream": False, "only_failed": False},
}


@script("cleared")
def clear_a_step_of_the_finished_run(run):
    state = yield from run.until_ended()
    run.suite.client.clear(run.dag_id, run.run_id, "moody", **CLEARS[run.inputs["clear"]])
    return state


@script("cleared-timed-out")
def clear_the_step_after_its_time(run):
    state = yield from run.until_ended()
    yield from run.until_older(121)
    run.suite.client.clear(run.dag_id, run.run_id, "work", downstream=True, only_failed=False)
    return state


@script("hook-again")
def clear_the_hook_after_the_hooks_time(run):
    state = yield from run.until_ended()
    yield from run.until_quiet(31)
    run.suite.client.clear(
        run.dag_id, run.run_id, "on_finish.moody", downstream=False, only_failed=False
    )
    return state


@pytest.mark.workflow("cancelled-queued")
def test_a_run_marked_failed_before_it_began_never_begins(run, suite):
    run_id, state, states = run.seen
    assert run.state == "success"
    assert state == "failed"
    assert {*states.values()} <= {None, "skipped"}
    assert told_of(suite, run_id) == []
    assert len(told_of(suite, run.run_id)) == 2


@pytest.mark.workflow("cancelled-middle", mark="failed")
def test_a_run_marked_failed_runs_nothing_more(run, suite):
    assert run.state == "failed"
    assert run.task_states == run.seen
    assert run.seen == {
        "first": "success",
        "middle": "failed",
        **dict.fromkeys(run.seen.keys() - {"first", "middle"}, "skipped"),
    }
    assert told_of(suite, run.run_id) == []


@pytest.mark.workflow("cancelled-middle", mark="success")
def test_a_run_marked_success_is_as_silent(run, suite):
    assert run.state == "success"
    assert run.task_states == run.seen
    assert run.seen == {
        "first": "success",
        "middle": "success",
        **dict.fromkeys(run.seen.keys() - {"first", "middle"}, "skipped"),
    }
    assert told_of(suite, run.run_id) == []


@pytest.mark.workflow("cancelled-retry")
def test_a_run_marked_failed_has_no_further_attempt(run, suite):
    assert run.state == "failed"
    assert run.task_states == run.seen
    assert {*run.seen.values()} == {"skipped"}
    assert run.tasks["try-again"]["try_number"] == 1
    assert told_of(suite, run.run_id) == []


@pytest.mark.workflow("cancelled-hook")
def test_a_run_marked_failed_in_a_hook_is_failed_though_its_steps_had_completed(run, suite):
    assert run.state == "failed"
    assert run.task_states == run.seen
    assert run.seen == {
        "work": "success",
        "workflow_outcome": "success",
        "on_success.block_begin": "success",
        "on_success.slow": "failed",
        "on_success.celebrate": "skipped",
        "on_finish.clean-up": "skipped",
        "hooks_done": "skipped",
        "workflow_status": "skipped",
    }
    assert told_of(suite, run.run_id) == []


@pytest.mark.workflow("marked-step")
def test_a_step_marked_failed_is_a_failed_step_and_the_hooks_run(run, suite):
    assert run.state == "failed"
    assert posted(suite, "/echo/marked-step") == [
        {
            "status": "failed",
            "failed_step": "work",
            "error": "killed, lost or marked failed",
            "step": "KILLED",
        }
    ]
    assert run.task_states["on_finish.clean-up"] == "success"


def told_after(suite, run_id):
    """Return what the hooks of a cleared run have said, as hook -> bodies in their order."""
    told = {"report": [], "alert": [], "clean-up": []}
    for body in posted(suite, "/echo/cleared"):
        if body["run"] == run_id:
            words = {key: value for key, value in body.items() if key not in {"run", "hook"}}
            told[body["hook"]].append(words)
    return told


COMPLETED = {
    "status": "completed",
    "failed_step": None,
    "failed_steps": [],
    "error": None,
    "moody": {"result": "try 2"},
    "moody_error": None,
    "publish": {"result": "try 2"},
}
"""What hooks know when the step works at its second try, as if it had never failed."""


@pytest.mark.workflow("cleared", works_at=2, clear="downstream")
def test_a_failed_step_cleared_with_downstream_makes_a_run_without_a_past(run, suite):
    assert (run.seen, run.state) == ("failed", "success")
    told = told_after(suite, run.run_id)
    assert len(told["alert"]) == 1
    assert told["report"] == [COMPLETED]
    _, after = told["clean-up"]
    reported = after.pop("reported")
    assert after == {**COMPLETED, "alerted": None}
    assert reported["json"]["received"]["status"] == "completed"
    assert run.task_states["on_failure.alert"] == "skipped"


@pytest.mark.workflow("cleared", works_at=2, clear="failed")
def test_only_failed_leaves_out_hooks_that_have_run_and_the_outcome_says_so(run, suite):
    assert (run.seen, run.state) == ("failed", "success")
    told = told_after(suite, run.run_id)
    assert told["report"] == [COMPLETED]
    assert (len(told["alert"]), len(told["clean-up"])) == (1, 1)
    assert (
        "These hooks are of an earlier verdict and do not run again: "
        "['on_failure.alert', 'on_finish.clean-up']"
    ) in run.log_text("workflow_outcome", try_number=2)


@pytest.mark.workflow("cleared", works_at=2, clear="alone")
def test_a_step_cleared_without_downstream_leaves_the_run_red_and_says_so(run, suite):
    assert (run.seen, run.state) == ("failed", "failed")
    assert run.task_states["moody"] == "success"
    assert run.task_states["publish"] == "upstream_failed"
    told = told_after(suite, run.run_id)
    assert {hook: len(bodies) for hook, bodies in told.items()} == {
        "report": 0,
        "alert": 1,
        "clean-up": 1,
    }
    text = "The verdict on this run is older than this try and stays as it is"
    assert text in run.log_text("moody", try_number=2)


@pytest.mark.workflow("cleared", works_at=1, clear="downstream")
def test_a_green_run_that_fails_when_run_again_reads_nothing_of_before(run, suite):
    assert (run.seen, run.state) == ("success", "failed")
    told = told_after(suite, run.run_id)
    assert len(told["report"]) == 1
    failed = {
        "status": "failed",
        "failed_step": "moody",
        "failed_steps": ["moody"],
        "error": "bash/run: the command exited with code 1",
        "moody": {"result": "try 2", "exit_code": 1},
        "moody_error": "bash/run: the command exited with code 1",
        "publish": None,
    }
    assert told["alert"] == [failed]
    _, after = told["clean-up"]
    assert after.pop("alerted")["json"]["received"]["status"] == "failed"
    assert after == {**failed, "reported": None}


@pytest.mark.workflow("cleared-timed-out")
def test_a_finished_run_that_is_cleared_gets_its_time_again(run):
    assert (run.seen, run.state) == ("success", "success")
    assert run.output("work") == {"result": "try 2"}


@pytest.mark.workflow("hook-again")
def test_a_hook_that_is_cleared_alone_gets_the_hooks_time_again(run):
    assert (run.seen, run.state) == ("success", "success")
    assert run.task_states["on_finish.moody"] == "success"
    assert run.output("on_finish.moody") == {"result": "reported"}
