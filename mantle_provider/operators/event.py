"""Actions on events."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.triggers.temporal import DateTimeTrigger
from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType, TaskDeferred
from airflow.sdk.execution_time.comms import (
    AssetEventsResult,
    ErrorResponse,
    GetAssetByName,
    GetAssetByUri,
    GetAssetEventByAsset,
)

from mantle_provider.errors import WorkflowError
from mantle_provider.expressions.time_text import rfc_3339
from mantle_provider.expressions.timestamps import Timestamp
from mantle_provider.lifecycle import STEP_TIMEOUT, Phase
from mantle_provider.operators.base import StepOperator
from mantle_provider.operators.parameters import to_timedelta
from mantle_provider.operators.run_reader import run_started_at
from mantle_provider.workflow.durations import format_duration

if TYPE_CHECKING:
    from airflow.sdk.api.datamodels._generated import AssetEventResponse
    from airflow.sdk.definitions.context import Context

_ACTION = "event/wait"
_LATE_SECONDS = 300.0
"""An event is stored some time after its own: so much of the past is looked at again."""


class EventWaitOperator(StepOperator):
    """``event/wait``: wait for an event of an asset, without a worker between two looks.

    Airflow 3.3 lets no trigger read the events of assets, so that each look takes a worker for a
    moment. See ``docs/how-to/wait-for-people-time-and-events.md``.
    """

    def act(self, context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Look for an event that fits, and wait while there is none.

        :raises WorkflowError: when Airflow does not know the asset.
        """
        _check_asset(parameters)
        now = time.time()
        timeout = parameters.get("timeout")
        end = None if timeout is None else now + to_timedelta(timeout).total_seconds()
        return self._look(parameters, _since(context, parameters, now), end)

    def look_again(
        self,
        context: Context,  # noqa: ARG002  # Airflow's signature
        event: object,  # noqa: ARG002  # only the trigger's word that it is time
        since: float,
        end: float | None,
    ) -> dict[str, Any]:
        """Look once more, as :meth:`act` has begun.

        :param since: from when on events count, in seconds since the epoch.
        :param end: when the wait ends without an event.
        """
        return self._look(self.parameters, since, end)

    def _look(
        self, parameters: Mapping[str, Any], since: float, end: float | None
    ) -> dict[str, Any]:
        """Return ``{"event": ...}``, or give the worker back until the next look.

        :raises WorkflowError: of type ``StepTimeout``, when the time is over after this look.
        """
        now = time.time()
        wanted = parameters.get("match") or {}
        for event in _events(parameters, since):
            if _fits(event.extra or {}, wanted):
                return {"event": _event_data(event)}
        if end is not None and now >= end:
            raise WorkflowError(
                f"{_ACTION}: no event of {_asset_text(parameters)} that fits came within"
                f" {format_duration(to_timedelta(parameters['timeout']))}",
                phase=Phase.EXECUTION.value,
                type=STEP_TIMEOUT,
            )
        pause = to_timedelta(parameters.get("poll_interval") or "1m").total_seconds()
        next_look = now + pause if end is None else min(now + pause, end)
        self.log.info("no event of %s fits yet", _asset_text(parameters))
        raise TaskDeferred(
            trigger=DateTimeTrigger(moment=datetime.fromtimestamp(next_look, tz=timezone.utc)),
            method_name="look_again",
            kwargs={"since": max(since, now - _LATE_SECONDS), "end": end},
        )


def _since(context: Context, parameters: Mapping[str, Any], now: float) -> float:
    """Return from when on events count, in seconds since the epoch."""
    lookback = parameters.get("lookback") or "run-start"
    if lookback == "none":
        return now
    if lookback == "run-start":
        return run_started_at(context)
    return now - to_timedelta(lookback).total_seconds()


def _ask(message: GetAssetByName | GetAssetByUri | GetAssetEventByAsset) -> object:
    # Airflow sets the name when it starts the process, after this module may be imported.
    from airflow.sdk.execution_time.task_runner import SUPERVISOR_COMMS  # noqa: PLC0415

    answer = SUPERVISOR_COMMS.send(message)
    if isinstance(answer, ErrorResponse) and answer.error != ErrorType.ASSET_NOT_FOUND:
        raise AirflowRuntimeError(answer)
    return answer


def _check_asset(parameters: Mapping[str, Any]) -> None:
    """Refuse to wait for what no Dag can bring about, as behind a misspelt name."""
    name, uri = parameters.get("asset"), parameters.get("uri")
    answer = _ask(GetAssetByName(name=name) if name is not None else GetAssetByUri(uri=str(uri)))
    if isinstance(answer, ErrorResponse):
        raise WorkflowError(
            f"{_ACTION}: Airflow knows no {_asset_text(parameters)}: no Dag names it as outlet, "
            "inlet or schedule",
            phase=Phase.INPUT_RESOLUTION.value,
            field="uri" if name is None else "asset",
        )


def _asset_text(parameters: Mapping[str, Any]) -> str:
    name = parameters.get("asset")
    return f'asset "{name}"' if name is not None else f'asset with the URI "{parameters["uri"]}"'


def _events(parameters: Mapping[str, Any], since: float) -> list[AssetEventResponse]:
    """Return the asset's events since then, oldest first."""
    answer = _ask(
        GetAssetEventByAsset(
            name=parameters.get("asset"),
            uri=parameters.get("uri"),
            after=datetime.fromtimestamp(since, tz=timezone.utc),
        )
    )
    return answer.asset_events if isinstance(answer, AssetEventsResult) else []


def _fits(value: object, wanted: object) -> bool:
    """Whether a value is what is wanted: maps hold at least that, all else is equal."""
    if isinstance(wanted, Mapping):
        return isinstance(value, Mapping) and all(
            key in value and _fits(value[key], item) for key, item in wanted.items()
        )
    # In Python true equals 1; in JSON it does not.
    is_same_kind = isinstance(value, bool) == isinstance(wanted, bool)
    return is_same_kind and value == wanted


def _event_data(event: AssetEventResponse) -> dict[str, Any]:
    source = {
        "dag_id": event.source_dag_id,
        "run_id": event.source_run_id,
        "task_id": event.source_task_id,
    }
    return {
        "asset": {"name": event.asset.name, "uri": event.asset.uri},
        "extra": dict(event.extra or {}),
        "timestamp": rfc_3339(Timestamp.from_datetime(event.timestamp)),
        "source": source if event.source_dag_id is not None else None,
    }
