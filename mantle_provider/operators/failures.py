"""From an exception to the :class:`ErrorRecord` that is stored for it."""

from __future__ import annotations

from datetime import datetime, timezone
from itertools import islice
from typing import TYPE_CHECKING, Any

from airflow.sdk._shared.secrets_masker import redact
from airflow.sdk.exceptions import (
    AirflowFailException,
    AirflowNotFoundException,
    AirflowRescheduleException,
    AirflowRuntimeError,
    AirflowSensorTimeout,
    AirflowSkipException,
    AirflowTaskTimeout,
    DagRunTriggerException,
    DownstreamTasksSkipped,
    TaskAwaitingInput,
    TaskDeferred,
)

from mantle_provider.errors import (
    ActionError,
    ConfigurationError,
    WorkflowError,
    causes_of,
    text_of,
)
from mantle_provider.lifecycle import (
    FAIL_FAST,
    HOOKS_TIMEOUT,
    REJECTED,
    STEP_TIMEOUT,
    WORKFLOW_TIMEOUT,
    Cause,
    ErrorRecord,
    Phase,
)

if TYPE_CHECKING:
    from collections.abc import Callable

CONTROL_FLOW = (
    AirflowRescheduleException,
    AirflowSkipException,
    TaskAwaitingInput,
    TaskDeferred,
)
"""How Airflow's operators say that they skip, wait or come back: no failures (AIRFLOW 22f)."""

STEERING = (DagRunTriggerException, DownstreamTasksSkipped)
"""How operators skip what comes after them, hooks included, or start runs that nobody waits for;
refused when a Dag is built, and here for what is hidden from a look at the class."""

FAILURES = (Exception, AirflowTaskTimeout)
"""What fails an attempt; Airflow's timeout is no ``Exception``."""

FINAL_IN_AIRFLOW = (AirflowFailException, AirflowSensorTimeout)
"""What Airflow never repeats: the operator says that another attempt cannot succeed."""

_OUR_TYPES = frozenset({FAIL_FAST, HOOKS_TIMEOUT, REJECTED, STEP_TIMEOUT, WORKFLOW_TIMEOUT})

MAX_TEXT_CHARACTERS = 10_000
_CUT = " ... (cut)"
_MAX_CAUSES = 10


def error_record(
    error: BaseException,
    *,
    step: str,
    phase: Phase,
    try_number: int,
    kind: str | None = None,
) -> ErrorRecord:
    """Return the record of a failure, with every text masked as Airflow masks its logs.

    XCom itself is not masked, so the texts must be before they are stored (AIRFLOW 22j).

    :param kind: the record's type, where it is not the exception's.
    :param phase: the phase under way; a :class:`WorkflowError` knows better.
    """
    ours = error if isinstance(error, WorkflowError) else None
    causes = islice(causes_of(error), _MAX_CAUSES)
    return ErrorRecord(
        phase=ours.phase if ours else _phase(error, phase).value,
        step=step,
        edge=ours.edge_id if ours else None,
        field=ours.field if ours else None,
        expression=ours.expression if ours else None,
        message=error_message(error),
        type=kind or (ours and ours.type) or _type_name(error),
        causes=tuple(Cause(type(cause).__name__, error_message(cause)) for cause in causes),
        try_number=try_number,
        at=datetime.now(timezone.utc).isoformat(),
    )


def workflow_error(error: BaseException, *, step: str, phase: Phase) -> WorkflowError:
    """Return a failure in its structured form, with the exception itself as the cause.

    A failure of our own is returned as it is, with the step it happened in.

    :param phase: the phase under way; a :class:`WorkflowError` knows better.
    """
    if isinstance(error, WorkflowError):
        structured = error
    else:
        structured = WorkflowError(
            error_message(error),
            phase=_phase(error, phase).value,
            type=_type_name(error),
            retryable=_is_retryable(error),
        )
        structured.__cause__ = error
    structured.node_id = step
    return structured


def _is_retryable(error: BaseException) -> bool:
    if isinstance(error, ActionError):
        return error.retryable
    return not isinstance(error, FINAL_IN_AIRFLOW)


def without_phases(action: Callable[[], Any]) -> Any:  # noqa: ANN401  # any result
    """Carry out an action, which may throw a :class:`WorkflowError` but not say its phase.

    :raises WorkflowError: in phase ``EXECUTION`` in place of one that the action threw; what that
        says of phase and place is the action's word, and is kept as the cause only.
    """
    try:
        return action()
    except WorkflowError as error:
        raise WorkflowError(
            error.message,
            phase=Phase.EXECUTION.value,
            type=_type_name(error),
            retryable=error.retryable,
        ) from error


def error_message(error: BaseException) -> str:
    """Return an exception's text, masked and at most :data:`MAX_TEXT_CHARACTERS` long."""
    # Airflow stores XComs in a database that may refuse NUL and lone surrogates (AIRFLOW 22j).
    text = text_of(error).replace("\0", "\\0").encode("utf-8", "backslashreplace").decode("utf-8")
    masked = str(redact(text or type(error).__name__))
    if len(masked) <= MAX_TEXT_CHARACTERS:
        return masked
    return masked[: MAX_TEXT_CHARACTERS - len(_CUT)] + _CUT


def _type_name(error: BaseException) -> str:
    """Return the name of a failure's class, with its module where it could pass for a type of ours.

    The verdict on a run takes those for what they say.
    """
    kind = type(error)
    return f"{kind.__module__}.{kind.__name__}" if kind.__name__ in _OUR_TYPES else kind.__name__


def _phase(error: BaseException, phase: Phase) -> Phase:
    """A missing connection, package or setting means that the action could not be had."""
    if isinstance(error, ConfigurationError | AirflowNotFoundException):
        return Phase.EXECUTOR_LOOKUP
    if isinstance(error, AirflowRuntimeError) and "NOT_FOUND" in str(error.error.error):
        return Phase.EXECUTOR_LOOKUP
    return phase
