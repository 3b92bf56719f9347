"""Asking again and again, in the triggerer, until there is an answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from airflow.sdk.exceptions import AirflowRuntimeError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

MAX_FAILURES = 10
"""How many questions in a row may fail: the API server may be away for a while."""

Answer = TypeVar("Answer")


async def first_answer(
    ask: Callable[[], Awaitable[Answer | None]],
    *,
    pause_seconds: float,
    complain: Callable[[AirflowRuntimeError], None],
) -> Answer:
    """Return the first answer that is not ``None``.

    :param complain: is told of each question that failed, but the last.
    :raises AirflowRuntimeError: when :data:`MAX_FAILURES` questions in a row have failed.
    """
    failures = 0
    while True:
        try:
            answer = await ask()
            failures = 0
        except AirflowRuntimeError as error:
            failures += 1
            if failures >= MAX_FAILURES:
                raise
            complain(error)
        else:
            if answer is not None:
                return answer
        await asyncio.sleep(pause_seconds)
