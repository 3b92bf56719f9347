"""When the next attempt of a step starts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import RetryPolicy
from airflow.sdk.definitions.retry_policy import RetryDecision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context

from mantle_provider.operators.grants import KEY

DEFAULT_DELAY_SECONDS = 1.0
"""Pause before an attempt that an error handler grants without saying when, as Mantle's own."""

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


class GrantedRetryPolicy(RetryPolicy):
    """Airflow's retries for a step whose further attempts are granted one by one.

    The step runtime has decided before Airflow asks; here that decision is read.
    """

    def evaluate(
        self,
        exception: BaseException,  # noqa: ARG002  # the step runtime has looked at it
        try_number: int,
        max_tries: int,  # noqa: ARG002  # the step runtime counts
        context: Context | None = None,
    ) -> RetryDecision:
        """Return a retry after the delay that was granted.

        Without one the step was ended from outside; whether another attempt may run is then
        asked at its start.
        """
        kept = context["task_state_store"].get(KEY) if context else None
        if not isinstance(kept, dict) or kept["try_number"] != try_number:
            return RetryDecision.default()
        return RetryDecision.retry(delay=timedelta(seconds=float(str(kept["delay_seconds"]))))
