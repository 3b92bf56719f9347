"""A parameter is an argument that Airflow gives every operator, and that the step decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.actions import ACTIONS
from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject

_NOT_OFFERED = "it is not offered"
_CALLBACK = 'use the step\'s "callbacks"'
_TRIGGER_RULE = 'use "if", "depends_on" or "continue_on_error" of the step'
_START_DATE = 'use "airflow.start_date" of the workflow'

STEP_KEYS = {
    "allow_nested_operators": _NOT_OFFERED,
    "dag": _NOT_OFFERED,
    "default_args": _NOT_OFFERED,
    "depends_on_past": _NOT_OFFERED,
    "do_xcom_push": _NOT_OFFERED,
    "doc": 'use "airflow.doc" of the workflow',
    "doc_json": 'use "airflow.doc" of the workflow',
    "doc_md": 'use "airflow.doc" of the workflow',
    "doc_rst": 'use "airflow.doc" of the workflow',
    "doc_yaml": 'use "airflow.doc" of the workflow',
    "email_on_failure": 'use a step under "hooks.on_failure"',
    "email_on_retry": _NOT_OFFERED,
    "end_date": _NOT_OFFERED,
    "execution_timeout": 'use "timeout" of the step',
    "executor": 'use "airflow.executor" of the step',
    "executor_config": 'use "airflow.executor_config" of the step',
    "ignore_first_depends_on_past": _NOT_OFFERED,
    "inlets": _NOT_OFFERED,
    "map_index_template": _NOT_OFFERED,
    "max_active_tis_per_dag": 'use "max_parallel" of the step',
    "max_active_tis_per_dagrun": 'use "max_parallel" of the step',
    "max_retry_delay": 'use "retry.max_delay" of the step',
    "on_execute_callback": _CALLBACK,
    "on_failure_callback": _CALLBACK,
    "on_retry_callback": _CALLBACK,
    "on_skipped_callback": _CALLBACK,
    "on_success_callback": _CALLBACK,
    "outlets": _NOT_OFFERED,
    "owner": 'use "airflow.owner" of the workflow',
    "params": 'use "inputs" of the workflow',
    "pool": 'use "airflow.pool" of the step',
    "pool_slots": _NOT_OFFERED,
    "priority_weight": 'use "airflow.priority_weight" of the step',
    "queue": 'use "airflow.queue" of the step',
    "resources": _NOT_OFFERED,
    "retries": 'use "retry.max_attempts" of the step, which counts the first attempt too',
    "retry_delay": 'use "retry.delay" of the step',
    "retry_exponential_backoff": 'use "retry.backoff" of the step',
    "retry_policy": 'use "on_error" of the step',
    "run_as_user": _NOT_OFFERED,
    "start_date": _START_DATE,
    "task_display_name": _NOT_OFFERED,
    "task_group": _NOT_OFFERED,
    "task_id": 'use "name" of the step',
    "trigger_rule": _TRIGGER_RULE,
    "wait_for_downstream": _NOT_OFFERED,
    "wait_for_past_depends_before_skipping": _NOT_OFFERED,
    "weight_rule": _NOT_OFFERED,
}
"""Arguments of Airflow 3.3's BaseOperator -> what to use instead."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Find such arguments among the parameters of any action that has none of that name."""
    for placed, step in subject.decoded:
        spec = ACTIONS.get(step.action or "")
        if spec is None:
            continue
        own = {param.name for param in spec.params}
        for name in step.params:
            if name in STEP_KEYS and name not in own:
                message = (
                    f"{quote(name)} is an argument of every Airflow operator, and no parameter;"
                    f" {STEP_KEYS[name]}"
                )
                yield Diagnostic(
                    "operator-argument", message, (*placed.path, "params", name), part="key"
                )
