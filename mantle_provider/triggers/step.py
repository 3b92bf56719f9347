"""The wait of a deferred step: another trigger, within the step's time."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from airflow.sdk._shared.module_loading import import_string
from airflow.triggers.base import BaseTrigger, TriggerEvent
from asgiref.sync import sync_to_async

from mantle_provider.triggers.failure_watch import FailureWatch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

STOPPED_BY = "mantle_stopped_by"
"""Key of the event that a step must end early; nothing else yields a map with this key."""

TIME_IS_UP = "time"
"""Why a step must end early: its time is over. Any other value names a step that failed."""


class StepTrigger(BaseTrigger):
    """Waits for another trigger, but no longer than the step may and no shorter than Airflow bears.

    :param classpath: the other trigger's class, as its ``serialize`` gives it.
    :param kwargs: its arguments.
    :param not_before: earliest time of an event, in seconds since the epoch.
    :param end: when the step's time is up, ``None`` for never.
    :param watch: what ends the wait under ``fail_fast``, from :meth:`FailureWatch.to_data`.
    """

    def __init__(
        self,
        *,
        classpath: str,
        kwargs: dict[str, Any],
        not_before: float,
        end: float | None,
        watch: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.classpath = classpath
        self.kwargs = kwargs
        self.not_before = not_before
        self.end = end
        self.watch = watch
        self._other: BaseTrigger | None = None

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return how to make this trigger again."""
        names = ("classpath", "kwargs", "not_before", "end", "watch")
        classpath = f"{type(self).__module__}.{type(self).__qualname__}"
        return classpath, {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield the other trigger's events, or the one that the step must end early."""
        events = aiter(self._started_other().run())
        stop = asyncio.ensure_future(self._stopped_by())
        try:
            while True:
                coming = asyncio.ensure_future(anext(events))
                await asyncio.wait({coming, stop}, return_when=asyncio.FIRST_COMPLETED)
                if coming.done():
                    try:
                        event = coming.result()
                    except StopAsyncIteration:
                        return
                else:
                    coming.cancel()
                    event = TriggerEvent({STOPPED_BY: stop.result()})  # type: ignore[no-untyped-call]
                # Airflow 3.3: a task that resumes before its supervisor has reported its exit
                # fails (AIRFLOW 22g).
                await asyncio.sleep(max(self.not_before - time.time(), 0))
                yield event
        finally:
            stop.cancel()

    async def _stopped_by(self) -> str:
        """Return why the step must end early, as soon as it must."""
        waits = [asyncio.ensure_future(self._time_is_up())]
        if self.watch is not None:
            waits.append(asyncio.ensure_future(self._failed_step(self.watch)))
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()
        finally:
            for wait in waits:
                wait.cancel()

    async def _time_is_up(self) -> str:
        if self.end is None:
            await asyncio.Event().wait()
        else:
            await asyncio.sleep(max(self.end - time.time(), 0))
        return TIME_IS_UP

    async def _failed_step(self, data: dict[str, Any]) -> str:
        # Imported here: outside of the triggerer nobody needs it.
        from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance  # noqa: PLC0415

        watch = FailureWatch.from_data(RuntimeTaskInstance, data)
        while True:
            await asyncio.sleep(data["interval_seconds"])
            try:
                step = await sync_to_async(watch.look)()
            except Exception:  # the supervisor may answer with anything
                self.log.warning("Could not look for failed steps", exc_info=True)
                continue
            if step is not None:
                return step

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
