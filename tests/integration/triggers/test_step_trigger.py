"""The wait of a deferred step: the other trigger's events, its end, and what is handed on."""

from __future__ import annotations

import asyncio
import time

import pytest

from mantle_provider.lifecycle import GraphNode, WorkflowGraph
from mantle_provider.triggers.failure_watch import FailureWatch
from mantle_provider.triggers.step import STOPPED_BY, TIME_IS_UP, StepTrigger

HERE = "support.triggers"


def wrap(name, *, not_before=0.0, end=None, **kwargs):
    return StepTrigger(classpath=f"{HERE}.{name}", kwargs=kwargs, not_before=not_before, end=end)


def events(trigger):
    async def collect():
        return [event.payload async for event in trigger.run()]

    return asyncio.run(collect())


def first_event(trigger):
    async def take():
        return (await anext(aiter(trigger.run()))).payload

    return asyncio.run(take())


def test_every_event_of_the_other_trigger_is_handed_on():
    assert events(wrap("Count", to=3)) == [0, 1, 2]


@pytest.mark.timeout(20)
def test_a_wait_ends_with_the_steps_time():
    assert first_event(wrap("Never", end=time.time() + 0.05)) == {STOPPED_BY: TIME_IS_UP}


def test_an_end_that_has_passed_ends_the_wait_at_once():
    assert first_event(wrap("Never", end=time.time() - 5)) == {STOPPED_BY: TIME_IS_UP}


def test_a_wait_ends_when_another_step_fails(monkeypatch):
    from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

    graph = WorkflowGraph((GraphNode("a"), GraphNode("b", continue_on_error=True)))
    states = [{"b": "failed"}, RuntimeError("unreachable"), {"a": "failed", "b": "failed"}]

    def count(**_):
        answer = states[0]
        if isinstance(answer, Exception):
            raise states.pop(0)
        return len(answer)

    monkeypatch.setattr(RuntimeTaskInstance, "get_ti_count", staticmethod(count))
    monkeypatch.setattr(
        RuntimeTaskInstance, "get_task_states", staticmethod(lambda **_: {"r": states.pop(0)})
    )
    watch = FailureWatch(None, "d", "r", graph).to_data(interval_seconds=0.01)
    trigger = StepTrigger(
        classpath=f"{HERE}.Never", kwargs={}, not_before=0.0, end=None, watch=watch
    )
    assert first_event(trigger) == {STOPPED_BY: "a"}


def test_no_event_comes_before_airflow_bears_it():
    not_before = time.time() + 0.2
    first_event(wrap("Count", to=1, not_before=not_before))
    assert time.time() >= not_before


def test_an_error_of_the_other_trigger_is_its_own():
    with pytest.raises(ValueError, match="^broken$"):
        events(wrap("Broken"))


def test_it_can_be_made_again():
    trigger = wrap("Count", to=1, not_before=1.5, end=2.5)
    classpath, kwargs = trigger.serialize()
    assert classpath == "mantle_provider.triggers.step.StepTrigger"
    assert StepTrigger(**kwargs).serialize() == (classpath, kwargs)


def test_cleanup_and_kill_reach_the_other_trigger():
    async def use():
        trigger = wrap("Count", to=1)
        await trigger.cleanup()
        await anext(aiter(trigger.run()))
        await trigger.cleanup()
        await trigger.on_kill()
        return trigger._other.calls

    assert asyncio.run(use()) == ["cleanup", "on_kill"]


def test_a_kill_before_the_wait_reaches_the_other_trigger():
    async def use():
        trigger = wrap("Count", to=1)
        await trigger.on_kill()
        return trigger._other.calls

    assert asyncio.run(use()) == ["on_kill"]
