"""Which attempt of a step a process begins or goes on with.

Airflow counts tries over clears, and starts a new process of the same try after each deferral and
each poke of a sensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context


@dataclass(frozen=True, slots=True)
class Entry:
    """One process's place in the life of a step.

    :param first_try: the try that began this run of the step; a clear begins a new one.
    :param attempt: counts the tries of this run of the step from 1.
    :param granted: how many attempts the step's ``retry`` grants, 1 without it.
    :param has_tries: whether Airflow itself would allow another one.
    :param began_at: when this attempt began, in seconds since the epoch.
    :param is_resumed: whether this attempt has had a process before.
    :param version: ``def_version`` of the workflow when this attempt began.
    """

    first_try: int
    attempt: int
    granted: int
    has_tries: bool
    began_at: float
    is_resumed: bool
    version: str

    @property
    def is_first(self) -> bool:
        """Whether nothing of this run of the step has run before."""
        return self.attempt == 1 and not self.is_resumed


def read_first_try(context: Context) -> int:
    """Return the number of the try that began this run of the step."""
    # Clearing raises `max_tries` by the retries and lets `try_number` go on (AIRFLOW 22l). The
    # operator's own number counts, not ours: a cluster policy may have raised it.
    return max(0, int(context["ti"].max_tries) - (context["task"].retries or 0)) + 1


def read_entry(context: Context, step: Mapping[str, Any], *, version: str, can_wait: bool) -> Entry:
    """Return where the process that calls this stands.

    :param version: of the code that runs.
    :param can_wait: whether the action may give its process back; only then is it worth asking
        Airflow's task state store, which survives that.
    """
    ti = context["ti"]
    first_try = read_first_try(context)
    began_at = float(ti.start_date.timestamp())
    is_resumed = False
    if can_wait:
        store, key = context["task_state_store"], f"mantle_began_{ti.try_number}"
        kept = store.get(key)
        if isinstance(kept, dict):
            began_at, version, is_resumed = float(str(kept["at"])), str(kept["version"]), True
        else:
            store.set(key, {"at": began_at, "version": version})
    retry = step["retry"]
    return Entry(
        first_try=first_try,
        attempt=max(1, ti.try_number - first_try + 1),
        granted=retry["max_attempts"] if retry else 1,
        has_tries=ti.try_number <= ti.max_tries,
        began_at=began_at,
        is_resumed=is_resumed,
        version=version,
    )
