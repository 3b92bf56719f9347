"""Calling ``on_finish`` of a step: by the process of its last attempt, or for it by the outcome."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from mantle_provider.callbacks import overrides
from mantle_provider.lifecycle import NodeStatus
from mantle_provider.operators.context import WorkflowContext
from mantle_provider.operators.interrupt import interrupted_after, interruptible
from mantle_provider.operators.user_code import call_path, contained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from airflow.sdk.definitions.context import Context

    from mantle_provider.lifecycle import WorkflowState
    from mantle_provider.operators.run_reader import RunReader

log = logging.getLogger(__name__)

FINISHED = "mantle_on_finish"
"""XCom of a step whose ``on_finish`` was called: ``{"succeeded": ..., "errors": [text, ...]}``; of
the outcome: step -> the same, for those that it has called in a step's place."""

_SECONDS_IN_PLACE = 60.0
"""How long the outcome lets the callbacks of one dead step run: the hooks wait for it."""

_HAS_RUN = frozenset({NodeStatus.COMPLETED, NodeStatus.FAILED, NodeStatus.KILLED})


def finish_step(context: Context, *, succeeded: bool) -> None:
    """Call the running step's ``on_finish``, the operator's own and the file's, and store that.

    Stored last, so that a process killed on the way leaves the call to the outcome.
    """
    operator = context["task"]
    calls = dict(_calls(context, operator, succeeded=succeeded))
    if calls:
        errors = _call(calls, context["ti"].dag_id)
        context["ti"].xcom_push(key=FINISHED, value={"succeeded": succeeded, "errors": errors})


def finish_dead_steps(context: Context, reader: RunReader, state: WorkflowState) -> None:
    """Call ``on_finish`` for the main steps that could not: killed, lost or marked by a user.

    Also for those that were told otherwise before that happened to them.
    """
    done: dict[str, Any] = {}
    for operator in context["dag"].tasks:
        node = state.nodes.get(operator.task_id)
        if node is None or node.status not in _HAS_RUN:
            continue
        succeeded = node.status is NodeStatus.COMPLETED
        calls = dict(_calls(context, operator, succeeded=succeeded))
        if calls and not _was_told(reader, operator.task_id, succeeded=succeeded):
            log.info("calling on_finish in place of step %s", operator.task_id)
            errors = _call_in_time(calls, context["ti"].dag_id)
            done[operator.task_id] = {"succeeded": succeeded, "errors": errors}
            context["ti"].xcom_push(key=FINISHED, value=done)


def _was_told(reader: RunReader, task_id: str, *, succeeded: bool) -> bool:
    """Whether a step's own process has called its callbacks, and with what is true now."""
    told = reader.xcom(task_id, FINISHED)
    return told is not None and told["succeeded"] is succeeded


def _calls(
    context: Context,
    operator: Any,  # noqa: ANN401  # an operator of whatever class
    *,
    succeeded: bool,
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Return the calls that a step's end makes, by what names them."""
    step: Mapping[str, Any] | None = getattr(operator, "mantle_step", None)
    if step is None:
        return
    name = step["name"]
    if overrides(type(operator), "on_finish"):
        what = f"on_finish of the operator of step {name}"
        yield what, partial(operator.on_finish, succeeded=succeeded)
    if path := step.get("on_finish"):
        ours = WorkflowContext(context, name)
        what = f"callbacks.on_finish of step {name}"
        yield what, partial(call_path, path, succeeded=succeeded, context=ours)


def _call(calls: Mapping[str, Callable[[], Any]], workflow: str) -> list[str]:
    told = {what: contained(call, what, workflow=workflow) for what, call in calls.items()}
    return [f"{what}: {error}" for what, error in told.items() if error]


def _call_in_time(calls: Mapping[str, Callable[[], Any]], workflow: str) -> list[str]:
    def limited(call: Callable[[], Any]) -> None:
        with (
            interruptible() as interrupter,
            interrupted_after(interrupter, _SECONDS_IN_PLACE, "it took too long"),
        ):
            call()

    return _call({what: partial(limited, call) for what, call in calls.items()}, workflow)
