"""The log of an outcome and of what comes after it, line by line, as the docs show it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from mantle_provider.workflow.model import LifecycleHooks, Workflow
from support.runs import FakeRun
from support.steps import call

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "branch-policy.md"


REFUSE = "support.functions.refuse"


def ingest():
    """A run with one failure of each kind that a file can ask for, and a failed hook."""
    tolerant = {"on_dep_failure": "cancel_branch"}
    return Workflow(
        name="ingest",
        steps=(
            call("fetch-a"),
            call("fetch-b", REFUSE, "404 from source b"),
            call("aggregate", depends_on=("fetch-a", "fetch-b"), **tolerant),
            call("probe", REFUSE, "no metrics today", continue_on_error=True),
            call("load", REFUSE, "table is locked"),
            call("publish", depends_on=("load",)),
            call("audit", condition="false"),
        ),
        hooks=LifecycleHooks(
            on_failure=(call("alert", REFUSE, "pager is down"), call("close")),
            on_finish=(call("archive"), call("tidy")),
        ),
    )


def states_by_airflow(run, *names):
    """Give the state that Airflow gives to tasks that do not run."""
    run.states |= dict.fromkeys(names, "upstream_failed")


@pytest.fixture
def run(caplog):
    run = FakeRun(ingest())
    for number, name in enumerate(("fetch-a", "fetch-b", "probe", "load", "audit")):
        with suppress(Exception):
            run.run(name)
        start = run.xcoms.get((name, "mantle_started_at"))
        if start:
            run.xcoms[name, "mantle_started_at"] = {**start, "at": float(number)}
            run.durations[name] = 0.5
    states_by_airflow(run, "aggregate", "publish")
    caplog.clear()
    return run


def lines(caplog):
    return [
        f"{record.levelname} {record.getMessage()}"
        for record in caplog.records
        if record.name.startswith("mantle_provider.operators")
    ]


OUTCOME = """\
ERROR workflow failed at step "load": table is locked
WARNING first cause: step "load" FAILED in EXECUTION, try 1: ValueError: table is locked
WARNING   cancelled because of it: "publish"
WARNING contained failure: step "fetch-b" FAILED in EXECUTION, try 1: ValueError: 404 from source b
WARNING   cancelled because of it: "aggregate"
WARNING tolerated failure: step "probe" FAILED in EXECUTION, try 1: ValueError: no metrics today
INFO skipped: step "audit" (condition)
INFO completed: "fetch-a"
"""

HOOKS = """\
WARNING hook on_failure.alert failed: ValueError: pager is down
INFO hook on_failure.close not run
INFO hook on_finish.archive completed
"""


def test_the_outcome_says_what_failed_first_why_and_what_came_of_it(run, caplog):
    with suppress(Exception):
        run.run("workflow_outcome")
    assert lines(caplog) == OUTCOME.splitlines()


def test_each_hook_says_what_those_before_it_did(run, caplog):
    for task_id in ("workflow_outcome", "on_failure.alert"):
        with suppress(Exception):
            run.run(task_id)
    states_by_airflow(run, "on_failure.close")
    run.run("on_finish.archive")
    caplog.clear()
    run.run("on_finish.tidy")
    assert lines(caplog) == HOOKS.splitlines()


def test_the_callback_says_what_all_hooks_did(caplog):
    run = FakeRun(replace(ingest(), on_finish_callback="support.functions.give"))
    run.states |= dict.fromkeys(("fetch-a", "fetch-b", "aggregate", "probe"), "success")
    run.states |= dict.fromkeys(("load", "publish", "audit"), "success")
    for task_id in ("workflow_outcome", "on_finish.archive", "on_finish.tidy"):
        run.run(task_id)
    run.states |= {"on_failure.alert": "skipped", "on_failure.close": "skipped"}
    caplog.clear()
    run.run("callback_on_finish")
    assert lines(caplog) == [
        "INFO hook on_failure.alert skipped",
        "INFO hook on_failure.close skipped",
        "INFO hook on_finish.archive completed",
        "INFO hook on_finish.tidy completed",
    ]


def test_the_docs_show_these_logs():
    page = PAGE.read_text(encoding="utf-8")
    assert f"```text\n{OUTCOME}```" in page
    assert f"```text\n{HOOKS}```" in page
