"""Actions that people carry out."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

from airflow.sdk.exceptions import TaskDeferred
from airflow.sdk.execution_time.hitl import upsert_hitl_detail

from mantle_provider.errors import ActionError, WorkflowError
from mantle_provider.expressions.time_text import rfc_3339
from mantle_provider.expressions.timestamps import Timestamp
from mantle_provider.lifecycle import STEP_TIMEOUT, Phase
from mantle_provider.operators.base import StepOperator
from mantle_provider.operators.entry import read_first_try
from mantle_provider.operators.form import FieldError, answered_form, form_fields
from mantle_provider.operators.parameters import to_timedelta
from mantle_provider.triggers.answer import AnswerTrigger
from mantle_provider.workflow.durations import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context
    from airflow.sdk.execution_time.hitl import HITLUser

_ACTION = "human/approve"
_OPTIONS = ["Approve", "Reject"]


class HumanApproveOperator(StepOperator):
    """``human/approve``: ask a person in the Airflow UI, and wait for the answer.

    The request and its answer are those of Airflow's ``HITLOperator``. That operator itself
    parks its task where nothing watches it (``awaiting_input``); here the task is deferred, so
    that the step's time and ``fail_fast`` end the wait. See
    ``docs/how-to/wait-for-people-time-and-events.md``.
    """

    def act(self, context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Ask, and give the worker back; an answer that an earlier attempt was given counts.

        :raises WorkflowError: in phase ``INPUT_RESOLUTION``, when nothing can be asked so.
        """
        kept = context["task_state_store"].get(_answer_key(context))
        if isinstance(kept, dict):
            self.log.info("the answer that an earlier attempt was given counts")
            return self._judged(kept)
        options, defaults = _checked_options(parameters), _checked_default(parameters)
        fields = _checked_form(parameters)
        timeout = parameters.get("timeout")
        ti_id = context["ti"].id
        upsert_hitl_detail(
            ti_id=ti_id,
            options=options,
            subject=parameters["subject"],
            body=parameters.get("body"),
            defaults=defaults,
            multiple=parameters.get("multiple") is True,
            params=fields,
            assigned_users=_checked_users(parameters),
        )
        trigger = AnswerTrigger(
            ti_id=str(ti_id),
            end=None if timeout is None else time.time() + to_timedelta(timeout).total_seconds(),
            defaults=defaults,
            form={name: field["value"] for name, field in fields.items()},
        )
        raise TaskDeferred(trigger=trigger, method_name="take_answer")

    def take_answer(self, context: Context, event: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``{"approved", "chosen", "form", "by", "at"}``, and keep it for later attempts.

        :raises WorkflowError: of type ``StepTimeout`` without an answer; in phase
            ``RESULT_VALIDATION`` for an answer that does not fit the request.
        :raises ActionError: when the answer is no approval and ``fail_on_reject`` is set.
        """
        if event.get("error_type") == "timeout":
            timeout = to_timedelta(self.parameters["timeout"])
            raise WorkflowError(
                f"{_ACTION}: nobody answered within {format_duration(timeout)}",
                phase=Phase.EXECUTION.value,
                type=STEP_TIMEOUT,
            )
        answer = self._answer(event)
        context["task_state_store"].set(_answer_key(context), answer)
        return self._judged(answer)

    def _answer(self, event: Mapping[str, Any]) -> dict[str, Any]:
        options = self.parameters.get("options") or _OPTIONS
        chosen = list(event.get("chosen_options") or ())
        if not chosen or not set(chosen) <= set(options):
            raise _malformed("it chooses none of the options", "options")
        user = event["responded_by_user"]
        form, given = _checked_form(self.parameters), event.get("params_input") or {}
        try:
            # What stands in for an answer may leave open what nobody has filled in.
            values = answered_form(form, given) if user else dict(given)
        except FieldError as error:
            raise _malformed(str(error), f"form.{error.name}") from None
        return {
            "approved": options[0] in chosen,
            "chosen": chosen,
            "form": values,
            "by": {"id": user["id"], "name": user["name"]} if user else None,
            "at": _text(event["responded_at"]),
        }

    def _judged(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Return the answer as output, unless it fails the step."""
        if answer["approved"] or self.parameters.get("fail_on_reject") is not True:
            return answer
        choice = ", ".join(f'"{option}"' for option in answer["chosen"])
        who = f"{answer['by']['name']} chose {choice}" if answer["by"] else f"{choice} by default"
        raise ActionError(
            f"{_ACTION}: not approved: {who}", action=_ACTION, result=answer, retryable=False
        )


def _answer_key(context: Context) -> str:
    return f"mantle_answer_{read_first_try(context)}"


def _checked_options(parameters: Mapping[str, Any]) -> list[str]:
    options = parameters.get("options") or _OPTIONS
    if not all(isinstance(option, str) and option for option in options):
        raise _unaskable("options must be strings that are not empty", "options")
    if len(set(options)) < len(options):
        raise _unaskable("options must differ", "options")
    return list(options)


def _checked_default(parameters: Mapping[str, Any]) -> list[str] | None:
    default = parameters.get("default")
    if default is None:
        return None
    if parameters.get("timeout") is None:
        raise _unaskable("default needs a timeout after which it is taken", "default")
    chosen = [default] if isinstance(default, str) else default
    options = parameters.get("options") or _OPTIONS
    if not chosen or any(option not in options for option in chosen):
        raise _unaskable("default must be one of the options", "default")
    if len(chosen) > 1 and parameters.get("multiple") is not True:
        raise _unaskable("default must be one option, unless multiple is true", "default")
    return list(chosen)


def _checked_form(parameters: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    try:
        return form_fields(parameters.get("form") or {})
    except FieldError as error:
        raise _unaskable(str(error), f"form.{error.name}") from None


def _checked_users(parameters: Mapping[str, Any]) -> list[HITLUser]:
    users = parameters.get("assigned_users") or []
    if not all(isinstance(user, str) and user for user in users):
        raise _unaskable("assigned_users must be ids of users, as strings", "assigned_users")
    return [{"id": user, "name": user} for user in users]


def _unaskable(message: str, field: str) -> WorkflowError:
    return WorkflowError(f"{_ACTION}: {message}", phase=Phase.INPUT_RESOLUTION.value, field=field)


def _malformed(message: str, field: str) -> WorkflowError:
    return WorkflowError(
        f"{_ACTION}: the answer does not fit: {message}",
        phase=Phase.RESULT_VALIDATION.value,
        field=field,
    )


def _text(moment: datetime | str) -> str:
    """Return a moment in RFC 3339; Airflow hands on one that it has stored as it was."""
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return rfc_3339(Timestamp.from_datetime(moment))
