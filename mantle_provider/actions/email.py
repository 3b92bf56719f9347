"""Actions on mail."""

from __future__ import annotations

from mantle_provider.actions.spec import ActionSpec, ParamSpec

EMAIL_SEND = ActionSpec(
    name="email/send",
    summary="Send one message through an SMTP server",
    operator="mantle_provider.operators.email.EmailSendOperator",
    params=(
        ParamSpec("to", ("string", "list"), "one address or a list of them", required=True),
        ParamSpec("from", ("string",), "the sender's address", required=True),
        ParamSpec("subject", ("string",), "the subject line", required=True),
        ParamSpec("body", ("string",), "the text of the message", required=True),
        ParamSpec("html", ("boolean",), "whether the body is HTML", default=False),
    ),
    output=(
        ("sent", "true"),
        ("to", "the addresses, joined by comma and blank"),
        ("subject", "the subject line"),
    ),
    credential="required",
    connection_type="smtp",
    extra="smtp",
)

ACTIONS = (EMAIL_SEND,)
