"""Actions over HTTP."""

from __future__ import annotations

from mantle_provider.actions.spec import ActionSpec, ParamSpec

HTTP_REQUEST = ActionSpec(
    name="http/request",
    summary="Send one HTTP request and read the answer",
    operator="mantle_provider.operators.http.HttpRequestOperator",
    params=(
        ParamSpec(
            "url",
            ("string",),
            "absolute URL, or a path below the connection's host",
            required=True,
        ),
        ParamSpec("method", ("string",), "HTTP method, in any case", default="GET"),
        ParamSpec("headers", ("map",), "header name to value; overrides the connection's"),
        ParamSpec("body", ("any",), "sent as JSON, a string quoted"),
        ParamSpec(
            "timeout",
            ("duration",),
            "how long to wait for the server before giving up",
            default="30s",
        ),
    ),
    output=(
        ("status", "HTTP status as an integer"),
        ("headers", "header name in lower case to value; a repeated header to a list"),
        ("body", "the answer as text"),
        ("json", "the answer parsed, absent when it is not JSON"),
    ),
    credential="optional",
    connection_type="http",
)

ACTIONS = (HTTP_REQUEST,)
