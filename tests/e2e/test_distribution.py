"""Workers that are machines of their own: what is lost with one, and who runs on which."""

from __future__ import annotations

import pytest
from celery_airflow import DOOMED
from e2e_scripts import LiveRun, script

pytestmark = [pytest.mark.e2e, pytest.mark.celery]

AT_WORK = {
    "lost-step": ("again", "work"),
    "lost-outcome": ("workflow_outcome",),
    "lost-hook": ("on_success.first",),
}
"""Workflow -> its tasks that run on the machine when it is lost."""
HELD = ("/hold/lost-step/again", "/hold/lost-step/work", "/hold/lost-hook")
"""The calls that those tasks, but the outcome, wait for."""


@script("lost-step")
def lose_the_machine(run):
    """Kill one worker with all it runs, then bring a new one up: one loss for all scenarios."""
    suite = run.suite
    yield from run.until(lambda: AT_WORK.keys() == live_runs(suite).keys())
    for dag_id, task_ids in AT_WORK.items():
        for task_id in task_ids:
            yield from live_runs(suite)[dag_id].until_running(task_id)
    for path in HELD:
        yield from run.until(lambda path=path: calls(suite, path))
    suite.airflow.kill_component(DOOMED)
    suite.inbox.hold("lost-step/again").set()
    suite.airflow.start_component(DOOMED)


def live_runs(suite):
    runs = {key.partition(" ")[0]: run_id for key, run_id in tuple(suite.run_ids.items())}
    return {
        dag_id: LiveRun(suite, dag_id, runs[dag_id], inputs={})
        for dag_id in AT_WORK
        if dag_id in runs
    }


def calls(suite, path):
    return [request.body for request in suite.inbox.requests if request.path == path]


@pytest.mark.workflow("lost-step")
def test_a_step_that_is_lost_with_its_worker_may_try_again_or_has_failed(run, suite):
    assert run.state == "failed"
    assert calls(suite, "/echo/lost-step") == [
        {"failed_steps": ["work"], "error": "killed, lost or marked failed", "again": "COMPLETED"}
    ]
    tries = {name: run.tasks[name]["try_number"] for name in ("again", "work")}
    assert tries == {"again": 2, "work": 1}
    assert calls(suite, "/hold/lost-step/work") == [None]
    assert run.tasks["on_success.celebrate"]["try_number"] == 0


@pytest.mark.workflow("lost-outcome")
def test_an_outcome_that_is_lost_with_its_worker_is_made_again(run, suite):
    assert run.state == "success"
    outcome = run.tasks["workflow_outcome"]
    assert (outcome["state"], outcome["try_number"]) == ("success", 2)
    assert calls(suite, "/echo/lost-outcome") == [{"status": "completed"}]


@pytest.mark.workflow("lost-hook")
def test_a_hook_that_is_lost_with_its_worker_ends_its_block_and_not_the_run(run, suite):
    assert run.state == "success"
    assert run.task_states["on_success.second"] == "upstream_failed"
    assert calls(suite, "/echo/lost-hook") == [{"status": "completed", "failed_hooks": ["first"]}]


@pytest.mark.workflow("placed")
def test_a_step_runs_where_its_file_says(run):
    assert run.state == "success"
    places = {
        name: {key: run.tasks[name][key] for key in ("queue", "executor", "pool")}
        for name in ("on-reserved-queue", "on_finish.also-reserved")
    }
    reserved = {"queue": "reserved", "executor": None, "pool": "default_pool"}
    assert places == dict.fromkeys(places, reserved)
    assert run.tasks["beside-the-scheduler"]["executor"] == "LocalExecutor"
    in_a_pool = run.tasks["in-a-pool"]
    assert (in_a_pool["pool"], in_a_pool["executor_config"]) == ("two-slots", "{'note': 'kept'}")


@pytest.mark.last
@pytest.mark.workflow("placed")
def test_both_workers_have_had_their_share(run, suite):
    done = [
        suite.airflow.log_path(worker).read_text().count("succeeded in")
        for worker in ("worker-1", "worker-2")
    ]
    assert min(done) > 0
