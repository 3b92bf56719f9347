"""Workflows that run other workflows: what is handed down, what comes back, and who ends whom."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.e2e

CHILDREN = (
    "child-sum",
    "child-broken",
    "child-late",
    "child-flaky",
    "child-deep",
    "child-slow",
)
PARENTS = {
    "child-sum-parent": {},
    "child-broken-parent": {},
    "child-late-parent": {},
    "child-flaky-parent": {},
    "child-refused-parent": {},
    "child-cut-parent": {},
    # As if eight runs stood above it: all eleven would take minutes.
    "child-deep": {"trigger": {"depth": 8}},
}
NO_RECORD = "failed without saying why: killed, lost, marked failed, or no step of a workflow"


@pytest.fixture(scope="module")
def parents(suite):
    """Start every parent once its children can run, and return Dag id -> run id."""
    client = suite.client
    wanted = {*CHILDREN, *PARENTS, "child-slow-parent", "child-paused"}
    suite.airflow.wait(
        lambda: wanted - client.dag_ids(),
        "the children and their parents to be loaded",
        seconds=60,
        is_good=lambda missing: not missing,
    )
    for dag_id in sorted(wanted - {"child-paused"}):
        client.unpause(dag_id)
    return {dag_id: client.trigger(dag_id, conf) for dag_id, conf in PARENTS.items()}


@pytest.fixture
def finished(suite, parents):
    """Return the finished run of a parent."""
    return lambda dag_id: suite.finished_run(dag_id, parents[dag_id])


@pytest.fixture
def deferred_parent(suite, parents):
    """Start a parent that waits for a slow child at work, and return both runs' ids."""
    client = suite.client

    def wait_for(dag_id, run_id, task_id, state):
        suite.airflow.wait(
            lambda: client.task_states(dag_id, run_id).get(task_id),
            f"{task_id} of {dag_id} to be {state}",
            seconds=240,
            is_good=lambda seen: seen == state,
        )

    def start(seconds):
        run_id = client.trigger("child-slow-parent", {"seconds": seconds})
        wait_for("child-slow-parent", run_id, "run-it", "deferred")
        (child_id,) = children_of(client, "child-slow-parent", run_id, "child-slow")
        wait_for("child-slow", child_id, "nap", "running")
        return run_id, child_id

    return start


def children_of(client, parent, parent_run_id, child):
    """Return the runs that one run of a parent has started, oldest first."""
    runs = client.call(f"/api/v2/dags/{child}/dagRuns?limit=1000&order_by=run_after")["dag_runs"]
    triggers = {run["dag_run_id"]: run["conf"].get("trigger", {}) for run in runs}
    return [
        run_id
        for run_id, trigger in triggers.items()
        if (trigger.get("workflow"), trigger.get("run_id")) == (parent, parent_run_id)
    ]


def posted(suite, path):
    return [request.body for request in suite.inbox.requests if request.path == path]


def test_a_childs_outputs_are_read_by_step(finished):
    run = finished("child-sum-parent")
    assert run.state == "success"
    output = run.output("sum")
    assert output["run_id"].startswith("child-sum-parent.sum__")
    assert output["steps"] == {"add": {"output": {"result": "42"}}}
    assert run.output("report") == {"result": "completed 42"}


def test_a_child_runs_its_own_hooks_and_knows_its_parent(finished, suite):
    finished("child-sum-parent")
    assert {"started_by": "child-sum-parent", "step": "sum"} in posted(suite, "/echo/child-sum")


def test_a_hook_may_start_a_child_without_a_wait(finished, suite):
    output = finished("child-sum-parent").output("on_finish.start-only")
    assert output["status"] == "started"
    child = suite.finished_run("child-sum", output["run_id"])
    assert (child.state, child.output("add")) == ("success", {"result": "2"})


def test_a_failed_child_fails_the_step_and_its_output_is_kept(finished, suite):
    assert finished("child-broken-parent").state == "failed"
    assert posted(suite, "/echo/child-broken-parent") == [
        {
            "status": "failed",
            "worked": "worked",
            "error": 'workflow/run: child workflow "child-broken" failed: '
            "http/request: GET /error/418 returned 418",
        }
    ]
    assert posted(suite, "/echo/child-broken") == [{"depth": 1}]


def test_a_child_that_timed_out_has_not_timed_out_its_parent(finished, suite):
    assert finished("child-late-parent").state == "failed"
    assert posted(suite, "/echo/child-late-parent") == [
        {
            "status": "failed",
            "child": "timed_out",
            "error": 'workflow/run: child workflow "child-late" timed out: '
            "workflow timed out after 5s",
        }
    ]


def test_each_attempt_starts_a_child_of_its_own(finished, suite):
    run = finished("child-flaky-parent")
    assert (run.state, run.tasks["run-it"]["try_number"]) == ("success", 2)
    children = children_of(suite.client, run.dag_id, run.run_id, "child-flaky")
    assert len(children) == 2
    states = [suite.client.run_state("child-flaky", child) for child in children]
    assert states == ["failed", "success"]
    assert run.output("run-it")["run_id"] == children[1]


def test_the_eleventh_level_is_refused(finished):
    run = finished("child-deep")
    assert run.state == "failed"
    prefix = 'workflow/run: child workflow "child-deep" failed: '
    assert run.xcoms("deeper")["mantle_error"]["message"] == (
        f"{prefix * 2}workflow/run: max workflow depth 10 exceeded (current depth: 11)"
    )


def test_why_a_child_cannot_be_started_is_said(finished, suite):
    assert finished("child-refused-parent").state == "success"
    (errors,) = posted(suite, "/echo/child-refused-parent")
    assert errors.pop("other-version").startswith(
        'workflow/run: child workflow "child-sum" failed: the run was started for version '
        '"000000000000" of this workflow, but its version is "'
    )
    assert errors == {
        "unknown": 'workflow/run: workflow "no-such-workflow" not found',
        "paused": 'workflow/run: workflow "child-paused" is paused, so that its run would wait '
        "for ever; unpause it in the Airflow UI",
        "without-input": 'workflow/run: workflow "child-sum" cannot be run: its input "a" is '
        "missing, of another type, or none of its choices",
    }


def test_a_step_that_runs_out_of_time_leaves_its_child_running(finished, suite):
    run = finished("child-cut-parent")
    assert run.state == "failed"
    assert run.xcoms("run-it")["mantle_error"]["type"] == "StepTimeout"
    (child_id,) = children_of(suite.client, run.dag_id, run.run_id, "child-slow")
    assert suite.finished_run("child-slow", child_id).state == "success"


def test_a_child_that_a_user_cancels_has_failed_the_step(deferred_parent, suite):
    run_id, child_id = deferred_parent(seconds=100)
    suite.client.mark_failed("child-slow", child_id)
    run = suite.finished_run("child-slow-parent", run_id)
    assert run.state == "failed"
    assert run.xcoms("run-it")["mantle_error"]["message"] == (
        f'workflow/run: child workflow "child-slow" failed: "nap" {NO_RECORD}'
    )
    assert run.task_states["on_failure.alert"] == "success"


def test_a_parent_that_a_user_cancels_ends_at_once_and_its_child_goes_on(deferred_parent, suite):
    run_id, child_id = deferred_parent(seconds=20)
    suite.client.mark_failed("child-slow-parent", run_id)
    assert suite.finished_run("child-slow", child_id).state == "success"
    assert suite.client.run_state("child-slow-parent", run_id) == "failed"
    states = suite.client.task_states("child-slow-parent", run_id)
    assert states.pop("run-it") == "failed"
    assert set(states.values()) == {"skipped"}


def test_a_wait_goes_on_after_a_restart_of_the_triggerer(deferred_parent, suite):
    run_id, child_id = deferred_parent(seconds=25)
    suite.airflow.restart_component("triggerer")
    run = suite.finished_run("child-slow-parent", run_id)
    assert (run.state, run.tasks["run-it"]["try_number"]) == ("success", 1)
    assert run.output("run-it") == {
        "run_id": child_id,
        "status": "completed",
        "steps": {"nap": {"output": {"result": ""}}},
    }
