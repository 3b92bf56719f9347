"""Many failures in one run: when hooks start, and which failure is the cause."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import permutations

import pytest

pytestmark = pytest.mark.e2e

END_STATES = {"success", "failed", "skipped"}


def received(suite, path):
    return [request.body for request in suite.inbox.requests if request.path == path]


def ends(run, names):
    """Return step -> when it ended, as Airflow recorded it."""
    return {name: datetime.fromisoformat(run.tasks[name]["end_date"]) for name in names}


@pytest.mark.workflow("wide")
def test_hooks_start_once_and_after_the_last_of_many_parallel_steps(run, suite):
    """One fails early; the others are slow, skipped and failed, in a random order."""
    assert run.state == "failed"
    steps = [name for name in run.tasks if name[0] == "s"]
    assert Counter(run.task_states[name] for name in steps) == {
        "success": len(steps) * 3 // 5,
        "failed": len(steps) // 5,
        "skipped": len(steps) // 5,
    }
    outcome = run.tasks["workflow_outcome"]
    assert max(ends(run, steps).values()) <= datetime.fromisoformat(outcome["start_date"])
    hooks = [run.tasks[f"{block}.tell"] for block in ("on_success", "on_failure", "on_finish")]
    assert [(hook["state"], hook["try_number"]) for hook in hooks] == [
        ("upstream_failed", 0),
        ("success", 1),
        ("success", 1),
    ]
    (told,) = received(suite, "/echo/wide/on_failure")
    assert received(suite, "/echo/wide/on_finish") == [told]
    assert received(suite, "/echo/wide/on_success") == []
    failed = [name for name in steps if run.task_states[name] == "failed"]
    assert sorted(told["failed"]) == sorted(failed)
    assert told["failed_step"] == told["failed"][0]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(
            names,
            id="-".join(names),
            marks=pytest.mark.workflow(
                "three-failures", **{name: 5 * rank for rank, name in enumerate(names)}
            ),
        )
        for names in permutations(("first", "second", "third"))
    ],
)
def test_the_cause_is_the_failure_that_ended_first(run, suite, names):
    """A busy machine may change who fails first, so that Airflow's own record is asked."""
    ended = ends(run, names)
    in_order = sorted(names, key=ended.__getitem__)
    assert run.state == "failed"
    assert received(suite, f"/echo/three-failures/{run.run_id}") == [
        {
            "failed_step": in_order[0],
            "failed_steps": in_order,
            "error": f"no luck with {in_order[0]}",
            "errors": {name: f"no luck with {name}" for name in names},
        }
    ]
    assert run.task_states["cancelled"] == "upstream_failed"
