"""The result of a workflow's run, for code that runs in Airflow."""

from __future__ import annotations

from typing import Any

from airflow.sdk import get_current_context

from mantle_provider.operators.child_run import child_reader


def workflow_result(dag_id: str, run_id: str) -> Any:  # noqa: ANN401  # any JSON value
    """Return the output of the step that a workflow names as its ``result``.

    To be called in a task of any Dag, once the main steps of the run have ended. A callback of
    the workflow itself has the same in ``state.result``.

    :param dag_id: the workflow's name.
    :raises ResultNotCompletedError: when that step did not complete, the workflow names none, or
        there is no verdict on the run yet.
    :raises RuntimeError: outside of a task.
    """
    return child_reader(get_current_context()["ti"], dag_id, run_id).result()
