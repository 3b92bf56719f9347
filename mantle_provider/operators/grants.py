"""How many further attempts each key has granted one run of a step.

A step with ``retry`` alone needs no count: its attempts are the count, and Airflow's own retries
are as many. Where ``on_error`` or an error handler may grant more, Airflow's are raised to the sum
(DESIGN 3.5), and what was granted is kept in Airflow's task state store, which survives tries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow.sdk.exceptions import AirflowFailException

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mantle_provider.operators.entry import Entry

KEY = "mantle_grants"
"""Key of the store: ``first_try``, ``try_number`` (the last try that was answered),
``delay_seconds`` and ``used``, a map of what granted an attempt to how many it has granted."""

PLAIN_RETRY = "retry"
HANDLER = "error_handler"


def is_counted(step: Mapping[str, Any], workflow: Mapping[str, Any]) -> bool:
    """Whether other keys than ``retry`` may grant a step further attempts."""
    by_rule = any("retry" in rule for rule in step.get("on_error", ()))
    return by_rule or workflow["error_handler"] is not None


@dataclass(frozen=True, slots=True)
class Grants:
    """Keeps the count for one try.

    :param store: Airflow's task state store of the task.
    :param is_counted: see :func:`is_counted`.
    """

    store: Any
    entry: Entry
    try_number: int
    is_counted: bool

    def used(self, grantor: str) -> int:
        """Return how many attempts a key has granted; a killed one counts for ``retry``."""
        if not self.is_counted:
            return self.entry.attempt - 1 if grantor == PLAIN_RETRY else 0
        return int(self._kept()["used"].get(grantor, 0))

    def add(self, grantor: str, delay_seconds: float) -> None:
        """Keep that a key grants the attempt after this one."""
        if self.is_counted:
            self._keep(self.try_number, grantor, 1, delay_seconds)

    def check_start(self) -> None:
        """Refuse an attempt that only follows because the one before was killed.

        Airflow repeats a killed task while its own tries last, which are raised here or by a
        cluster policy; what follows a kill is what ``retry`` grants (DESIGN 3.5). An attempt whose
        failure was not answered was killed. No record is left: the step counts as killed.

        :raises AirflowFailException: when the attempts that ``retry`` grants are used up.
        """
        granted, attempt = self.entry.granted, self.entry.attempt
        if self.is_counted:
            before = self.try_number - 1
            killed = before - max(self._kept()["try_number"], self.entry.first_try - 1)
            if killed <= 0:
                return
            self._keep(before, PLAIN_RETRY, killed)
            attempt = self.used(PLAIN_RETRY) + 1
        if attempt > granted:
            raise AirflowFailException(
                f"attempt {self.entry.attempt - 1} was killed, and `retry` grants no other"
            )

    def _keep(
        self, try_number: int, grantor: str, attempts: int, delay_seconds: float = 0.0
    ) -> None:
        used = {**self._kept()["used"], grantor: self.used(grantor) + attempts}
        data = {
            "first_try": self.entry.first_try,
            "try_number": try_number,
            "delay_seconds": delay_seconds,
            "used": used,
        }
        self.store.set(KEY, data)

    def _kept(self) -> Mapping[str, Any]:
        """Return what is kept; what was before the task was cleared no longer counts."""
        kept = self.store.get(KEY)
        if isinstance(kept, dict) and kept["first_try"] == self.entry.first_try:
            return kept
        return {"try_number": 0, "used": {}}
