"""Actions on other workflows."""

from __future__ import annotations

from mantle_provider.actions.spec import ActionSpec, ParamSpec

WORKFLOW_RUN = ActionSpec(
    name="workflow/run",
    summary="Run another workflow and wait for its end",
    operator="mantle_provider.operators.workflow.WorkflowRunOperator",
    params=(
        ParamSpec(
            "workflow", ("string",), "name of the workflow, or id of another Dag", required=True
        ),
        ParamSpec("inputs", ("map",), "its inputs; those left out take their defaults"),
        ParamSpec("wait", ("boolean",), "whether to wait for its end", default=True),
        ParamSpec(
            "version",
            ("string",),
            "the version of the workflow that is meant; its steps fail if it has another",
        ),
    ),
    output=(
        ("run_id", "the id of its run"),
        (
            "status",
            "`completed`; `failed` or `timed_out` when the step failed because of it; "
            "`started` when the step does not wait",
        ),
        (
            "steps",
            "step name to `{output, error}`, with `error` for failed steps only; absent when the "
            "step does not wait",
        ),
        (
            "result",
            "the workflow's result; absent when it has none, or the step that gives it did not "
            "complete",
        ),
    ),
    can_wait=True,
)

ACTIONS = (WORKFLOW_RUN,)
