"""When the next attempt of a step starts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import RetryPolicy
from airflow.sdk.definitions.retry_policy import RetryDecision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context

_LONGEST = timedelta(days=365)


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
    return timedelta(seconds=min(seconds, _LONGEST.total_seconds()))


class StepRetryPolicy(RetryPolicy):
    """Airflow's own retries with Mantle's delays.

    :param retry: a step's ``retry`` as the plan writes it.
    """

    def __init__(self, retry: Mapping[str, Any]) -> None:
        self._retry = retry

    def evaluate(
        self,
        exception: BaseException,  # noqa: ARG002  # every failure is retried, whatever its type
        try_number: int,
        max_tries: int,
        context: Context | None = None,
    ) -> RetryDecision:
        """Return a retry after the delay of this attempt; Airflow counts how many are left."""
        # A cluster policy may have raised the task's retries above what the file grants.
        own = context["task"].retries if context else None
        retries = self._retry["max_attempts"] - 1 if own is None else own
        # Clearing raises `max_tries` and lets `try_number` go on (AIRFLOW 22l).
        attempt = max(1, try_number - max(0, max_tries - retries))
        return RetryDecision.retry(delay=retry_delay(self._retry, attempt))
