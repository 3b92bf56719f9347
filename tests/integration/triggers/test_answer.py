"""The wait for a person's answer: when it ends, and what it bears."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime, timezone
from uuid import UUID

import pytest
from airflow.sdk.api.datamodels._generated import HITLDetailResponse
from airflow.sdk.exceptions import AirflowRuntimeError
from airflow.sdk.execution_time.comms import GetHITLDetailResponse, UpdateHITLDetail

from mantle_provider.triggers.answer import AnswerTrigger
from support.children import SUPERVISOR, api_error

TI_ID = UUID(int=7)
AT = datetime(2026, 1, 15, 10, 20, 30, tzinfo=timezone.utc)
OPEN = HITLDetailResponse(response_received=False, responded_at=None, chosen_options=None)
ANSWERED = HITLDetailResponse(
    response_received=True,
    responded_by_user={"id": "jane", "name": "Jane"},
    responded_at=AT,
    chosen_options=["Approve"],
    params_input={"pieces": 3},
)


class FakeSupervisor:
    """Answers each question with the next of its answers."""

    def __init__(self, *answers):
        self.answers = [*answers]
        self.stored = []

    def send(self, msg):
        match msg:
            case GetHITLDetailResponse(ti_id=ti_id):
                assert ti_id == TI_ID
            case UpdateHITLDetail():
                self.stored.append((msg.ti_id, msg.chosen_options, msg.params_input))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def supervisor(monkeypatch):
    def install(*answers):
        fake = FakeSupervisor(*answers)
        monkeypatch.setattr(SUPERVISOR, fake, raising=False)
        return fake

    return install


def make_trigger(*, end=None, defaults=None, form=None):
    return AnswerTrigger(
        ti_id=str(TI_ID), end=end, defaults=defaults, form=form or {}, poll_seconds=0
    )


def events(trigger):
    async def collect():
        return [event.payload async for event in trigger.run()]

    return asyncio.run(collect())


def given(*chosen, user=None, **form):
    return [
        {
            "chosen_options": [*chosen],
            "params_input": form,
            "responded_at": "2026-01-15T10:20:30+00:00",
            "responded_by_user": user,
        }
    ]


JANES = given("Approve", user={"id": "jane", "name": "Jane"}, pieces=3)


def test_it_asks_until_there_is_an_answer(supervisor):
    supervisor(OPEN, OPEN, ANSWERED)
    assert events(make_trigger(end=time.time() + 60)) == JANES


def test_the_end_of_the_time_without_a_default_is_told(supervisor):
    supervisor(OPEN)
    assert events(make_trigger(end=time.time() - 1)) == [{"error_type": "timeout"}]


def test_the_end_of_the_time_stores_the_default(supervisor):
    taken = HITLDetailResponse(
        response_received=True, responded_at=AT, chosen_options=["Reject"], params_input={"n": 1}
    )
    fake = supervisor(OPEN, taken)
    trigger = make_trigger(end=time.time() - 1, defaults=["Reject"], form={"n": 1})
    assert events(trigger) == given("Reject", n=1)
    assert fake.stored == [(TI_ID, ["Reject"], {"n": 1})]


def test_an_answer_that_came_before_the_end_counts(supervisor):
    fake = supervisor(ANSWERED)
    assert events(make_trigger(end=time.time() - 1, defaults=["Reject"])) == JANES
    assert fake.stored == []


def test_an_answer_that_comes_with_the_end_wins_over_the_default(supervisor):
    supervisor(OPEN, api_error(409), ANSWERED)
    assert events(make_trigger(end=time.time() - 1, defaults=["Reject"])) == JANES


def test_questions_that_fail_now_and_then_are_borne(supervisor):
    supervisor(*[api_error(500)] * 9, OPEN, *[api_error(500)] * 9, ANSWERED)
    assert events(make_trigger()) == JANES


def test_questions_that_always_fail_end_the_wait(supervisor):
    supervisor(*[api_error(500)] * 10)
    with pytest.raises(AirflowRuntimeError, match="Server returned error"):
        events(make_trigger())


def test_it_can_be_made_again_from_what_airflow_stores():
    classpath, kwargs = make_trigger(end=1.5, defaults=["Reject"], form={"n": 1}).serialize()
    assert classpath == "mantle_provider.triggers.answer.AnswerTrigger"
    assert AnswerTrigger(**kwargs).serialize() == (classpath, kwargs)
