"""Steps that wait for people, time and events: what goes on with them, and what ends them."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import quote

import pytest
from e2e_scripts import script

pytestmark = pytest.mark.e2e

PARKED = {"for-time": "deferred", "for-event": "deferred", "for-person": "deferred"}
SETTLED_SECONDS = 5
"""A step that comes back right after it has parked may fail (AIRFLOW 22g)."""


def answer(run, task_id, **body):
    """Answer a request to a person as the UI does, and return what Airflow says."""
    path = (
        f"/api/v2/dags/{run.dag_id}/dagRuns/{quote(run.run_id)}/taskInstances/{task_id}/-1"
        "/hitlDetails"
    )
    return run.suite.client.call(path, method="PATCH", body=body)


def add_event(run, extra):
    """Let the examples' asset have an event from outside."""
    client = run.suite.client
    assets = client.call("/api/v2/assets?name_pattern=demo-stock")["assets"]
    (asset_id,) = [asset["id"] for asset in assets if asset["name"] == "demo-stock"]
    client.call("/api/v2/assets/events", method="POST", body={"asset_id": asset_id, "extra": extra})


@script("asked")
def answer_both_requests(run):
    choice = run.inputs["choice"]
    for task_id, form in (("ask", {"pieces": 5}), ("insist", {})):
        yield from run.until_state(task_id, "deferred")
        yield from run.until_quiet(SETTLED_SECONDS)
        answer(run, task_id, chosen_options=[choice], params_input=form)


@script("loan")
def review_and_sign(run):
    """Return what the person was asked."""
    yield from run.until_state("review", "deferred")
    yield from run.until_quiet(SETTLED_SECONDS)
    details = run.suite.client.call(
        f"/api/v2/dags/loan/dagRuns/{quote(run.run_id)}/taskInstances/review/-1/hitlDetails"
    )
    answer(run, "review", chosen_options=[run.inputs["choice"]], params_input={"amount": 5000})
    if run.inputs["choice"] == "Approve":
        yield from run.until_state("signed", "deferred")
        add_event(run, {"contract": {"of": "Joe", "number": 1}})
        add_event(run, {"contract": {"of": run.inputs["applicant"], "number": 2}})
    return details["subject"]


@script("events")
def add_events_to_the_asset(run):
    yield from run.until_state("wait", "deferred")
    add_event(run, {"region": "west", "run": run.run_id})
    add_event(run, {"region": "west", "run": "another", "stock": {"pieces": 7}})
    add_event(run, {"region": "west", "run": run.run_id, "stock": {"pieces": 7, "kinds": 2}})


@script("fail-fast-parked")
def fail_when_all_are_parked(run):
    yield from run.until(lambda: PARKED.items() <= run.states().items())
    run.suite.inbox.hold(run.dag_id).set()


def posted(suite, path):
    return [request.body for request in suite.inbox.requests if request.path == path]


@pytest.mark.workflow("asked", choice="Ship")
def test_an_approval_over_the_rest_api_goes_on_with_what_was_filled_in(run):
    assert run.state == "success"
    output = run.output("ask")
    assert datetime.fromisoformat(output.pop("at"))
    assert output.pop("by").keys() == {"id", "name"}
    assert output == {"approved": True, "chosen": ["Ship"], "form": {"pieces": 5}}
    assert (run.task_states["ship"], run.task_states["insist"]) == ("success", "success")


@pytest.mark.workflow("asked", choice="Hold")
def test_a_rejection_decides_conditions_and_fails_a_step_that_insists(run, suite):
    assert run.state == "success"
    assert (run.task_states["ship"], run.task_states["insist"]) == ("skipped", "failed")
    assert run.tasks["insist"]["try_number"] == 1
    (body,) = [body for body in posted(suite, "/echo/asked") if body["choice"] == "Hold"]
    name = run.output("ask")["by"]["name"]
    assert body == {
        "choice": "Hold",
        "error": f'human/approve: not approved: {name} chose "Hold"',
        "approved": False,
    }


@pytest.mark.workflow("loan", applicant="Jane", choice="Approve")
def test_an_approved_loan_waits_for_its_contract_and_is_paid_out(run, suite):
    assert run.state == "success"
    assert run.seen == "Lend to Jane with a score of 720?"
    assert run.output("signed")["event"]["extra"]["contract"] == {"of": "Jane", "number": 2}
    assert posted(suite, "/echo/loan") == [{"to": "Jane", "amount": 5000, "contract": 2}]
    assert run.task_states["decline"] == "skipped"


@pytest.mark.workflow("loan", applicant="Jim", choice="Reject")
def test_a_rejected_loan_touches_neither_the_event_nor_the_money(run):
    assert run.task_states == {
        "score": "success",
        "review": "success",
        "signed": "skipped",
        "disburse": "skipped",
        "decline": "success",
    }
    assert run.state == "success"


@pytest.mark.workflow("events")
def test_the_event_that_fits_is_taken_and_one_that_never_comes_is_readable(run, suite):
    assert run.state == "success"
    event = run.output("wait")["event"]
    assert event["extra"]["stock"] == {"pieces": 7, "kinds": 2}
    assert event["asset"]["name"] == "demo-stock"
    assert run.xcoms("miss")["mantle_error"]["type"] == "StepTimeout"
    assert posted(suite, "/echo/events") == [
        {
            "error": 'event/wait: no event of asset "demo-stock" that fits came within 5s',
            "region": "west",
        }
    ]


@pytest.mark.workflow("timed-out-parked")
def test_the_deadline_ends_every_wait(run):
    assert run.state == "failed"
    types = {name: run.xcoms(name)["mantle_error"]["type"] for name in (*PARKED, "for-input")}
    assert types == dict.fromkeys((*PARKED, "for-input"), "WorkflowTimeout")
    assert run.task_states["on_failure.alert"] == "success"


@pytest.mark.workflow("fail-fast-parked")
def test_a_failed_step_ends_every_wait(run):
    assert run.state == "failed"
    messages = {name: run.xcoms(name)["mantle_error"]["message"] for name in PARKED}
    assert messages == dict.fromkeys(PARKED, 'stopped by fail_fast: step "culprit" failed')
    assert run.task_states["on_failure.alert"] == "success"


@pytest.mark.workflow("wait-for-event")
def test_an_event_of_the_same_run_is_found_and_names_its_task(run):
    event = run.output("wait")["event"]
    assert event["extra"] == {"region": "north", "pieces": 7}
    assert event["source"]["task_id"] == "publish"


@pytest.mark.workflow("approval")
def test_a_default_decides_when_nobody_answers(run):
    output = run.output("ask")
    assert (output["approved"], output["chosen"], output["by"]) == (False, ["Hold"], None)
    assert (run.task_states["ship"], run.task_states["hold"]) == ("skipped", "success")


@pytest.mark.workflow("wait")
def test_a_wait_for_a_while_takes_that_long(run):
    assert run.output("a-while")["waited_ms"] >= 20_000
    assert run.output("report") == {"result": "long enough"}
