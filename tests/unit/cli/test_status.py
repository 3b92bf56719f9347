"""``mantle status``: what it says of a run, word for word."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

from mantle_provider.cli import status as status_module
from mantle_provider.lifecycle import (
    OUTCOME,
    STATE,
    Cause,
    ErrorRecord,
    NodeStatus,
    WorkflowNodeState,
    WorkflowState,
)
from support.fake_airflow import DAG_ID, RUN_ID, as_json, make_run, make_task

VERDICT = (OUTCOME, STATE)
LATER = "2026-11-30T12:13:00Z"


def make_record(step, message, try_number=1):
    return ErrorRecord(
        phase="EXECUTION",
        step=step,
        message=message,
        type="ActionError",
        try_number=try_number,
        at="2026-11-30T12:12:24.180439+00:00",
        causes=(Cause("OSError", "gone"),),
    )


def make_node(name, status, effect=None, message=None, reason=None):
    record = make_record(name, message) if message else None
    return WorkflowNodeState(name, NodeStatus(status), effect, record, reason)


def make_verdict(status, *nodes, failed_step=None, error=None):
    by_name = {node.node_id: node for node in nodes}
    failed = tuple(node.node_id for node in nodes if node.effect)
    return WorkflowState(status, by_name, failed_step, failed, error).to_data()


def end_of_hooks(state="success", tries=1):
    return [
        make_task("hooks_done", state, tries=tries),
        make_task("workflow_status", state, tries=tries),
    ]


def completed(airflow):
    airflow.runs = [make_run(state="success")]
    airflow.tasks = [
        make_task("load", "success", duration=3725.04),
        make_task("extract", "failed", duration=0.01),
        make_task("maybe", "skipped"),
        make_task(OUTCOME, "success"),
        make_task("on_success.block_begin", "success"),
        make_task("on_success.tell", "success", end=LATER),
        make_task("on_success.register", "failed"),
        make_task("on_success.register_done", "success"),
        make_task("on_failure.alert", "skipped", tries=0),
        make_task("on_finish.audit", "failed", tries=2),
        *end_of_hooks(),
    ]
    airflow.xcoms = {
        VERDICT: make_verdict(
            "completed",
            make_node("extract", "FAILED", "tolerated", "first line\n\x1b[31msecond\tline"),
            make_node("maybe", "SKIPPED", reason="condition"),
            make_node("load", "COMPLETED"),
        ),
        ("on_success.register", "mantle_error"): make_record("register", "no route").to_data(),
        # Of the try before the last, which was killed.
        ("on_finish.audit", "mantle_error"): make_record("audit", "old").to_data(),
    }


COMPLETED = f"""\
    {DAG_ID} {RUN_ID}
    run: success, 20.6s
    workflow: completed

    steps
      extract  FAILED     tolerated  0s      first line [31msecond line
      maybe    SKIPPED               1.5s    condition
      load     COMPLETED             1h2m5s

    on_success
      register  failed   1.5s  no route
      tell      success  1.5s

    on_failure
      alert  skipped

    on_finish
      audit  failed  1.5s
    """


def failed(airflow):
    airflow.tasks = [
        make_task("extract", "failed"),
        make_task("load", "upstream_failed", tries=0),
        make_task("check", "failed"),
        make_task(OUTCOME, "failed"),
        make_task("on_failure.alert", "success"),
        *end_of_hooks(),
    ]
    airflow.xcoms = {
        VERDICT: make_verdict(
            "failed",
            make_node("extract", "FAILED", "fatal", "x" * 400),
            make_node("load", "CANCELLED", reason='step "extract" failed'),
            make_node("check", "KILLED", "fatal", reason="killed, lost or marked failed"),
            failed_step="extract",
            error="x" * 400,
        )
    }


FAILED = f"""\
    {DAG_ID} {RUN_ID}
    run: failed, 20.6s
    workflow: failed at step "extract": {"x" * 299}…

    steps
      extract  FAILED     fatal  1.5s  {"x" * 299}…
      load     CANCELLED               step "extract" failed
      check    KILLED     fatal  1.5s  killed, lost or marked failed

    on_failure
      alert  success  1.5s
    """


def did_not_run(airflow):
    """The verdict of a run that failed at no step."""
    airflow.tasks = [make_task(OUTCOME, "failed")]
    airflow.xcoms = {
        VERDICT: make_verdict(
            "failed", make_node("extract", "NOT_RUN"), error='step "extract" did not run'
        )
    }


DID_NOT_RUN = f"""\
    {DAG_ID} {RUN_ID}
    run: failed, 20.6s
    workflow: failed: step "extract" did not run

    steps
      extract  NOT_RUN
    """


def left_by_a_mark(airflow):
    """A run that a user had marked was revived by a clear of another step."""
    reason = "skipped when the run was marked"
    airflow.tasks = [make_task("extract", "skipped", tries=0), make_task(OUTCOME, "failed")]
    airflow.xcoms = {
        VERDICT: make_verdict(
            "failed",
            make_node("extract", "NOT_RUN", reason=reason),
            error='step "extract" did not run',
        )
    }


LEFT_BY_A_MARK = f"""\
    {DAG_ID} {RUN_ID}
    run: failed, 20.6s
    workflow: failed: step "extract" did not run

    steps
      extract  NOT_RUN  skipped when the run was marked
    """


def timed_out(airflow):
    airflow.tasks = [
        make_task("extract", "failed"),
        make_task(OUTCOME, "failed"),
        make_task("on_finish.audit", "running", duration=None),
    ]
    airflow.runs = [make_run(state="running", duration=None)]
    airflow.xcoms = {
        VERDICT: make_verdict(
            "timed_out",
            make_node("extract", "FAILED", "fatal", "workflow timed out after 5m while it ran"),
            failed_step="extract",
            error="workflow timed out after 5m",
        )
    }


TIMED_OUT = f"""\
    {DAG_ID} {RUN_ID}
    run: running
    workflow: timed_out at step "extract": workflow timed out after 5m

    steps
      extract  FAILED  fatal  1.5s  workflow timed out after 5m while it ran

    on_finish
      audit  running
    """


def running(airflow):
    """The verdict is of an earlier attempt at the run, which was cleared with Downstream."""
    airflow.runs = [make_run(state="running", duration=None)]
    airflow.tasks = [
        make_task("a-last", None, tries=0, duration=None),
        make_task("between", "running", duration=None),
        make_task("first", "success"),
        make_task(OUTCOME, None),
        make_task("on_finish.audit", None),
    ]
    airflow.downstream = {
        "a-last": [OUTCOME],
        "between": ["a-last", OUTCOME],
        "first": ["between", "removed", OUTCOME],
        "removed": ["a-last"],
        OUTCOME: ["on_finish.audit"],
    }
    airflow.xcoms = {VERDICT: make_verdict("completed", make_node("first", "COMPLETED"))}


RUNNING = f"""\
    {DAG_ID} {RUN_ID}
    run: running
    workflow: running

    steps
      first    success  1.5s
      between  running
      a-last   waiting

    on_finish
      audit  waiting
    """


def queued(airflow):
    airflow.runs = [make_run(state="queued", duration=None)]


QUEUED = f"""\
    {DAG_ID} {RUN_ID}
    run: queued
    workflow: queued
    """


def plain_failure(airflow):
    """Without an outcome, and of a Dag that is gone."""
    airflow.tasks = [
        make_task("publish", "upstream_failed", tries=0),
        make_task("fetch", "failed", tries=2),
    ]
    airflow.downstream = None
    airflow.xcoms = {("fetch", "mantle_error"): make_record("fetch", "HTTP 404", 2).to_data()}


PLAIN_FAILURE = f"""\
    {DAG_ID} {RUN_ID}
    run: failed, 20.6s
    workflow: failed

    steps
      publish  upstream_failed
      fetch    failed           1.5s  HTTP 404
    """


def plain_success(airflow):
    airflow.runs = [make_run(state="success", duration=0.5)]
    airflow.tasks = [make_task("fetch", "success", duration=0.25)]


PLAIN_SUCCESS = f"""\
    {DAG_ID} {RUN_ID}
    run: success, 500ms
    workflow: completed

    steps
      fetch  success  200ms
    """


def plain_cancelled(airflow):
    airflow.tasks = [make_task("fetch", "failed"), make_task("publish", "skipped", tries=0)]


PLAIN_CANCELLED = f"""\
    {DAG_ID} {RUN_ID}
    run: failed, 20.6s
    workflow: cancelled

    steps
      fetch    failed   1.5s
      publish  skipped
    """


def cancelled(airflow):
    airflow.tasks = [
        make_task("extract", "failed"),
        make_task(OUTCOME, "skipped", tries=0),
        make_task("on_finish.audit", "skipped", tries=0),
        *end_of_hooks("skipped", tries=0),
    ]


CANCELLED = f"""\
    {DAG_ID} {RUN_ID}
    run: failed, 20.6s
    workflow: cancelled

    steps
      extract  failed  1.5s

    on_finish
      audit  skipped
    """


def cancelled_in_hooks(airflow):
    airflow.tasks = [
        make_task("extract", "success"),
        make_task(OUTCOME, "success"),
        make_task("on_finish.audit", "failed"),
        *end_of_hooks("skipped", tries=0),
    ]
    airflow.xcoms = {VERDICT: make_verdict("completed", make_node("extract", "COMPLETED"))}


CANCELLED_IN_HOOKS = f"""\
    {DAG_ID} {RUN_ID}
    run: failed, 20.6s
    workflow: cancelled after its steps had ended: completed

    steps
      extract  COMPLETED  1.5s

    on_finish
      audit  failed  1.5s
    """


def lost_outcome(airflow):
    airflow.tasks = [make_task("extract", "success"), make_task(OUTCOME, "failed")]


LOST_OUTCOME = f"""\
    {DAG_ID} {RUN_ID}
    run: failed, 20.6s
    workflow: failed: the outcome left no verdict that can be read

    steps
      extract  success  1.5s
    """


def unreadable_verdict(airflow):
    lost_outcome(airflow)
    airflow.xcoms = {VERDICT: "s3://xcoms/verdict.json"}


def unfitting_verdict(airflow):
    lost_outcome(airflow)
    airflow.xcoms = {VERDICT: make_verdict("completed", make_node("extract", "COMPLETED"))}


def cleared_alone(airflow):
    """The failed step was cleared without Downstream and succeeded."""
    failed(airflow)
    airflow.tasks[0] = make_task("extract", "success")


CLEARED_ALONE = f"""\
    {DAG_ID} {RUN_ID}
    run: failed, 20.6s
    stale: step "extract" changed after the workflow was judged; clear the failed step with \
Downstream to run again from there

    steps
      extract  success          1.5s
      load     upstream_failed
      check    failed           1.5s

    on_failure
      alert  success  1.5s
    """


def run_again_alone(airflow):
    """A step of a completed run was cleared without Downstream and succeeded again."""
    airflow.runs = [make_run(state="success")]
    airflow.tasks = [make_task("extract", "success", end=LATER), make_task(OUTCOME, "success")]
    airflow.xcoms = {VERDICT: make_verdict("completed", make_node("extract", "COMPLETED"))}


RUN_AGAIN_ALONE = f"""\
    {DAG_ID} {RUN_ID}
    run: success, 20.6s
    stale: step "extract" changed after the workflow was judged; clear that step with \
Downstream to run again from there

    steps
      extract  success  1.5s
    """


@pytest.mark.parametrize(
    ("arrange", "code", "text"),
    [
        (completed, 0, COMPLETED),
        (failed, 1, FAILED),
        (did_not_run, 1, DID_NOT_RUN),
        (left_by_a_mark, 1, LEFT_BY_A_MARK),
        (timed_out, 0, TIMED_OUT),
        (running, 0, RUNNING),
        (queued, 0, QUEUED),
        (plain_failure, 1, PLAIN_FAILURE),
        (plain_success, 0, PLAIN_SUCCESS),
        (plain_cancelled, 1, PLAIN_CANCELLED),
        (cancelled, 1, CANCELLED),
        (cancelled_in_hooks, 1, CANCELLED_IN_HOOKS),
        (lost_outcome, 1, LOST_OUTCOME),
        (unreadable_verdict, 1, LOST_OUTCOME),
        (unfitting_verdict, 1, LOST_OUTCOME),
        (cleared_alone, 1, CLEARED_ALONE),
        (run_again_alone, 0, RUN_AGAIN_ALONE),
    ],
)
def test_the_text_says_how_the_run_stands(arrange, code, text, airflow, mantle):
    arrange(airflow)
    assert mantle("status", DAG_ID, "latest") == (code, dedent(text), "")


def test_a_step_that_is_gone_is_not_run_by_now(airflow, mantle):
    run_again_alone(airflow)
    del airflow.tasks[0]
    _, text, _ = mantle("status", DAG_ID, RUN_ID)
    assert text.splitlines()[2:] == [
        'stale: step "extract" changed after the workflow was judged;'
        " clear that step with Downstream to run again from there",
        "",
        "steps",
        "  extract  waiting",
    ]


def test_json_holds_everything(airflow, mantle):
    failed(airflow)
    code, text, _ = mantle("status", DAG_ID, RUN_ID, "--format", "json")
    report = json.loads(text)
    steps, hooks = report.pop("steps"), report.pop("hooks")
    assert code == 1
    assert report == {
        "dag_id": DAG_ID,
        "run_id": RUN_ID,
        "run_state": "failed",
        "workflow_status": "failed",
        "verdict": "failed",
        "failed_step": "extract",
        "error": "x" * 400,
        "stale": None,
        "duration_seconds": 20.595796,
        "version": None,
        "started_version": None,
    }
    assert [step["name"] for step in steps] == ["extract", "load", "check"]
    assert steps[0] == {
        "name": "extract",
        "status": "FAILED",
        "effect": "fatal",
        "state": "failed",
        "reason": "x" * 400,
        "try_number": 1,
        "duration_seconds": 1.5,
        "cancelled_by": None,
    }
    assert hooks == [
        {
            "block": "on_failure",
            "name": "alert",
            "state": "success",
            "error": None,
            "try_number": 1,
            "duration_seconds": 1.5,
        }
    ]


def test_a_run_of_many_tasks_is_read_page_by_page(airflow, mantle):
    airflow.tasks = [make_task(f"step-{number:03}", "success") for number in range(250)]
    _, text, _ = mantle("status", DAG_ID, RUN_ID)
    assert text.splitlines()[-1] == "  step-249  success  1.5s"
    assert sum("taskInstances" in request.path for request in airflow.requests) == 3


def test_an_empty_page_ends_the_reading(airflow, mantle):
    airflow.page_limit = 0
    airflow.tasks = [make_task("extract", "success")]
    _, text, _ = mantle("status", DAG_ID, RUN_ID)
    assert "steps" not in text


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("tasks", "the tasks of a Dag"),
        ("dagRuns", "the runs of a Dag"),
        (f"dagRuns/{RUN_ID}/taskInstances", "the tasks of a run"),
        (f"dagRuns/{RUN_ID}/taskInstances/fetch/xcomEntries/mantle_error", "what a task left"),
    ],
)
def test_an_answer_of_another_shape_is_a_failure(path, message, airflow, mantle):
    plain_failure(airflow)
    path = path.replace("+", "%2B").replace(":", "%3A")
    airflow.replies["GET", f"/api/v2/dags/{DAG_ID}/{path}"] = as_json({"strange": 1})
    assert mantle("status", DAG_ID, "latest") == (
        2,
        "",
        f"mantle: error: the answer on {message} is not as Airflow 3 gives it;"
        " is the address right?\n",
    )


@pytest.mark.parametrize("path", ["tasks", f"dagRuns/{RUN_ID}/taskInstances/fetch/xcomEntries/x"])
def test_only_what_is_missing_counts_as_missing(path, airflow, mantle, monkeypatch):
    plain_failure(airflow)
    monkeypatch.setattr(status_module, "ERROR", "x")
    path = path.replace("+", "%2B").replace(":", "%3A")
    airflow.replies["GET", f"/api/v2/dags/{DAG_ID}/{path}"] = as_json({"detail": "oh"}, 500)
    code, text, error = mantle("status", DAG_ID, "latest")
    assert (code, text, error.endswith("with 500: oh\n")) == (2, "", True)


@pytest.mark.parametrize(
    ("started", "line"),
    [
        ("4f0c", "version: 4f0c"),
        (None, "version: 4f0c"),
        ("11aa", "version: 4f0c, started under 11aa"),
    ],
)
def test_the_version_is_shown_and_that_it_has_changed(airflow, mantle, started, line):
    completed(airflow)
    airflow.xcoms[VERDICT] |= {"version": "4f0c", "started_version": started}
    _, out, _ = mantle("status", DAG_ID, RUN_ID)
    assert out.splitlines()[3] == line


def test_each_effect_and_each_way_not_to_run_is_told_apart(airflow, mantle):
    names = {
        "a": "failed",
        "b": "failed",
        "c": "upstream_failed",
        "d": "skipped",
        "e": "skipped",
    }
    airflow.runs = [make_run(state="success")]
    airflow.tasks = [make_task(name, state, tries=0) for name, state in names.items()]
    airflow.tasks += [make_task(OUTCOME, "success"), *end_of_hooks()]
    airflow.xcoms = {
        VERDICT: make_verdict(
            "completed",
            make_node("a", "FAILED", "contained", "no route"),
            make_node("b", "FAILED", "recovered", "no disk"),
            make_node("c", "CANCELLED", reason='step "a" failed'),
            make_node("d", "SKIPPED", reason="not_taken"),
            make_node("e", "SKIPPED", reason="condition"),
        )
    }
    code, out, _ = mantle("status", DAG_ID, RUN_ID)
    assert code == 0
    assert out.split("steps\n")[1].splitlines() == [
        "  a  FAILED     contained  no route",
        "  b  FAILED     recovered  no disk",
        '  c  CANCELLED             step "a" failed',
        "  d  SKIPPED               not_taken",
        "  e  SKIPPED               condition",
    ]
