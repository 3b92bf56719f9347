"""Actions on time."""

from __future__ import annotations

import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.triggers.temporal import DateTimeTrigger

from mantle_provider.expressions.time_text import rfc_3339
from mantle_provider.expressions.timestamps import Timestamp
from mantle_provider.operators.base import StepOperator
from mantle_provider.operators.parameters import to_datetime, to_timedelta
from mantle_provider.operators.waiting import shortest_wait

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context


class TimeWaitOperator(StepOperator):
    """``time/wait``: wait for a while, or until a moment, without a worker.

    See ``docs/how-to/wait-for-people-time-and-events.md``.
    """

    def act(self, context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Give the worker back until the moment has come.

        A wait that is shorter than Airflow bears a deferral is spent in the worker.
        """
        began_at = time.time()
        until = _moment(parameters, began_at)
        seconds = until.timestamp() - began_at
        text = rfc_3339(Timestamp.from_datetime(until))
        if seconds > shortest_wait():
            trigger = DateTimeTrigger(moment=until)
            wait = {"until": text, "began_at": began_at}
            self.defer(trigger=trigger, method_name="end_wait", kwargs=wait)
        time.sleep(max(seconds, 0))
        return self.end_wait(context, event=None, until=text, began_at=began_at)

    def end_wait(
        self,
        context: Context,  # noqa: ARG002  # Airflow's signature
        event: object,  # noqa: ARG002  # only the trigger's word that the moment has come
        until: str,
        began_at: float,
    ) -> dict[str, Any]:
        """Return ``{"until": ..., "waited_ms": ...}``."""
        return {"until": until, "waited_ms": round((time.time() - began_at) * 1000)}


def _moment(parameters: Mapping[str, Any], began_at: float) -> datetime:
    """Return when the wait ends, in UTC."""
    until = parameters.get("until")
    if until is not None:
        return to_datetime(until)
    began = datetime.fromtimestamp(began_at, tz=timezone.utc)
    return began + to_timedelta(parameters["duration"])
