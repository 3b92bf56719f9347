"""A supervisor that knows assets with their events, and takes requests to people.

Stands in for the supervisor alone: messages and answers are Airflow's own.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

from airflow.sdk.api.datamodels._generated import AssetEventResponse, AssetResponse
from airflow.sdk.exceptions import ErrorType, TaskDeferred
from airflow.sdk.execution_time.comms import (
    AssetEventsResult,
    AssetResult,
    CreateHITLDetailPayload,
    ErrorResponse,
    GetAssetByName,
    GetAssetByUri,
    GetAssetEventByAsset,
)

from mantle_provider.workflow.model import Step, Workflow
from support.runs import FakeRun

ORDERS = {"name": "orders", "uri": "s3://orders"}


@dataclass
class FakeSupervisor:
    """Knows the asset :data:`ORDERS` alone; its events are given oldest first."""

    events: list[AssetEventResponse] = field(default_factory=list)
    requests: list[CreateHITLDetailPayload] = field(default_factory=list)
    looks: list[datetime] = field(default_factory=list)

    def send(self, msg):
        match msg:
            case GetAssetByName() | GetAssetByUri():
                asked = getattr(msg, "name", None) or msg.uri
                if asked in ORDERS.values():
                    return AssetResult(**ORDERS, group="asset")
                return ErrorResponse(error=ErrorType.ASSET_NOT_FOUND)
            case GetAssetEventByAsset():
                self.looks.append(msg.after)
                events = [event for event in self.events if event.timestamp >= msg.after]
                return AssetEventsResult(asset_events=events)
            case CreateHITLDetailPayload():
                self.requests.append(msg)
        return None

    def add_event(self, *, ago=timedelta(), source=None, **extra):
        """Let the asset have an event, by default of now and without a task that made it."""
        number = len(self.events)
        self.events.append(
            AssetEventResponse(
                id=number,
                timestamp=datetime.now(timezone.utc) - ago,
                extra=extra,
                asset=AssetResponse(**ORDERS, group="asset"),
                created_dagruns=[],
                **(source or {}),
            )
        )


def parked(action, params, **keys):
    """Run a step up to where it waits; return its run and what it deferred with."""
    run = run_of(action, params, **keys)
    return run, defer(run)


def run_of(action, params, *, step=None, workflow=None, started_ago=timedelta()):
    steps = (Step(name="a", action=action, params=params, **(step or {})),)
    return FakeRun(Workflow(name="w", steps=steps, **(workflow or {})), started_ago=started_ago)


def defer(run, **keys) -> TaskDeferred:
    try:
        run.run("a", **keys)
    except TaskDeferred as deferred:
        return deferred
    raise AssertionError("the step did not wait")


def resume(run, deferred, event: Any, **keys):
    """Resume the step as Airflow does when a trigger has fired."""
    task = run.enter("a", **keys)
    kwargs = {**(deferred.kwargs or {}), "event": event}
    return task.resume_execution(deferred.method_name, kwargs, run.context)


def fail(run, deferred, event: Any, **keys):
    """Resume a step that fails, and return its record."""
    with suppress(Exception):
        resume(run, deferred, event, **keys)
    return run.record("a")
