"""Actions on events."""

from __future__ import annotations

from mantle_provider.actions.spec import ActionSpec, ParamSpec

EVENT_WAIT = ActionSpec(
    name="event/wait",
    summary="Wait for an event of an Airflow asset",
    operator="mantle_provider.operators.event.EventWaitOperator",
    params=(
        ParamSpec("asset", ("string",), "the asset's name"),
        ParamSpec("uri", ("string",), "the asset's URI"),
        ParamSpec(
            "match",
            ("map",),
            "what the event's `extra` must hold; maps in it may hold more, all else must be equal",
        ),
        ParamSpec(
            "lookback",
            ("duration",),
            "which events from before the wait count: those since the run's start, none, or those "
            "of so long ago",
            default="run-start",
            words=("run-start", "none"),
        ),
        ParamSpec(
            "timeout", ("duration",), "how long to wait; without an event the step fails then"
        ),
        ParamSpec("poll_interval", ("duration",), "pause between two looks", default="1m"),
    ),
    output=(
        (
            "event",
            "the oldest event that fits: `{asset: {name, uri}, extra, timestamp, source}`, with "
            "the task that made it as `source: {dag_id, run_id, task_id}` or null",
        ),
    ),
    can_wait=True,
    exactly_one=("asset", "uri"),
)

ACTIONS = (EVENT_WAIT,)
