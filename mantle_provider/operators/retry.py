"""When the next attempt of a step starts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import RetryPolicy
from airflow.sdk.definitions.retry_policy import RetryDecision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context


def retry_delay(retry: Mapping[str, Any], attempt: int) -> timedelta:
    """Return the pause after a failed attempt.

    ``fixed`` is always the delay; ``exponential`` doubles it: 1, 2, 4 ... seconds by default,
    as Mantle's engine does, without jitter.

    :param retry: a step's ``retry`` as the plan writes it.
    :param attempt: the attempt that failed, counted from 1.
    """
    seconds = float(retry["delay_seconds"])
    if retry["backoff"] == "exponential":
        seconds *= 2.0 ** min(attempt - 1, 64)  # beyond, a float overflows before a year does
    if (longest := retry["max_delay_seconds"]) is not None:
        seconds = min(seconds, longest)
    return timedelta(seconds=min(seconds, timedelta(days=365).total_seconds()))


class StepRetryPolicy(RetryPolicy):
    """Airflow's own retries with Mantle's delays."""

    def __init__(self, retry: Mapping[str, Any]) -> None:
        self._retry = retry

    def evaluate(
        self,
        exception: BaseException,  # noqa: ARG002  # every failure is retried, whatever its type
        try_number: int,
        max_tries: int,
        context: Context | None = None,  # noqa: ARG002
    ) -> RetryDecision:
        """Return a retry after the delay of this attempt; Airflow counts how many are left."""
        return RetryDecision.retry(
            delay=retry_delay(self._retry, attempt_number(self._retry, try_number, max_tries))
        )


def attempt_number(retry: Mapping[str, Any] | None, try_number: int, max_tries: int) -> int:
    """Return which attempt of this run of the step a try is, counted from 1."""
    return max(1, try_number - first_try_number(retry, max_tries) + 1)


def first_try_number(retry: Mapping[str, Any] | None, max_tries: int) -> int:
    """Return the try that began this run of the step.

    Clearing a task raises ``max_tries`` and lets ``try_number`` go on, so that tries before the
    clear do not count (AIRFLOW 22l).
    """
    retries = retry["max_attempts"] - 1 if retry else 0
    return max(0, max_tries - retries) + 1
