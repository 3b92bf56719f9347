"""Which version of its workflow a run has started under, and what to do when another runs now.

Where the Dag bundle has versions Airflow gives a run the same code from its first step to its last.
Elsewhere a file that is deployed during a run changes the steps that have not started yet.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mantle_provider import settings
from mantle_provider.errors import WorkflowError
from mantle_provider.lifecycle import Phase
from mantle_provider.operators.run_reader import STARTED_AT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.types import RuntimeTaskInstanceProtocol

    from mantle_provider.lifecycle import WorkflowState
    from mantle_provider.operators.entry import Entry
    from mantle_provider.operators.run_reader import RunReader


def record_start(
    ti: RuntimeTaskInstanceProtocol, workflow: Mapping[str, Any], entry: Entry
) -> None:
    """Note when this try has started, and under which version.

    A try that comes back from a wait keeps the version that it began with. Its time is that of
    its process, since Airflow counts the duration from there.
    """
    if not workflow["has_outcome"] and not _is_refused():
        return
    at = ti.start_date.timestamp()
    ti.xcom_push(key=STARTED_AT, value={"at": at, "version": entry.version})


def check_version(
    reader: RunReader, step: Mapping[str, Any], workflow: Mapping[str, Any], entry: Entry
) -> None:
    """Refuse a main step under another version than the run's first, if the platform says so.

    Hooks run nevertheless, to tell of it.

    :raises WorkflowError: under ``[mantle] on_version_change = fail``.
    """
    if step["block"] != "steps" or entry.is_resumed or not _is_refused():
        return
    change = version_change(started_version(reader, but=step["name"]), workflow["version"])
    if change:
        raise WorkflowError(
            f"{change}, which [mantle] on_version_change refuses; start a new run",
            phase=Phase.INPUT_RESOLUTION.value,
            type="VersionChanged",
            retryable=False,
        )


def with_versions(
    state: WorkflowState, reader: RunReader, workflow: Mapping[str, Any]
) -> WorkflowState:
    """Return the state with the version that has judged it and the one that the run began with.

    A completed workflow has failed when they differ and the platform refuses that.
    """
    state = replace(
        state,
        version=workflow["version"],
        started_version=started_version(reader),
        result_step=workflow["result"],
    )
    change = version_change(state.started_version, workflow["version"])
    if change and state.is_succeeded and _is_refused():
        return replace(state, status="failed", error=change)
    return state


def version_change(started: str | None, current: str) -> str | None:
    """Return in words that a run goes on under another version, ``None`` if it does not."""
    if started is None or started == current:
        return None
    return f'the run started under version "{started}" of the workflow, this is version "{current}"'


def started_version(reader: RunReader, *, but: str | None = None) -> str | None:
    """Return the version that the run's first step started under, ``None`` where none says so.

    :param but: a step that does not count.
    """
    for name, above in reader.graph.upstream.items():
        # A step that has no state yet has left nothing; asking would cost a call.
        if above or name == but or reader.state(name) is None:
            continue
        start = reader.start(name)
        if start is not None and start.version is not None:
            return start.version
    return None


def _is_refused() -> bool:
    return settings.on_version_change() == "fail"
