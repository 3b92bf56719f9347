"""Actions on Slack."""

from __future__ import annotations

from mantle_provider.actions.spec import ActionSpec, ParamSpec

SLACK_SEND = ActionSpec(
    name="slack/send",
    summary="Post one message to a Slack channel",
    operator="mantle_provider.operators.slack.SlackSendOperator",
    params=(
        ParamSpec("channel", ("string",), "channel name or id", required=True),
        ParamSpec("text", ("string",), "the message", required=True),
    ),
    output=(
        ("ok", "true"),
        ("ts", "the message's timestamp, which is its id"),
        ("channel", "the channel's id"),
    ),
    credential="required",
    connection_type="slack",
    extra="slack",
)

ACTIONS = (SLACK_SEND,)
