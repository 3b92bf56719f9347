"""Failure keys in combination: how each step ends, what its failure means, and the run's colour."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.e2e

DONE = ("COMPLETED", None)
CANCELLED = ("CANCELLED", None)
SKIPPED = ("SKIPPED", None)
FATAL = ("FAILED", "fatal")
CONTAINED = ("FAILED", "contained")
RECOVERED = ("FAILED", "recovered")
TOLERATED = ("FAILED", "tolerated")

EXPECTED = {
    "branch-target-fails": (
        "failed",
        {"work": FATAL, "repair": FATAL, "after-repair": CANCELLED, "after-work": CANCELLED},
    ),
    "branch-target-shared": (
        "completed",
        {"one": RECOVERED, "two": DONE, "repair": DONE, "after-one": CANCELLED, "load": DONE},
    ),
    "branch-target-both": (
        "completed",
        {"one": RECOVERED, "two": RECOVERED, "repair": DONE, "load": DONE},
    ),
    "branch-contained-fatal": (
        "failed",
        {
            "one": CONTAINED,
            "below-one": CANCELLED,
            "two": FATAL,
            "below-two": CANCELLED,
            "beside": DONE,
        },
    ),
    "branch-contained-contained": (
        "completed",
        {
            "one": CONTAINED,
            "below-one": CANCELLED,
            "two": CONTAINED,
            "below-two": CANCELLED,
            "below-both": CANCELLED,
            "beside": DONE,
        },
    ),
    "branch-tolerated-contained": (
        "completed",
        {"one": TOLERATED, "below-one": DONE, "two": CONTAINED, "below-two": CANCELLED},
    ),
    "branch-fail-fast": (
        "completed",
        {
            "one": CONTAINED,
            "below-one": CANCELLED,
            "two": RECOVERED,
            "repair": DONE,
            "slow": DONE,
            "last": DONE,
        },
    ),
    "branch-killed": (
        "completed",
        {
            "work": ("KILLED", "contained"),
            "repair": SKIPPED,
            "below": CANCELLED,
            "beside": DONE,
        },
    ),
    "branch-skipped": (
        "completed",
        {"one": DONE, "skipped": SKIPPED, "runs": DONE, "two": CONTAINED, "cancelled": CANCELLED},
    ),
    "branch-routers": (
        "completed",
        {
            "one": CONTAINED,
            "route-one": CANCELLED,
            "case-one": SKIPPED,
            "below-one": SKIPPED,
            "two": DONE,
            "route-two": DONE,
            "case-two": SKIPPED,
            "case-three": DONE,
            "join": DONE,
        },
    ),
    "fan-in": (
        "completed",
        {
            **{f"fetch{number}": CONTAINED if number < 3 else DONE for number in range(40)},
            "aggregate": CANCELLED,
        },
    ),
}
"""Workflow -> its status, and each step's status and effect."""


def judged(run):
    """Return the stored verdict: the status, and each step's status and effect."""
    state = run.xcoms("workflow_outcome")["mantle_workflow_state"]
    nodes = {name: (node["status"], node["effect"]) for name, node in state["nodes"].items()}
    return state["status"], nodes


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.workflow(name)) for name in EXPECTED]
)
def test_failures_mean_what_the_keys_say(run, name):
    assert judged(run) == EXPECTED[name]
    assert run.state == ("success" if EXPECTED[name][0] == "completed" else "failed")


@pytest.mark.workflow("branch-target-fails")
def test_what_could_not_recover_stays_the_first_cause(run):
    state = run.xcoms("workflow_outcome")["mantle_workflow_state"]
    assert state["failed_steps"] == ["work", "repair"]


@pytest.mark.workflow("branch-nested", failing="fetch")
def test_a_strict_step_further_down_makes_a_failure_fatal(run):
    below = dict.fromkeys(("shard-agg", "total", "report"), CANCELLED)
    assert judged(run) == ("failed", {"fetch": FATAL, **below})
    assert run.state == "failed"


@pytest.mark.workflow("branch-nested", failing="total")
def test_a_failure_below_the_strict_steps_is_contained(run):
    above = dict.fromkeys(("fetch", "shard-agg"), DONE)
    assert judged(run) == ("completed", {**above, "total": CONTAINED, "report": CANCELLED})
    assert run.state == "success"
