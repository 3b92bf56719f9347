"""The wait for a run of another Dag."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypedDict

from airflow.sdk import DagRunState
from airflow.sdk.exceptions import AirflowRuntimeError
from airflow.triggers.base import BaseTrigger, TriggerEvent
from asgiref.sync import sync_to_async

from mantle_provider.triggers.polling import first_answer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

POLL_SECONDS = 5.0
"""As often as Airflow's own ``DagStateTrigger`` asks."""

_END_STATES = frozenset({DagRunState.SUCCESS.value, DagRunState.FAILED.value})


class ChildRunEnded(TypedDict):
    """The event that a run has ended.

    ``state`` is ``success`` or ``failed``, or ``None`` when the run was deleted.
    """

    dag_id: str
    run_id: str
    state: str | None


class ChildRunTrigger(BaseTrigger):
    """Waits until a run of another Dag has ended, then yields :class:`ChildRunEnded`.

    It knows nothing but its arguments, so that a restarted triggerer goes on with the wait.

    :param dag_id: the other Dag.
    :param run_id: its run.
    :param poll_seconds: pause between two questions.
    """

    def __init__(self, *, dag_id: str, run_id: str, poll_seconds: float = POLL_SECONDS) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.dag_id = dag_id
        self.run_id = run_id
        self.poll_seconds = poll_seconds

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return how to make this trigger again."""
        return (
            f"{type(self).__module__}.{type(self).__qualname__}",
            {"dag_id": self.dag_id, "run_id": self.run_id, "poll_seconds": self.poll_seconds},
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Ask for the run's state until it is final.

        :raises AirflowRuntimeError: when the state could not be had ten times in a row.
        """

        def complain(error: AirflowRuntimeError) -> None:
            self.log.warning("Could not read the state of run %s: %s", self.run_id, error)

        event = await first_answer(self._event, pause_seconds=self.poll_seconds, complain=complain)
        yield TriggerEvent(event)  # type: ignore[no-untyped-call]

    async def _event(self) -> ChildRunEnded | None:
        state = await self._state()
        if state is not None and state not in _END_STATES:
            return None
        return {"dag_id": self.dag_id, "run_id": self.run_id, "state": state}

    async def _state(self) -> str | None:
        """Return the run's state, ``None`` when there is no such run."""
        # Imported here: outside of the triggerer nobody needs it.
        from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance  # noqa: PLC0415

        ask = sync_to_async(RuntimeTaskInstance.get_dagrun_state)
        try:
            state = await ask(dag_id=self.dag_id, run_id=self.run_id)
        except AirflowRuntimeError as error:
            if (error.error.detail or {}).get("status_code") == HTTPStatus.NOT_FOUND:
                return None
            raise
        return DagRunState(state).value
