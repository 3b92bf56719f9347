"""The wait of a deferred step: another trigger, within the step's time."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from airflow.sdk._shared.module_loading import import_string
from airflow.triggers.base import BaseTrigger, TriggerEvent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TIME_IS_UP = "mantle_time_is_up"
"""Key of the event that a step's time is up; nothing else yields a map with this key."""


class StepTrigger(BaseTrigger):
    """Waits for another trigger, but no longer than until an end and no shorter than Airflow bears.

    :param classpath: the other trigger's class, as its ``serialize`` gives it.
    :param kwargs: its arguments.
    :param not_before: earliest time of an event, in seconds since the epoch.
    :param end: when the step's time is up, ``None`` for never.
    """

    def __init__(
        self, *, classpath: str, kwargs: dict[str, Any], not_before: float, end: float | None
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.classpath = classpath
        self.kwargs = kwargs
        self.not_before = not_before
        self.end = end
        self._other: BaseTrigger | None = None

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return how to make this trigger again."""
        return (
            f"{type(self).__module__}.{type(self).__qualname__}",
            {
                "classpath": self.classpath,
                "kwargs": self.kwargs,
                "not_before": self.not_before,
                "end": self.end,
            },
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield the other trigger's events, or the one that the time is up."""
        events = aiter(self._started_other().run())
        while True:
            left = None if self.end is None else max(self.end - time.time(), 0)
            try:
                event = await asyncio.wait_for(anext(events), left)
            except StopAsyncIteration:
                return
            except asyncio.TimeoutError:
                event = TriggerEvent({TIME_IS_UP: True})  # type: ignore[no-untyped-call]
            # Airflow 3.3: a task that resumes before its supervisor has reported its exit fails
            # (AIRFLOW 22g).
            await asyncio.sleep(max(self.not_before - time.time(), 0))
            yield event

    async def cleanup(self) -> None:
        """Let the other trigger release what it holds here."""
        if self._other is not None:
            await self._other.cleanup()

    async def on_kill(self) -> None:
        """Let the other trigger stop what it waits for."""
        await self._started_other().on_kill()

    def _started_other(self) -> BaseTrigger:
        if self._other is None:
            other: BaseTrigger = import_string(self.classpath)(**self.kwargs)
            other.task_instance = self.task_instance
            other.trigger_id = self.trigger_id
            self._other = other
        return self._other
