"""The wait for a run of another Dag: when it ends, and what it bears."""

from __future__ import annotations

import asyncio

import pytest
from airflow.sdk.exceptions import AirflowRuntimeError

from mantle_provider.triggers.child_run import ChildRunTrigger
from mantle_provider.triggers.step import StepTrigger
from support.children import SUPERVISOR, FakeSupervisor, api_error


@pytest.fixture
def supervisor(monkeypatch):
    supervisor = FakeSupervisor()
    monkeypatch.setattr(SUPERVISOR, supervisor, raising=False)
    return supervisor


def make_trigger():
    return ChildRunTrigger(dag_id="child", run_id="run-1", poll_seconds=0)


def events(trigger):
    async def collect():
        return [event.payload async for event in trigger.run()]

    return asyncio.run(collect())


def ended(state):
    return [{"dag_id": "child", "run_id": "run-1", "state": state}]


@pytest.mark.parametrize("state", ["success", "failed"])
def test_it_asks_until_the_run_has_ended(supervisor, state):
    supervisor.run_states = ["queued", "running", state]
    assert events(make_trigger()) == ended(state)
    assert supervisor.asked == 3


def test_a_run_that_has_ended_before_the_wait_is_seen_at_once(supervisor):
    supervisor.run_states = ["failed"]
    assert events(ChildRunTrigger(dag_id="child", run_id="run-1")) == ended("failed")


def test_a_run_that_was_deleted_ends_the_wait(supervisor):
    supervisor.run_states = ["running", api_error(404, "not_found")]
    assert events(make_trigger()) == ended(None)


def test_answers_that_fail_now_and_then_are_borne(supervisor):
    supervisor.run_states = [*[api_error(500)] * 9, "running", *[api_error(None)] * 9, "success"]
    assert events(make_trigger()) == ended("success")


def test_answers_that_always_fail_end_the_wait(supervisor):
    supervisor.run_states = [api_error(500)] * 10
    with pytest.raises(AirflowRuntimeError, match="Server returned error"):
        events(make_trigger())


def test_it_can_be_made_again_from_what_airflow_stores():
    classpath, kwargs = make_trigger().serialize()
    assert classpath == "mantle_provider.triggers.child_run.ChildRunTrigger"
    assert ChildRunTrigger(**kwargs).serialize() == (classpath, kwargs)


def test_it_works_within_the_wait_of_a_step(supervisor):
    supervisor.run_states = ["running", "success"]
    classpath, kwargs = make_trigger().serialize()
    wait = StepTrigger(classpath=classpath, kwargs=kwargs, not_before=0.0, end=None)
    assert events(wait) == ended("success")
