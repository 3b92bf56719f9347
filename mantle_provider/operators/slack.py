"""Actions on Slack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mantle_provider.errors import ActionError
from mantle_provider.operators.base import StepOperator
from mantle_provider.operators.extras import missing_extra

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context


class SlackSendOperator(StepOperator):
    """``slack/send``: post one message to a channel."""

    def act(self, context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002  # nothing of the run is needed
        """Return ``{"ok": true, "ts": ..., "channel": ...}``.

        :raises ActionError: when Slack refuses the message.
        """
        try:
            from airflow.providers.slack.hooks.slack import SlackHook  # noqa: PLC0415  # an extra
            from slack_sdk.errors import SlackApiError  # noqa: PLC0415  # comes with it
        except ImportError as error:
            raise missing_extra("slack/send", "slack") from error
        hook = SlackHook(slack_conn_id=self.mantle_step["credential"])
        try:
            answer = hook.call(
                "chat.postMessage",
                json={"channel": parameters["channel"], "text": parameters["text"]},
            )
        except SlackApiError as error:
            raise ActionError(
                f"slack/send: Slack API error: {error.response.get('error', 'unknown')}",
                action="slack/send",
            ) from error
        return {"ok": True, "ts": answer.get("ts"), "channel": answer.get("channel")}
