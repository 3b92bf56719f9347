"""How a step waits outside of its process: within its time, and as Airflow bears it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from airflow.sdk.configuration import conf

from mantle_provider.triggers.step import STOPPED_BY, StepTrigger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.exceptions import AirflowRescheduleException, TaskAwaitingInput, TaskDeferred

    from mantle_provider.operators.budget import Budget
    from mantle_provider.triggers.failure_watch import FailureWatch

_MARGIN_SECONDS = 3.0
_BACKSTOP = timedelta(seconds=60)


def hold_deferral(
    deferred: TaskDeferred,
    budget: Budget,
    now: float,
    watch: FailureWatch | None,
    interval_seconds: float,
) -> None:
    """Put a step's own wait around the trigger that an operator defers to.

    Airflow's own timeout of a deferral stays as a late backstop: it came 12.7 s late, and a
    sensor with ``soft_fail`` made a skip of it (AIRFLOW 22h).

    :param watch: what ends the wait under ``fail_fast``, looked at in the triggerer.
    """
    classpath, kwargs = deferred.trigger.serialize()
    end = budget.earliest_end
    deferred.trigger = StepTrigger(
        classpath=classpath,
        kwargs=kwargs,
        not_before=now + shortest_wait(),
        end=end,
        watch=watch.to_data(interval_seconds) if watch else None,
    )
    if end is not None:
        left = timedelta(seconds=max(end - now, 0)) + _BACKSTOP
        asked = deferred.timeout
        deferred.timeout = left if asked is None else min(asked, left)


def hold_input(awaiting: TaskAwaitingInput, budget: Budget, now: float) -> None:
    """Let a wait for a person that no trigger watches end with the step's time.

    Airflow's scheduler looks for such waits now and then, every 15 seconds by default. Nothing
    looks for failed steps meanwhile: ``fail_fast`` counts when the step comes back.
    """
    end = budget.earliest_end
    if end is not None:
        left = timedelta(seconds=max(end - now, 0))
        awaiting.timeout = left if awaiting.timeout is None else min(awaiting.timeout, left)


def hold_reschedule(reschedule: AirflowRescheduleException, now: float) -> None:
    """Put off a reschedule that comes sooner than Airflow bears."""
    earliest = datetime.fromtimestamp(now + shortest_wait(), tz=timezone.utc)
    reschedule.reschedule_date = max(reschedule.reschedule_date, earliest)


def stopped_by(next_kwargs: Mapping[str, Any] | None) -> str | None:
    """Return why a deferral was ended early, ``None`` when it came to its own end."""
    event = (next_kwargs or {}).get("event")
    return event.get(STOPPED_BY) if isinstance(event, dict) else None


def shortest_wait() -> float:
    """Return how many seconds must pass before a step comes back.

    Airflow 3.3 fails a task that comes back around the time at which its supervisor reports its
    exit, up to ``min_heartbeat_interval`` after it (AIRFLOW 22g; upstream 66374, 67287, 72716).
    Remove when the minimum has the repair.
    """
    interval = float(conf.getfloat("workers", "min_heartbeat_interval", fallback=5.0))
    return interval + _MARGIN_SECONDS
