"""Raise an exception in the main thread after a time, without harming Airflow's own channel.

State: the process's handler of ``SIGUSR1`` while a timer is armed.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_SUPERVISOR_CHANNEL = "airflow.sdk.execution_time.comms"


class Interrupted(BaseException):  # an interrupt, as KeyboardInterrupt is one
    """The time is up; a ``BaseException``, so that an action's own handlers let it pass."""


@contextmanager
def interrupt_after(seconds: float | None) -> Iterator[None]:
    """Raise :class:`Interrupted` inside the block once ``seconds`` have passed.

    Without effect for ``None``, and outside the main thread, where Python runs no signal
    handlers. The signal is ``SIGUSR1`` because Airflow's own ``execution_timeout``, which stays
    as a late backstop, owns ``SIGALRM``.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    is_armed = True

    def deliver(_number: int, frame: FrameType | None) -> None:
        if is_armed:
            _raise_outside_channel(frame, lambda: is_armed)

    previous = signal.signal(signal.SIGUSR1, deliver)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        is_armed = False
        timer.cancel()
        signal.signal(signal.SIGUSR1, previous or signal.SIG_DFL)


def _raise_outside_channel(frame: FrameType | None, is_armed: Callable[[], bool]) -> None:
    """Raise now, or as soon as a call to the supervisor that is under way has returned.

    Airflow 3.3: an exception raised inside such a call leaves its answer unread, and the next
    call gets that answer instead of its own (AIRFLOW 22e).
    """
    caller = _caller_of_channel(frame)
    if caller is None:
        raise Interrupted

    def on_event(_frame: FrameType, _event: str, _argument: object) -> Any:  # noqa: ANN401  # the trace protocol
        sys.settrace(None)
        caller.f_trace = None
        if is_armed():
            raise Interrupted
        return None

    caller.f_trace = on_event
    sys.settrace(lambda *_: None)


def _caller_of_channel(frame: FrameType | None) -> FrameType | None:
    """Return the frame that called into the supervisor channel, or ``None`` outside of it."""
    caller = None
    while frame is not None:
        if frame.f_globals.get("__name__") == _SUPERVISOR_CHANNEL:
            caller = frame.f_back
        frame = frame.f_back
    return caller
