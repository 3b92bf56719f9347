"""What `python/call` steps of the tests call."""

from __future__ import annotations

import tempfile
import time
from contextlib import suppress

from mantle_provider.errors import ActionError

RESULT = None


def echo(value=None):
    return value


def give():
    return RESULT


def fail_with(text):
    raise RuntimeError(f"told: {text}")


def refuse(text):
    raise ValueError(text)


def fail_with_cause():
    raise ValueError("outer") from KeyError("inner")


def fail_with_output():
    raise ActionError("no luck", action="python/call", result={"status": 503})


def wait(seconds):
    time.sleep(seconds)


def wait_in_spite_of_exceptions():
    for _ in range(30):
        with suppress(Exception):  # what a careless action does
            time.sleep(1)


ENDS: list = []
"""What :func:`end_as_told` does, one call after the other, and the last for all further ones: an
exception is raised, anything else returned."""

CALLS: list = []
"""The values that :func:`end_as_told` was called with."""


def end_as_told(value=None):
    CALLS.append(value)
    end = ENDS[min(len(CALLS), len(ENDS)) - 1]
    if isinstance(end, BaseException):
        raise end
    return end


def write_and_keep(name, keep, context):
    with tempfile.NamedTemporaryFile() as file:
        file.write(name.encode())
        file.flush()
        return context.keep(file.name, name, keep)
