"""What a failed attempt is answered with (LANGUAGE, "Failure keys", rows 2, 6 and 7)."""

from __future__ import annotations

import logging
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mantle_provider.errors import WorkflowError
from mantle_provider.expressions import WORKFLOW_VARIABLES
from mantle_provider.lifecycle import (
    ERROR_FIELDS,
    FAIL,
    FAIL_FAST,
    HOOKS_TIMEOUT,
    MAX_HANDLER_RETRIES,
    RETRY,
    TRANSITION,
    WORKFLOW_TIMEOUT,
    Cause,
    Phase,
)
from mantle_provider.operators.conditions import holds
from mantle_provider.operators.failures import error_message
from mantle_provider.operators.grants import HANDLER, PLAIN_RETRY
from mantle_provider.operators.handler import MalformedAnswer
from mantle_provider.operators.retry import DEFAULT_DELAY_SECONDS, retry_delay

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mantle_provider.handlers import ErrorResolution
    from mantle_provider.lifecycle import ErrorRecord
    from mantle_provider.operators.budget import Budget
    from mantle_provider.operators.entry import Entry
    from mantle_provider.operators.grants import Grants

log = logging.getLogger(__name__)

_VARIABLES = (*WORKFLOW_VARIABLES, "error")

_FINAL = frozenset({WORKFLOW_TIMEOUT, HOOKS_TIMEOUT, FAIL_FAST})
"""Types of our own failures about which no key is asked (LANGUAGE, "Failure keys", row 2)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an attempt's failure is answered with.

    :param resolution: ``ErrorRecord.resolution``.
    :param target: the step that a transition goes to.
    :param error: the failure that counts in place of the attempt's own.
    :param causes: further causes, for the record.
    """

    resolution: str
    target: str | None = None
    error: WorkflowError | None = None
    causes: tuple[Cause, ...] = ()

    @property
    def is_final(self) -> bool:
        """Whether no further attempt follows."""
        return self.resolution != RETRY


class Resolver:
    """Decides for one failed attempt: first ``on_error``, then ``retry``, then the handler.

    :param budget: gives the time that the step has.
    :param values: gives what the rules' conditions read, besides ``error``.
    :param ask_handler: asks the workflow's error handler; ``None`` where it has none.
    """

    def __init__(  # noqa: PLR0913  # what an answer depends on has this many sides
        self,
        step: Mapping[str, Any],
        entry: Entry,
        grants: Grants,
        *,
        budget: Callable[[], Budget],
        values: Callable[[], Mapping[str, Any]],
        ask_handler: Callable[[WorkflowError], ErrorResolution] | None,
    ) -> None:
        self._step = step
        self._entry = entry
        self._grants = grants
        self._budget = budget
        self._values = values
        self._ask_handler = ask_handler

    def resolve(self, error: WorkflowError, record: ErrorRecord) -> Answer:
        """Return the answer, and keep it when it is a further attempt.

        :param record: of the same failure, as the rules read it.
        """
        if error.type in _FINAL:
            return Answer(FAIL)
        try:
            answer = self._by_rules(record)
        except WorkflowError as broken:
            log.warning("Step %s: %s", record.step, error_message(broken))
            return Answer(FAIL, causes=(_cause(broken),))
        return answer or self._by_retry(error) or self._by_handler(error)

    def after_kill(self) -> Answer:
        """Return the answer to a kill that the process has learnt of: what ``retry`` grants.

        It is not kept: the next attempt finds that nobody answered for this one.
        """
        is_left = self._grants.used(PLAIN_RETRY) < self._entry.granted - 1
        return Answer(RETRY if is_left and self._entry.has_tries else FAIL)

    def _by_rules(self, record: ErrorRecord) -> Answer | None:
        """Return the answer of the first rule that holds and has one left."""
        for index, rule in enumerate(self._step.get("on_error", ())):
            if rule["when"] is not None and not self._holds(rule["when"], index, record):
                continue
            if "transition_to" in rule:
                return Answer(TRANSITION, rule["transition_to"])
            if "fail" in rule:
                return Answer(FAIL)
            if answer := self._granted(f"on_error[{index}]", rule["retry"]):
                return answer
        return None

    def _holds(self, when: str, index: int, record: ErrorRecord) -> bool:
        """Ask a rule.

        :raises WorkflowError: it cannot say yes or no.
        """
        return holds(
            when,
            {**self._values(), "error": self._view(record)},
            f"`on_error[{index}].when` ({when})",
            variables=_VARIABLES,
            phase=Phase.ERROR_HANDLER.value,
        )

    def _view(self, record: ErrorRecord) -> dict[str, Any]:
        """Return ``error`` as rules read it; its tries count anew when the step was cleared."""
        return {
            **{name: getattr(record, name) for name in ERROR_FIELDS},
            "causes": [asdict(cause) for cause in record.causes],
            "try_number": self._entry.attempt,
        }

    def _by_retry(self, error: WorkflowError) -> Answer | None:
        retry = self._step["retry"]
        if retry is None or not error.retryable:
            return None
        return self._granted(PLAIN_RETRY, retry)

    def _granted(self, grantor: str, retry: Mapping[str, Any]) -> Answer | None:
        """Return the next attempt that a ``retry`` grants, ``None`` when it grants no other."""
        used = self._grants.used(grantor)
        if used >= retry["max_attempts"] - 1:
            return None
        return self._again(grantor, retry_delay(retry, used + 1).total_seconds())

    def _again(self, grantor: str, delay_seconds: float) -> Answer:
        """Return a further attempt, unless Airflow has none left or it would start too late."""
        starts_at = time.time() + delay_seconds
        if not self._entry.has_tries or not self._budget().allows_start(starts_at):
            return Answer(FAIL)
        self._grants.add(grantor, delay_seconds)
        return Answer(RETRY)

    def _by_handler(self, error: WorkflowError) -> Answer:
        if self._ask_handler is None:
            return Answer(FAIL)
        try:
            answer = self._ask_handler(error)
        except MalformedAnswer as malformed:
            return Answer(FAIL, error=malformed.error)
        if answer.action != RETRY:
            return Answer(answer.action, answer.target)
        if self._grants.used(HANDLER) >= MAX_HANDLER_RETRIES:
            return Answer(FAIL, error=_limit_reached(error))
        return self._again(HANDLER, self._handler_delay(answer))

    def _handler_delay(self, answer: ErrorResolution) -> float:
        if answer.delay is not None:
            return answer.delay.total_seconds()
        retry = self._step["retry"]
        if retry is None:
            return DEFAULT_DELAY_SECONDS
        return retry_delay(retry, self._grants.used(HANDLER) + 1).total_seconds()


def _limit_reached(error: WorkflowError) -> WorkflowError:
    """Return the last failure, which says that the handler's attempts are used up."""
    limit = WorkflowError(
        f"the error handler asked for another attempt, but the limit of {MAX_HANDLER_RETRIES} is"
        f" reached; the last failure: {error.diagnostic()}",
        phase=error.phase,
        node_id=error.node_id,
        edge_id=error.edge_id,
        field=error.field,
        expression=error.expression,
        type=error.type,
        retryable=False,
    )
    limit.__cause__ = error.__cause__
    return limit


def _cause(error: WorkflowError) -> Cause:
    return Cause(error.type or type(error).__name__, error_message(error))
