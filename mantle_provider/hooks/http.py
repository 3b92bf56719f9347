"""One HTTP request over the official provider's hook, with or without a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow.providers.http.hooks.http import HttpHook
from airflow.sdk import Connection

from mantle_provider.errors import ActionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import requests

_ACTION = "http/request"
_DEFAULT_PORTS = {"http": 80, "https": 443}


class RequestHook(HttpHook):
    """An :class:`HttpHook` that needs no connection for an absolute URL.

    With a connection, its login and password are Basic authentication, a password alone is a
    bearer token, and its extra fields are headers and options as for any ``HttpHook``. Its
    secrets go to its own host alone.

    :param credential: connection id, ``None`` for a request without one.
    """

    def __init__(self, method: str, credential: str | None) -> None:
        super().__init__(method=method, http_conn_id=credential or "")

    def get_connection(self, conn_id: str) -> Connection:  # type: ignore[override]  # a classmethod upstream
        """Return the connection, an empty one where the step names none."""
        if not conn_id:
            return Connection(conn_id="none", conn_type="http")
        return super().get_connection(conn_id)

    def url_from_endpoint(self, endpoint: str | None) -> str:
        """Return an absolute URL as it is, and a path below the connection's host."""
        if endpoint and urlsplit(endpoint).scheme:
            return endpoint
        return super().url_from_endpoint(endpoint)

    def send(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        body: str | None,
        timeout_seconds: float,
    ) -> requests.Response:
        """Send one request and return the answer, whatever its status.

        :param url: absolute, or a path below the connection's host.
        :param body: JSON text, ``None`` for a request without a body.
        :raises ActionError: for a URL that cannot be, or must not be, sent to.
        :raises requests.RequestException: when there is no answer.
        """
        connection = self.get_connection(self.http_conn_id)
        self._check_url(url, connection)
        sent = dict(headers)
        names = {name.lower() for name in sent}
        if body is not None and "content-type" not in names:
            sent["Content-Type"] = "application/json"
        if connection.password and not connection.login and "authorization" not in names:
            sent["Authorization"] = f"Bearer {connection.password}"
        options: dict[str, Any] = {"check_response": False, "timeout": timeout_seconds}
        if body is not None:
            # The hook makes the body of "GET" a query and drops that of "HEAD"; any other
            # spelling is sent as it is, and `requests` writes it in upper case.
            self.method = self.method.lower()
        data = None if body is None else body.encode()
        return self.run(url, data=data, headers=sent, extra_options=options)  # type: ignore[no-any-return, arg-type]

    def _check_url(self, url: str, connection: Connection) -> None:
        target = urlsplit(url)
        if target.scheme and target.scheme not in _DEFAULT_PORTS:
            raise _refused(f'the URL\'s scheme is "{target.scheme}"; allowed are http and https')
        if not target.scheme and not connection.host:
            raise _refused(
                "the URL is no absolute one, and there is no credential with a host to add it to"
            )
        if (
            target.scheme
            and connection.host
            and not _is_same_host(target.netloc, target.scheme, connection)
        ):
            raise _refused(
                f'credential "{connection.conn_id}" is for another host than the URL\'s; '
                "use a path, or a credential without a host"
            )


def _is_same_host(netloc: str, scheme: str, connection: Connection) -> bool:
    """Whether a URL leads to the connection's host, and to its port where it names one."""
    host = connection.host or ""
    own = urlsplit(host if "://" in host else f"//{host}")
    own_port = connection.port or own.port
    target = urlsplit(f"//{netloc}")
    target_port = target.port or _DEFAULT_PORTS[scheme]
    return target.hostname == own.hostname and own_port in {None, target_port}


def _refused(message: str) -> ActionError:
    return ActionError(f"{_ACTION}: {message}", action=_ACTION, retryable=False)
