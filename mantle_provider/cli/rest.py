"""JSON over HTTP to one Airflow: every failure is a sentence, and none holds the token."""

from __future__ import annotations

import json
from contextlib import suppress
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Literal
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from mantle_provider.cli.errors import RestError
from mantle_provider.cli.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TIMEOUT_SECONDS = 60
"""For connecting and for each wait for data; to cancel a run of many tasks takes a while."""

MAX_ANSWER_BYTES = 64 * 1024 * 1024
MAX_DETAIL_BYTES = 64 * 1024

UNAUTHORISED = 401
FORBIDDEN = 403
NOT_FOUND = 404
REDIRECTS = range(300, 400)
SERVER_ERRORS = range(500, 600)


class _RefuseRedirects(HTTPRedirectHandler):
    """Follows no redirect, since urllib sends the token along to whatever host it leads to."""

    def http_error_302(self, *_: object, **__: object) -> None:
        """Give no answer, so that the redirect ends as an ``HTTPError``."""

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class RestClient:
    """Sends requests to one Airflow.

    :param url: where its API server is, without a slash at the end.
    :param token: sent with every request, if there is one.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self.url = url
        self.token = token
        self._opener = build_opener(_RefuseRedirects())

    def get(self, *segments: str, **query: str | int | bool) -> dict[str, Any]:
        """Return what stands at a path; see :meth:`send`."""
        return self._call("GET", segments, query=query)

    def send(
        self, method: Literal["PATCH", "POST"], *segments: str, body: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Send JSON to a path and return the answer.

        :param segments: the parts of the path; each may hold any character.
        :raises RestError: there is no answer, or one that is not as it should be.
        """
        return self._call(method, segments, body=body)

    def _call(
        self,
        method: str,
        segments: Sequence[str],
        *,
        query: Mapping[str, str | int | bool] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        path = "/" + "/".join(quote(segment, safe="") for segment in segments)
        request = Request(  # noqa: S310  # connection.py lets only http and https pass
            self.url + path + (f"?{urlencode(query)}" if query else ""),
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Accept": "application/json", "Content-Type": "application/json"},
        )
        if self.token is not None:
            request.add_header("Authorization", f"Bearer {self.token}")
        return self._parse(self._read(request, f"{method} {path}"), f"{method} {path}")

    def _read(self, request: Request, what: str) -> bytes:
        try:
            with self._opener.open(request, timeout=TIMEOUT_SECONDS) as response:
                answer: bytes = response.read(MAX_ANSWER_BYTES + 1)
        except HTTPError as error:
            with error:
                raise self._refusal(error, what) from error
        except (OSError, HTTPException) as error:
            raise RestError(f"no answer from Airflow at {self.url}: {_reason(error)}") from error
        if len(answer) > MAX_ANSWER_BYTES:
            raise RestError(f"the answer to {what} is larger than {MAX_ANSWER_BYTES >> 20} MiB")
        return answer

    def _parse(self, answer: bytes, what: str) -> dict[str, Any]:
        try:
            data = json.loads(answer)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            raise RestError(
                f"what answers {what} at {self.url} is not Airflow's API; is the address right?"
            )
        return data

    def _refusal(self, error: HTTPError, what: str) -> RestError:
        """Return what an HTTP status of 300 and more means."""
        status = error.code
        detail = self._detail(error)
        if status in REDIRECTS:
            place = _host(error.headers.get("Location", "")) or "another path"
            message = f"{self.url} redirects to {place}; give Airflow's own address"
        elif status == UNAUTHORISED or (status == FORBIDDEN and "token" in detail.lower()):
            message = f"Airflow at {self.url} does not accept the token; it may have expired"
        elif status == FORBIDDEN:
            message = f"Airflow at {self.url} does not allow this user {what}"
        else:
            message = f"Airflow at {self.url} answered {what} with {status}"
            message += f": {detail}" if detail else ""
        return RestError(message, status)

    def _detail(self, error: HTTPError) -> str:
        """Return Airflow's own words, empty where it has none or lists what it was sent."""
        detail = None
        with suppress(AttributeError, OSError, HTTPException, ValueError, RecursionError):
            detail = json.loads(error.read(MAX_DETAIL_BYTES)).get("detail")
        if not isinstance(detail, str):
            return ""
        return one_line(detail.replace(self.token, "***") if self.token else detail)


def _host(url: str) -> str:
    """Return where a URL leads, without its path and query, which may hold a secret."""
    try:
        target = urlsplit(url)
        return urlunsplit((target.scheme, target.hostname or "", "", "", ""))
    except ValueError:
        return ""


def _reason(error: Exception) -> str:
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, TimeoutError):
        return f"waited {TIMEOUT_SECONDS} seconds"
    if isinstance(cause, OSError) and cause.strerror:
        return one_line(cause.strerror)
    return one_line(str(cause))
