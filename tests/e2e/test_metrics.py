"""What a run tells monitoring, read from a StatsD socket and from the tasks' logs."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from e2e_scripts import script

pytestmark = [pytest.mark.e2e, pytest.mark.workflow("metrics")]

STEPS = {
    "works": "completed",
    "skipped": "skipped",
    "tolerated": "failed",
    "fails": "failed",
    "cancelled": "cancelled",
    "killed": "killed",
}
TIMED = ("works", "tolerated", "fails")
HOOKS = {
    ("on_failure", "tell"): "completed",
    ("on_failure", "quiet"): "skipped",
    ("on_finish", "breaks"): "failed",
}

ADDED_BY_AIRFLOW = {
    *("timestamp", "level", "logger", "filename", "lineno"),
    *("dag_id", "run_id", "task_id", "map_index", "try_number", "ti_id"),
}


@script("metrics")
def kill_one_step(run):
    received = run.suite.inbox.requests
    yield from run.until(lambda: any(call.path == "/slow/60/metrics" for call in received))
    yield from run.kill("killed")


def test_each_metric_has_its_name_its_labels_and_its_count(run, suite):
    assert run.state == "failed"
    label = "workflow=metrics"
    steps = [f"mantle_steps_total,{label},step={s},status={how}:1|c" for s, how in STEPS.items()]
    times = [f"mantle_step_duration,{label},step={step}:|ms" for step in TIMED]
    hooks = [
        f"mantle_hook_steps_total,{label},hook={block},step={step},status={how}:1|c"
        for (block, step), how in HOOKS.items()
    ]
    expected = [
        *steps,
        *times,
        *hooks,
        f"mantle_hook_steps_failed_total,{label},hook=on_finish,step=breaks:1|c",
        f"mantle_executions_total,{label},status=failed:1|c",
        f"mantle_execution_duration,{label}:|ms",
    ]
    assert suite.metrics.of_workflow("metrics") == Counter(f"suite.{line}" for line in expected)


@pytest.mark.parametrize(("block", "step"), HOOKS)
def test_each_hook_event_is_one_structured_line_in_the_log_of_its_task(run, block, step):
    status = HOOKS[block, step]
    subject = {"workflow": "metrics", "run": run.run_id, "block": block, "step": step}
    ended = {"event": f"hook.step.{status}", **subject, "status": status}
    if status == "failed":
        ended["error"] = run.xcoms(f"{block}.{step}")["mantle_error"]["message"]
    assert events(run, f"{block}.{step}", "hook.step.") == [
        {"event": "hook.step.started", **subject, "status": "running", "attempt": 1},
        ended,
    ]


def test_the_end_of_the_run_is_a_line_in_the_log_of_the_outcome(run):
    assert events(run, "workflow_outcome", "workflow.") == [
        {
            "event": "workflow.ended",
            "workflow": "metrics",
            "run": run.run_id,
            "status": "failed",
        }
    ]


def events(run, task_id, prefix):
    """Return the lines of one kind, without what Airflow adds to each."""
    lines = [json.loads(line) for line in run.log_text(task_id).splitlines()]
    return [
        {key: value for key, value in line.items() if key not in ADDED_BY_AIRFLOW}
        for line in lines
        if line["event"].startswith(prefix)
    ]
