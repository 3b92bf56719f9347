"""Which files of a run are still there when it has ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e_scripts import script

pytestmark = pytest.mark.e2e


def left(run):
    """Return the files of a run that are still there, without markers: task -> name -> text."""
    folder = kept_path(run, "make", "always").parents[1]
    return {
        task.name: {file.name: file.read_text().strip() for file in sorted(task.iterdir())}
        for task in sorted(folder.glob("[!.]*"))
    }


def kept_path(run, task_id, name):
    url = run.xcoms(task_id)["mantle_artifacts"][name]["url"]
    return Path(url.removeprefix("file://"))


@script("kept-files")
def cancel_if_asked(run):
    if run.inputs["ends"] != "cancelled":
        return
    yield from run.until_state("end", "running")
    run.suite.client.mark_failed(run.dag_id, run.run_id)
    yield from run.until_ended()


@pytest.mark.workflow("kept-files", ends="completed")
def test_a_completed_run_leaves_what_is_always_kept(run):
    assert run.state == "success"
    assert left(run) == {"make": {"always": "always"}}


@pytest.mark.workflow("kept-files", ends="failed")
def test_a_failed_run_leaves_what_is_kept_on_failure_too(run):
    assert run.state == "failed"
    assert left(run) == {
        "end": {"why": "why"},
        "make": {"always": "always", "on-failure": "on-failure"},
    }


@pytest.mark.workflow("kept-files", ends="timed-out")
def test_a_timed_out_run_leaves_what_a_failed_one_does(run):
    state = run.xcoms("workflow_outcome")["mantle_workflow_state"]
    assert (run.state, state["status"]) == ("failed", "timed_out")
    assert left(run) == {
        "end": {"why": "too late"},
        "make": {"always": "always", "on-failure": "on-failure"},
    }


@pytest.mark.workflow("kept-files", ends="cancelled")
def test_a_cancelled_run_leaves_everything_that_was_kept(run):
    assert run.state == "failed"
    assert left(run) == {
        "make": {"always": "always", "never": "never", "on-failure": "on-failure"},
    }


@pytest.mark.workflow("kept-files", ends="completed")
def test_hooks_can_still_read_what_the_end_removes(run):
    assert run.output("on_finish.read") == {"result": "never"}


@pytest.mark.workflow("kept-again")
def test_the_last_attempt_s_file_is_kept(run):
    assert run.tasks["make"]["try_number"] == 2
    assert run.output("read") == {"result": "second"}
