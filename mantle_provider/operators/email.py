"""Actions on mail."""

from __future__ import annotations

from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import TYPE_CHECKING, Any, cast

from mantle_provider.errors import ActionError
from mantle_provider.operators.base import StepOperator
from mantle_provider.operators.extras import missing_extra

if TYPE_CHECKING:
    import smtplib
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context


class EmailSendOperator(StepOperator):
    """``email/send``: send one message through the server that the credential names."""

    def act(self, context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002  # nothing of the run is needed
        """Return ``{"sent": true, "to": ..., "subject": ...}``."""
        try:
            from airflow.providers.smtp.hooks.smtp import SmtpHook  # noqa: PLC0415  # an extra
        except ImportError as error:
            raise missing_extra("email/send", "smtp") from error
        message = build_message(parameters)
        with SmtpHook(smtp_conn_id=self.mantle_step["credential"]) as hook:
            # The hook's own sending knows HTML alone, so its open client sends our message.
            client = cast("smtplib.SMTP", hook._smtp_client)  # noqa: SLF001
            client.send_message(message)
        return {"sent": True, "to": message["To"], "subject": message["Subject"]}


def build_message(parameters: Mapping[str, Any]) -> EmailMessage:
    """Return the message that the parameters of ``email/send`` describe.

    :raises ActionError: for an address or a subject that no header can hold.
    """
    recipients = _recipients(parameters["to"])
    message = EmailMessage()
    try:
        message["From"] = parameters["from"]
        message["To"] = ", ".join(recipients)
        message["Subject"] = parameters["subject"]
    except ValueError as error:
        raise _refused(f"a header is not valid: {error}") from error
    message["Date"] = formatdate(localtime=True)
    message["Message-ID"] = make_msgid()
    subtype = "html" if parameters.get("html") else "plain"
    message.set_content(parameters["body"], subtype=subtype)
    return message


def _recipients(to: str | list[Any]) -> list[str]:
    recipients = [to] if isinstance(to, str) else to
    if not recipients:
        raise _refused("to is required")
    for index, recipient in enumerate(recipients):
        if not isinstance(recipient, str) or not recipient.strip():
            raise _refused(f"to[{index}] must be a non-empty string")
    return recipients


def _refused(message: str) -> ActionError:
    return ActionError(f"email/send: {message}", action="email/send", retryable=False)
