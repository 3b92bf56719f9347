"""Actions that are Airflow's own."""

from __future__ import annotations

from mantle_provider.actions.spec import ActionSpec, ParamSpec

AIRFLOW_OPERATOR = ActionSpec(
    name="airflow/operator",
    summary="Run any Airflow operator as a step",
    operator="mantle_provider.operators.airflow.step_class",
    params=(
        ParamSpec(
            "operator",
            ("string",),
            "dotted path of the operator's class",
            required=True,
            allows_expressions=False,
        ),
    ),
    credential="none",
    has_free_params=True,
    can_wait=True,
    wraps_result=True,
)

ACTIONS = (AIRFLOW_OPERATOR,)
