"""The wait for a person's answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypedDict
from uuid import UUID

from airflow.sdk.execution_time.hitl import (
    get_hitl_detail_content_detail,
    update_hitl_detail_response,
)
from airflow.triggers.base import BaseTrigger, TriggerEvent
from asgiref.sync import sync_to_async

from mantle_provider.triggers.polling import first_answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from airflow.sdk.api.datamodels._generated import HITLDetailResponse

POLL_SECONDS = 5.0
"""As often as Airflow's own ``HITLTrigger`` asks."""


class AnswerGiven(TypedDict):
    """The event that a request is answered, as Airflow makes it of an answer in the UI.

    ``responded_by_user`` is ``{"id", "name"}``, or ``None`` for the default; ``responded_at`` is
    a ``datetime`` where Airflow made the event, and in ISO 8601 from here.
    """

    chosen_options: list[str]
    params_input: dict[str, Any]
    responded_at: Any
    responded_by_user: dict[str, str] | None


class NotAnswered(TypedDict):
    """The event that the time is over, and there is no default."""

    error_type: str


class AnswerTrigger(BaseTrigger):
    """Waits until a request is answered or its time is over.

    Airflow resumes a deferred task by itself when its request is answered; here are found the
    answer that came before the task was deferred, and the end of the time.

    :param ti_id: the id of the task's try, to which Airflow's request belongs.
    :param end: when the time is over, in seconds since the epoch; ``None`` for never.
    :param defaults: the options that are chosen then; ``None`` for none.
    :param form: the values that are filled in then.
    :param poll_seconds: pause between two questions.
    """

    def __init__(
        self,
        *,
        ti_id: str,
        end: float | None,
        defaults: list[str] | None,
        form: dict[str, Any],
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ti_id = ti_id
        self.end = end
        self.defaults = defaults
        self.form = form
        self.poll_seconds = poll_seconds

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return how to make this trigger again."""
        names = ("ti_id", "end", "defaults", "form", "poll_seconds")
        classpath = f"{type(self).__module__}.{type(self).__qualname__}"
        return classpath, {name: getattr(self, name) for name in names}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Ask for the answer until there is one, or the time is over.

        :raises AirflowRuntimeError: when the answer could not be asked for ten times in a row.
        """
        event = await first_answer(
            self._event,
            pause_seconds=self.poll_seconds,
            complain=lambda error: self.log.warning("Could not read the answer: %s", error),
        )
        yield TriggerEvent(event)  # type: ignore[no-untyped-call]

    async def _event(self) -> AnswerGiven | NotAnswered | None:
        ti_id = UUID(self.ti_id)
        detail = await sync_to_async(get_hitl_detail_content_detail)(ti_id=ti_id)
        if detail.response_received:
            return _answer(detail)
        if self.end is None or time.time() < self.end:
            return None
        if self.defaults is None:
            return {"error_type": "timeout"}
        # Refused when somebody has answered since: that is what the next question finds.
        stored = await sync_to_async(update_hitl_detail_response)(
            ti_id=ti_id, chosen_options=self.defaults, params_input=self.form
        )
        return _answer(stored)


def _answer(detail: HITLDetailResponse) -> AnswerGiven:
    user = detail.responded_by_user
    return {
        "chosen_options": list(detail.chosen_options or ()),
        "params_input": dict(detail.params_input or {}),
        "responded_at": detail.responded_at.isoformat() if detail.responded_at else None,
        "responded_by_user": {"id": user.id, "name": user.name} if user else None,
    }
