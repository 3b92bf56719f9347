"""Functions that the suite's workflows call."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from datetime import datetime


def fail_with(text: str) -> NoReturn:
    """Fail with a message that holds ``text``."""
    raise RuntimeError(f"no luck with {text}")


def work_for(seconds: float, text: str) -> str:
    """Take a while, in Python, and return ``text``."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.1)
    return text


def fail_after(seconds: float, text: str) -> NoReturn:
    """Take a while, then fail with a message that holds ``text``."""
    fail_with(work_for(seconds, text))


def fail_at(begin: datetime, seconds: float, text: str) -> NoReturn:
    """Fail so many seconds after ``begin``, or at once when that is over."""
    fail_after(begin.timestamp() + seconds - time.time(), text)
