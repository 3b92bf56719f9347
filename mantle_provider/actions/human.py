"""Actions that people carry out."""

from __future__ import annotations

from mantle_provider.actions.spec import ActionSpec, ParamSpec

HUMAN_APPROVE = ActionSpec(
    name="human/approve",
    summary="Ask a person in the Airflow UI, and wait for the answer",
    operator="mantle_provider.operators.human.HumanApproveOperator",
    params=(
        ParamSpec("subject", ("string",), "the question in one line", required=True),
        ParamSpec("body", ("string",), "what is needed to decide, in Markdown"),
        ParamSpec(
            "options",
            ("list",),
            "what may be chosen; the first one approves",
            default=["Approve", "Reject"],
        ),
        ParamSpec("multiple", ("boolean",), "whether several may be chosen", default=False),
        ParamSpec(
            "form",
            ("map",),
            "what is asked for besides: name to default value, or to a JSON Schema with `default`",
        ),
        ParamSpec("assigned_users", ("list",), "ids of the users who may answer; all when absent"),
        ParamSpec("timeout", ("duration",), "how long to wait for the answer"),
        ParamSpec(
            "default",
            ("string", "list"),
            "what counts as chosen when `timeout` is over; without it the step fails then",
        ),
        ParamSpec(
            "fail_on_reject", ("boolean",), "whether the step fails unless approved", default=False
        ),
    ),
    output=(
        ("approved", "whether the first of `options` was chosen"),
        ("chosen", "the chosen options"),
        ("form", "field to value; `{}` without `form`"),
        ("by", "who answered, `{id, name}`; null when the default was taken"),
        ("at", "when, in RFC 3339"),
    ),
    can_wait=True,
)

ACTIONS = (HUMAN_APPROVE,)
