"""Actions over HTTP."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import requests

from mantle_provider.errors import ActionError
from mantle_provider.expressions import text_form
from mantle_provider.hooks.http import RequestHook
from mantle_provider.operators.base import StepOperator
from mantle_provider.operators.parameters import to_timedelta

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context

_ACTION = "http/request"
_DEFAULT_TIMEOUT = "30s"
_FIRST_ERROR_STATUS = 400


class HttpRequestOperator(StepOperator):
    """``http/request``: send one request and read the answer."""

    def act(self, context: Context, parameters: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002  # nothing of the run is needed
        """Return ``{"status": ..., "headers": ..., "body": ..., "json": ...}``.

        :raises ActionError: for a status of 400 and above, with the answer as output, and for a
            request that got no answer.
        """
        method = (parameters.get("method") or "GET").upper()
        url = parameters["url"]
        hook = RequestHook(method, self.mantle_step["credential"])
        timeout = to_timedelta(parameters.get("timeout") or _DEFAULT_TIMEOUT)
        try:
            response = hook.send(
                url,
                headers={
                    name: text_form(value)
                    for name, value in (parameters.get("headers") or {}).items()
                },
                body=_body(parameters),
                timeout_seconds=timeout.total_seconds(),
            )
        except requests.RequestException as error:
            raise ActionError(
                f"{_ACTION}: {method} {url}: {_reason(error, timeout.total_seconds())}",
                action=_ACTION,
            ) from error
        output = _output(response)
        if response.status_code >= _FIRST_ERROR_STATUS:
            raise ActionError(
                f"{_ACTION}: {method} {url} returned {response.status_code}",
                action=_ACTION,
                result=output,
            )
        return output


def _body(parameters: Mapping[str, Any]) -> str | None:
    """Return the body as JSON; what JSON does not have, a time for example, as its text."""
    if "body" not in parameters:
        return None
    try:
        return json.dumps(parameters["body"], default=text_form, allow_nan=False)
    except ValueError as error:
        raise ActionError(
            f"{_ACTION}: the body holds an infinity or NaN, which JSON does not have",
            action=_ACTION,
            retryable=False,
        ) from error


def _output(response: requests.Response) -> dict[str, Any]:
    body = response.text
    output: dict[str, Any] = {
        "status": response.status_code,
        "headers": _headers(response),
        "body": body.replace("\0", "\ufffd"),
    }
    with suppress(ValueError, RecursionError):
        output["json"] = json.loads(
            body, parse_constant=_refuse_constant, parse_int=_integer, parse_float=_decimal
        )
    return output


def _integer(digits: str) -> int | str:
    """Keep a number that no 64-bit integer holds as its digits, as Mantle does."""
    number = int(digits)
    return number if -(2**63) <= number < 2**63 else digits


def _decimal(digits: str) -> float | str:
    """Keep a number that no double holds as its digits, as Mantle does."""
    number = float(digits)
    return number if math.isfinite(number) else digits


def _headers(response: requests.Response) -> dict[str, Any]:
    """Return header name in lower case -> value; a repeated header becomes a list.

    ``requests`` joins repeated headers, which is wrong for ``Set-Cookie`` (RFC 9110, 5.3).
    """
    raw = response.raw.headers
    headers: dict[str, Any] = {}
    for name in raw:
        values = raw.getlist(name)
        headers[name.lower()] = values[0] if len(values) == 1 else values
    return headers


def _refuse_constant(name: str) -> None:
    """Refuse NaN and the infinities, which Python reads but JSON does not have."""
    raise ValueError(name)


def _reason(error: requests.RequestException, timeout_seconds: float) -> str:
    if isinstance(error, requests.Timeout):
        return f"no answer within {timeout_seconds:g} s"
    return str(error)
