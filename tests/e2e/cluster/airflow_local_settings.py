"""Policies of the suite's cluster, which Airflow imports in each of its processes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator
    from airflow.sdk.definitions.context import Context

RAISED_RETRIES = {"killed-raised-retries": 3}
SLOW_TRIES_OF_OUTCOME = {"killed-outcome": 1, "outcome-lost": 99, "lost-outcome": 1}
"""Workflow -> how many tries of its outcome take long enough to be killed."""
LONG_SECONDS = 300


def task_policy(task: BaseOperator) -> None:
    """Raise the retries of one workflow, and slow the outcome of others down."""
    if task.dag_id in RAISED_RETRIES:
        task.retries = RAISED_RETRIES[task.dag_id]
    if task.task_id == "workflow_outcome" and task.dag_id in SLOW_TRIES_OF_OUTCOME:
        task._pre_execute_hook = nap


def nap(context: Context) -> None:
    """Take long."""
    if context["ti"].try_number <= SLOW_TRIES_OF_OUTCOME[context["dag"].dag_id]:
        time.sleep(LONG_SECONDS)
