"""`human/approve`: what a person is asked, and what becomes of the answer."""

from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from uuid import UUID

import pytest
from airflow.sdk.exceptions import AirflowFailException

from mantle_provider.operators.run_reader import FAILED_OUTPUT
from mantle_provider.triggers.step import STOPPED_BY, TIME_IS_UP
from mantle_provider.workflow.model import Outputs, Retry
from support.children import SUPERVISOR
from support.parking import FakeSupervisor, defer, fail, parked, resume, run_of

AT = datetime(2026, 1, 15, 10, 20, 30, tzinfo=timezone.utc)
ASK = {"subject": "Ship?"}
FORM = {"pieces": {"type": "integer", "minimum": 1}, "note": "none"}


@pytest.fixture(autouse=True)
def supervisor(monkeypatch):
    supervisor = FakeSupervisor()
    monkeypatch.setattr(SUPERVISOR, supervisor, raising=False)
    return supervisor


def answer(*chosen, user="jane", **form):
    """Return the event that Airflow makes of an answer, or without a user of the default."""
    return {
        "chosen_options": list(chosen),
        "params_input": form,
        "responded_at": AT,
        "responded_by_user": {"id": user, "name": user.title()} if user else None,
        "timedout": user is None,
    }


def output(chosen, *, approved, by="jane", form=None):
    return {
        "approved": approved,
        "chosen": [chosen],
        "form": form or {},
        "by": {"id": by, "name": by.title()} if by else None,
        "at": "2026-01-15T10:20:30Z",
    }


def test_a_request_says_what_the_step_says(supervisor):
    parked(
        "human/approve",
        {
            "subject": "Ship {{ 1 + 1 }} orders?",
            "body": "See *the list*.",
            "options": ["Ship", "Hold", "Drop"],
            "multiple": True,
            "form": FORM,
            "assigned_users": ["jane", "joe"],
            "timeout": "24h",
            "default": ["Hold", "Drop"],
        },
    )
    (request,) = supervisor.requests
    assert request.ti_id == UUID(int=1)
    assert (request.subject, request.body) == ("Ship 2 orders?", "See *the list*.")
    assert (request.options, request.defaults) == (["Ship", "Hold", "Drop"], ["Hold", "Drop"])
    assert request.multiple is True
    assert [(user.id, user.name) for user in request.assigned_users] == [
        ("jane", "jane"),
        ("joe", "joe"),
    ]
    assert request.params == {
        "pieces": {
            "value": None,
            "description": None,
            "schema": {"type": "integer", "minimum": 1},
            "source": "task",
        },
        "note": {"value": "none", "description": None, "schema": {}, "source": "task"},
    }


def test_a_request_without_more_is_one_to_approve_or_reject(supervisor):
    _, deferred = parked("human/approve", ASK)
    (request,) = supervisor.requests
    assert (request.options, request.defaults) == (["Approve", "Reject"], None)
    trigger = deferred.trigger
    assert trigger.classpath == "mantle_provider.triggers.answer.AnswerTrigger"
    assert trigger.kwargs == {
        "ti_id": str(UUID(int=1)),
        "end": None,
        "defaults": None,
        "form": {},
        "poll_seconds": 5.0,
    }
    assert deferred.method_name == "take_answer"


@pytest.mark.parametrize(
    ("chosen", "approved"), [("Approve", True), ("Reject", False)], ids=["approved", "rejected"]
)
def test_an_answer_is_the_output_and_a_rejection_no_failure(chosen, approved):
    run, deferred = parked("human/approve", ASK)
    assert resume(run, deferred, answer(chosen)) == output(chosen, approved=approved)


def test_the_first_of_own_options_approves():
    run, deferred = parked("human/approve", {**ASK, "options": ["Ship", "Hold"]})
    assert resume(run, deferred, answer("Ship"))["approved"] is True
    run, deferred = parked("human/approve", {**ASK, "options": ["Ship", "Hold"]})
    assert resume(run, deferred, answer("Hold"))["approved"] is False


def test_what_was_filled_in_is_in_the_output_beside_defaults():
    run, deferred = parked("human/approve", {**ASK, "form": FORM})
    assert resume(run, deferred, answer("Approve", pieces=3)) == output(
        "Approve", approved=True, form={"pieces": 3, "note": "none"}
    )


def test_a_time_that_airflow_hands_on_as_text_is_read():
    run, deferred = parked("human/approve", ASK)
    event = {**answer("Approve"), "responded_at": "2026-01-15T10:20:30+00:00"}
    assert resume(run, deferred, event) == output("Approve", approved=True)


def test_a_default_counts_as_chosen_by_nobody():
    params = {**ASK, "form": FORM, "timeout": "1h", "default": "Reject"}
    run, deferred = parked("human/approve", params)
    trigger = deferred.trigger.kwargs
    assert 3540 < trigger["end"] - time.time() <= 3600
    assert (trigger["defaults"], trigger["form"]) == (["Reject"], {"pieces": None, "note": "none"})
    event = answer("Reject", user=None, pieces=None, note="none")
    assert resume(run, deferred, event) == output(
        "Reject", approved=False, by=None, form={"pieces": None, "note": "none"}
    )


def test_without_a_default_the_end_of_the_wait_is_a_failure():
    run, deferred = parked("human/approve", {**ASK, "timeout": "1h"})
    event = {"error_type": "timeout"}
    record = fail(run, deferred, event)
    assert (record["type"], record["phase"], record["message"]) == (
        "StepTimeout",
        "EXECUTION",
        "human/approve: nobody answered within 1h",
    )


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (answer("Reject"), 'human/approve: not approved: Jane chose "Reject"'),
        (answer("Reject", user=None), 'human/approve: not approved: "Reject" by default'),
    ],
    ids=["person", "default"],
)
def test_a_rejection_can_fail_the_step_for_good(event, message):
    params = {**ASK, "fail_on_reject": True, "timeout": "1h", "default": "Reject"}
    run, deferred = parked("human/approve", params, step={"retry": Retry(max_attempts=3)})
    with pytest.raises(AirflowFailException):
        resume(run, deferred, event)
    assert run.record("a")["message"] == message
    assert run.xcoms["a", FAILED_OUTPUT]["chosen"] == ["Reject"]


def test_an_approval_fails_no_step():
    run, deferred = parked("human/approve", {**ASK, "fail_on_reject": True})
    assert resume(run, deferred, answer("Approve"))["approved"] is True


@pytest.mark.parametrize(
    ("event", "message", "field"),
    [
        (answer("Maybe"), "it chooses none of the options", "options"),
        (answer(), "it chooses none of the options", "options"),
        (
            answer("Approve", pieces=0),
            'the value of field "pieces" does not fit its schema',
            "form.pieces",
        ),
        (answer("Approve"), 'the value of field "pieces" does not fit its schema', "form.pieces"),
        (
            answer("Approve", pieces=1, more=2),
            'the request has no field "more"',
            "form.more",
        ),
    ],
    ids=["unknown", "empty", "value", "missing", "field"],
)
def test_an_answer_that_does_not_fit_fails_the_attempt(event, message, field):
    run, deferred = parked("human/approve", {**ASK, "form": FORM})
    record = fail(run, deferred, event)
    assert (record["phase"], record["message"], record["field"]) == (
        "RESULT_VALIDATION",
        f"human/approve: the answer does not fit: {message}",
        field,
    )


@pytest.mark.parametrize(
    ("params", "message", "field"),
    [
        ({"options": ["Yes", ""]}, "options must be strings that are not empty", "options"),
        ({"options": [1]}, "options must be strings that are not empty", "options"),
        ({"options": ["Yes", "Yes"]}, "options must differ", "options"),
        ({"default": "Reject"}, "default needs a timeout after which it is taken", "default"),
        (
            {"default": "Maybe", "timeout": "1h"},
            "default must be one of the options",
            "default",
        ),
        (
            {"default": ["Approve", "Reject"], "timeout": "1h"},
            "default must be one option, unless multiple is true",
            "default",
        ),
        (
            {"assigned_users": [7]},
            "assigned_users must be ids of users, as strings",
            "assigned_users",
        ),
        ({"form": {"_options": 1}}, 'the field name "_options" is reserved', "form._options"),
        (
            {"form": {"n": {"type": "whole"}}},
            'field "n" has no valid JSON Schema',
            "form.n",
        ),
        (
            {"form": {"n": {"type": "integer", "default": "x"}}},
            'the default of field "n" does not fit its schema',
            "form.n",
        ),
    ],
    ids=[
        "empty-option",
        "number-option",
        "same-options",
        "default-without-timeout",
        "unknown-default",
        "two-defaults",
        "user",
        "reserved-field",
        "schema",
        "field-default",
    ],
)
def test_a_request_that_cannot_be_made_fails_before_it_parks(supervisor, params, message, field):
    run = run_of("human/approve", {**ASK, **params})
    with pytest.raises(Exception, match="."):
        run.run("a")
    record = run.record("a")
    assert (record["phase"], record["message"], record["field"]) == (
        "INPUT_RESOLUTION",
        f"human/approve: {message}",
        field,
    )
    assert supervisor.requests == []


def test_a_failed_resolution_is_repeated_by_retry_and_asks_nobody(supervisor):
    run = run_of(
        "human/approve",
        {"subject": "{{ inputs.trigger.nothing }}"},
        step={"retry": Retry(max_attempts=2)},
    )
    for try_number, resolution in ((1, "retry"), (2, "fail")):
        with pytest.raises(Exception, match="cannot resolve"):
            run.run("a", try_number=try_number)
        record = run.record("a")
        assert (record["phase"], record["resolution"]) == ("INPUT_RESOLUTION", resolution)
    assert supervisor.requests == []


def test_an_attempt_after_an_answer_takes_it_and_asks_nobody_again(supervisor):
    run, deferred = parked("human/approve", ASK, step={"retry": Retry(max_attempts=2)})
    resume(run, deferred, answer("Approve"))
    run.run("a", try_number=2)
    assert run.output("a") == output("Approve", approved=True)
    assert len(supervisor.requests) == 1


def test_a_failed_mapping_of_an_answer_asks_nobody_again(supervisor):
    step = {"retry": Retry(max_attempts=2), "outputs": Outputs(map={"n": "output.form.pieces"})}
    run, deferred = parked("human/approve", ASK, step=step)
    record = fail(run, deferred, answer("Approve"))
    assert (record["phase"], record["resolution"]) == ("OUTPUT_MAPPING", "retry")
    with pytest.raises(Exception, match="no such key"):
        run.run("a", try_number=2)
    assert run.record("a")["phase"] == "OUTPUT_MAPPING"
    assert len(supervisor.requests) == 1


def test_an_attempt_after_no_answer_asks_again(supervisor):
    keys = {"step": {"retry": Retry(max_attempts=2)}}
    run, deferred = parked("human/approve", {**ASK, "timeout": "1h"}, **keys)
    assert fail(run, deferred, {"error_type": "timeout"})["resolution"] == "retry"
    defer(run, try_number=2)
    assert [request.ti_id.int for request in supervisor.requests] == [1, 2]


def test_a_cleared_step_asks_again(supervisor):
    run, deferred = parked("human/approve", ASK)
    resume(run, deferred, answer("Approve"))
    defer(run, earlier_tries=1)
    assert len(supervisor.requests) == 2


def test_the_steps_time_and_fail_fast_cut_the_wait():
    run, deferred = parked(
        "human/approve",
        {**ASK, "timeout": "1h", "default": "Approve"},
        step={"timeout": timedelta(seconds=30)},
        workflow={"fail_fast": True},
    )
    assert deferred.trigger.watch is not None
    assert fail(run, deferred, {STOPPED_BY: TIME_IS_UP})["type"] == "StepTimeout"
    assert fail(run, deferred, {STOPPED_BY: "b"})["type"] == "FailFast"
