"""Raise an exception in the main thread from another one, without harming Airflow's own channel.

State: the process's handler of ``SIGUSR1`` while a block can be interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_SUPERVISOR_CHANNEL = "airflow.sdk.execution_time.comms"


class Interrupted(BaseException):
    """A block was told to end; a ``BaseException``, so that an action's own handlers let it pass.

    :param reason: what the one who interrupted said.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Interrupter:
    """Ends a block of the main thread from any thread, once."""

    def __init__(self) -> None:
        self._is_armed = True
        self._reason: str | None = None

    def interrupt(self, reason: str) -> None:
        """Make the block raise :class:`Interrupted`; the first reason counts."""
        if self._is_armed and self._reason is None:
            self._reason = reason
            os.kill(os.getpid(), signal.SIGUSR1)

    def disarm(self) -> None:
        """Let a signal that is still under way do nothing."""
        self._is_armed = False

    def deliver(self, _number: int, frame: FrameType | None) -> None:
        """Raise now, or as soon as a call to the supervisor that is under way has returned.

        Airflow 3.3: an exception raised inside such a call leaves its answer unread, and the
        next call gets that answer instead of its own (AIRFLOW 22e).
        """
        if self._reason is None or not self._is_armed:
            return
        caller = _caller_of_channel(frame)
        if caller is None:
            raise Interrupted(self._reason)

        def on_event(_frame: FrameType, _event: str, _argument: object) -> Any:  # noqa: ANN401  # the trace protocol
            sys.settrace(None)
            caller.f_trace = None
            if self._is_armed and self._reason is not None:
                raise Interrupted(self._reason)
            return None

        caller.f_trace = on_event
        sys.settrace(lambda *_: None)


@contextmanager
def interruptible() -> Iterator[Interrupter]:
    """Yield what interrupts the block.

    The signal is ``SIGUSR1`` because Airflow's own ``execution_timeout``, which stays as a late
    backstop, owns ``SIGALRM``. Without effect outside the main thread, where Python runs no
    signal handlers.
    """
    interrupter = Interrupter()
    if threading.current_thread() is not threading.main_thread():
        interrupter.disarm()
        yield interrupter
        return
    previous = signal.signal(signal.SIGUSR1, interrupter.deliver)
    try:
        yield interrupter
    finally:
        interrupter.disarm()
        signal.signal(signal.SIGUSR1, previous or signal.SIG_DFL)


@contextmanager
def interrupted_after(
    interrupter: Interrupter, seconds: float | None, reason: str
) -> Iterator[None]:
    """Interrupt with ``reason`` once ``seconds`` have passed; never for ``None``."""
    if seconds is None:
        yield
        return
    timer = threading.Timer(seconds, interrupter.interrupt, [reason])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _caller_of_channel(frame: FrameType | None) -> FrameType | None:
    """Return the frame that called into the supervisor channel, or ``None`` outside of it."""
    caller = None
    while frame is not None:
        if frame.f_globals.get("__name__") == _SUPERVISOR_CHANNEL:
            caller = frame.f_back
        frame = frame.f_back
    return caller
