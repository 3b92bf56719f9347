"""``WorkflowContext.properties``: notes on a run that its tasks leave for each other.

Each task stores what it writes as an XCom of its own, at once, so that a kill loses nothing. To
read is to put together what all tasks that have ended have left; of two notes of one name the
later counts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mantle_provider.actions.airflow import AIRFLOW_OPERATOR
from mantle_provider.actions.python import PYTHON_CALL
from mantle_provider.errors import WorkflowError
from mantle_provider.lifecycle import CALLBACK, OUTCOME, Phase
from mantle_provider.operators.output import json_value

if TYPE_CHECKING:
    from airflow.sdk import DAG
    from airflow.sdk.types import RuntimeTaskInstanceProtocol

    from mantle_provider.operators.run_reader import RunReader

NOTES = "mantle_properties"
"""XCom of a task: what it has noted, name -> ``{"value": ..., "at": seconds since the epoch}``; a
note without ``value`` takes one away."""

MAX_NOTES_BYTES = 256 * 1024
"""Largest compact JSON of all notes of a run in UTF-8."""

_WRITERS = frozenset({PYTHON_CALL.name, AIRFLOW_OPERATOR.name})
"""Actions whose code is the user's, and may write notes."""

_ENDED = frozenset({"success", "failed", "skipped"})


def writers(dag: DAG) -> list[str]:
    """Return the ids of all tasks that can leave notes; each one asked costs a call."""
    found = []
    for other in dag.tasks:
        step = getattr(other, "mantle_step", None)
        is_callback = other.task_id in {OUTCOME, CALLBACK}
        if is_callback or (step and (step["action"] in _WRITERS or "on_finish" in step)):
            found.append(other.task_id)
    return found


def read_notes(dag: DAG, reader: RunReader, *, besides: str = "") -> dict[str, Any]:
    """Return the stored notes of all tasks that have ended, see :data:`NOTES`.

    :param besides: a task that is left out.
    """
    notes: list[tuple[str, dict[str, Any]]] = []
    for task_id in writers(dag):
        if task_id != besides and reader.state(task_id) in _ENDED:
            notes += (reader.xcom(task_id, NOTES) or {}).items()
    return _latest(notes)


def _latest(notes: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Return the notes by name in the order of time; of two of one name the later."""
    return dict(sorted(notes, key=lambda note: note[1]["at"]))


def values_of(notes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the notes' values by name, without those that were taken away."""
    return {name: note["value"] for name, note in notes.items() if "value" in note}


class StoredNotes(Mapping[str, Any]):
    """The values of a run's notes, read when first looked at and then kept.

    Most code that asks how a run stands does not look at them, and to read them costs a call for
    each task that can have left some.
    """

    def __init__(self, dag: DAG, reader: RunReader) -> None:
        self._dag = dag
        self._reader = reader

    @cached_property
    def _values(self) -> dict[str, Any]:
        return values_of(read_notes(self._dag, self._reader))

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  # any JSON value
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class Properties(MutableMapping[str, Any]):
    """A run's notes as one task sees and writes them.

    A value is any JSON value; to change one, assign it anew. Values are read once.

    :param dag: the Dag of the task that runs.
    """

    def __init__(self, ti: RuntimeTaskInstanceProtocol, dag: DAG, reader: RunReader) -> None:
        self._ti = ti
        self._dag = dag
        self._reader = reader
        self._notes: dict[str, Any] | None = None
        self._own: dict[str, Any] = {}

    @property
    def _all(self) -> dict[str, Any]:
        if self._notes is None:
            # A try that comes back from a wait has notes already.
            self._own = self._reader.xcom(self._ti.task_id, NOTES) or {}
            others = read_notes(self._dag, self._reader, besides=self._ti.task_id)
            self._notes = _latest([*others.items(), *self._own.items()])
        return self._notes

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  # any JSON value
        return values_of(self._all)[name]

    def __setitem__(self, name: str, value: Any) -> None:  # noqa: ANN401  # any JSON value
        checked = json_value({name: value}, "properties")
        self._write(name, {"value": checked[name], "at": time.time()})

    def __delitem__(self, name: str) -> None:
        if name not in values_of(self._all):
            raise KeyError(name)
        self._write(name, {"at": time.time()})

    def __iter__(self) -> Iterator[str]:
        return iter(values_of(self._all))

    def __len__(self) -> int:
        return len(values_of(self._all))

    def _write(self, name: str, note: dict[str, Any]) -> None:
        notes = {**self._all, name: note}
        size = len(json.dumps(values_of(notes), ensure_ascii=False, separators=(",", ":")).encode())
        if size > MAX_NOTES_BYTES:
            raise WorkflowError(
                f"properties are {size} bytes of JSON with this one; at most {MAX_NOTES_BYTES} are "
                "allowed over all steps: keep the data in a file or a store and note its name",
                phase=Phase.EXECUTION.value,
                field=f"properties.{name}",
            )
        self._own = {**self._own, name: note}
        self._ti.xcom_push(key=NOTES, value=self._own)
        self._notes = notes
