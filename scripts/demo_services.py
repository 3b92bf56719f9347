"""The outside world of the example workflows: a small HTTP shop, a Slack and a mail server.

Everything listens on 127.0.0.1, on ports that the system chooses, and keeps what it received so
that a test can look at it. Standard library only; used by the demo and by the end-to-end tests.
"""

from __future__ import annotations

import base64
import json
import socketserver
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs, unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import EmailMessage
    from types import TracebackType

    from typing_extensions import Self

ADDRESS = "127.0.0.1"
USER = "demo"
PASSWORD = "demo-password-4f1c"
SLACK_TOKEN = "xoxb-demo-token-9d2e"  # it opens nothing but the server below
LONGEST_WAIT_SECONDS = 60
LONGEST_HOLD_SECONDS = 300

CUSTOMERS = [
    {"id": 1, "name": "Ada", "city": "Utrecht"},
    {"id": 2, "name": "Björn", "city": "Malmö"},
    {"id": 3, "name": "Chiara", "city": "Turin"},
]
ORDERS = [
    {"id": 101, "customer": 1, "total": 120},
    {"id": 102, "customer": 1, "total": 80},
    {"id": 103, "customer": 2, "total": 45},
]
STOCK = {"north": 14, "south": 0, "west": 7}


@dataclass(frozen=True)
class ReceivedRequest:
    """One HTTP request as it came in; ``body`` is JSON data, form fields, text or ``None``."""

    method: str
    path: str
    authorization: str | None
    body: Any


@dataclass
class Inbox:
    """What the services received, oldest first; filled from many threads."""

    requests: list[ReceivedRequest] = field(default_factory=list)
    mails: list[EmailMessage] = field(default_factory=list)
    _holds: defaultdict[str, threading.Event] = field(
        default_factory=lambda: defaultdict(threading.Event)
    )
    _seen_keys: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_first(self, key: str) -> bool:
        """Whether this is the first call with ``key``."""
        with self._lock:
            first = key not in self._seen_keys
            self._seen_keys.add(key)
            return first

    def hold(self, key: str) -> threading.Event:
        """Return what ``/hold/KEY`` and ``/until/KEY`` wait for; set it to let them go on."""
        with self._lock:
            return self._holds[key]

    def slack_messages(self) -> list[dict[str, str]]:
        """Return the messages posted so far, as ``{channel, text}``."""
        return [
            {"channel": request.body["channel"], "text": request.body["text"]}
            for request in self.requests
            if request.path == "/api/chat.postMessage"
        ]


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, inbox: Inbox) -> None:
        super().__init__((ADDRESS, 0), _HttpHandler)
        self.inbox = inbox


class _HttpHandler(BaseHTTPRequestHandler):
    """Answers by the first part of the path, whatever the method."""

    def _serve(self) -> None:
        path = unquote(urlsplit(self.path).path)
        request = ReceivedRequest(
            method=self.command,
            path=path,
            authorization=self.headers.get("Authorization"),
            body=self._read_body(),
        )
        inbox = cast("_HttpServer", self.server).inbox
        inbox.requests.append(request)
        first, *rest = path.strip("/").split("/")
        endpoint = _ENDPOINTS.get(first)
        if endpoint is None:
            self._answer(HTTPStatus.NOT_FOUND, {"error": f"nothing at {path}"})
        else:
            self._answer(*endpoint(request, rest, inbox))

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815  # the names http.server looks for

    def _read_body(self) -> Any:  # noqa: ANN401  # JSON data
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        content_type = self.headers.get_content_type()
        if not raw:
            return None
        if content_type == "application/json":
            return json.loads(raw)
        if content_type == "application/x-www-form-urlencoded":
            return {name: values[0] for name, values in parse_qs(raw.decode()).items()}
        return raw.decode(errors="replace")

    def _answer(self, status: HTTPStatus, body: Any) -> None:  # noqa: ANN401  # JSON data
        payload = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def handle(self) -> None:
        """Serve one connection; a client that gave up, as on a timeout, is no news."""
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing: the terminal belongs to the demo."""


def _customers(_: ReceivedRequest, rest: list[str], __: Inbox) -> tuple[HTTPStatus, Any]:
    """``/customers`` lists all, ``/customers/1/orders`` the orders of one."""
    if not rest:
        return HTTPStatus.OK, CUSTOMERS
    return HTTPStatus.OK, [order for order in ORDERS if str(order["customer"]) == rest[0]]


def _stock(_: ReceivedRequest, rest: list[str], __: Inbox) -> tuple[HTTPStatus, Any]:
    """``/stock/north``: what one warehouse holds."""
    region = rest[0] if rest else ""
    if region not in STOCK:
        return HTTPStatus.NOT_FOUND, {"error": f"no warehouse {region}"}
    return HTTPStatus.OK, {"region": region, "pieces": STOCK[region]}


def _echo(request: ReceivedRequest, _: list[str], __: Inbox) -> tuple[HTTPStatus, Any]:
    """``/echo``: the body that was sent."""
    return HTTPStatus.OK, {"received": request.body}


def _error(_: ReceivedRequest, rest: list[str], __: Inbox) -> tuple[HTTPStatus, Any]:
    """``/error/503`` fails with that status, ``/error`` with 500."""
    status = HTTPStatus(int(rest[0])) if rest and rest[0].isdigit() else HTTPStatus(500)
    return status, {"error": "the service is having a bad day"}


def _flaky(_: ReceivedRequest, rest: list[str], inbox: Inbox) -> tuple[HTTPStatus, Any]:
    """``/flaky/KEY`` fails on the first call with that key and works from the second on."""
    if inbox.is_first("/".join(rest)):
        return HTTPStatus.SERVICE_UNAVAILABLE, {"error": "try again"}
    return HTTPStatus.OK, {"stable": True}


def _slow(_: ReceivedRequest, rest: list[str], __: Inbox) -> tuple[HTTPStatus, Any]:
    """``/slow/3`` answers after three seconds."""
    seconds = min(float(rest[0]), LONGEST_WAIT_SECONDS)
    time.sleep(seconds)
    return HTTPStatus.OK, {"waited": seconds}


def _hold(_: ReceivedRequest, rest: list[str], inbox: Inbox) -> tuple[HTTPStatus, Any]:
    """``/hold/KEY`` answers as soon as a test lets it go."""
    inbox.hold("/".join(rest)).wait(LONGEST_HOLD_SECONDS)
    return HTTPStatus.OK, {"held": True}


def _until(_: ReceivedRequest, rest: list[str], inbox: Inbox) -> tuple[HTTPStatus, Any]:
    """``/until/KEY`` fails as soon as a test lets it go."""
    inbox.hold("/".join(rest)).wait(LONGEST_HOLD_SECONDS)
    return HTTPStatus.INTERNAL_SERVER_ERROR, {"error": "it was time"}


def _braces(_: ReceivedRequest, __: list[str], ___: Inbox) -> tuple[HTTPStatus, Any]:
    """``/braces``: an answer that looks like an expression and must stay text."""
    return HTTPStatus.OK, {"note": "{{ env.SECRET }} and {% raw %}"}


def _private(request: ReceivedRequest, _: list[str], __: Inbox) -> tuple[HTTPStatus, Any]:
    """``/private`` wants the demo user and password."""
    expected = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    if request.authorization != expected:
        return HTTPStatus.UNAUTHORIZED, {"error": "who are you?"}
    return HTTPStatus.OK, {"welcome": USER}


def _slack(request: ReceivedRequest, rest: list[str], inbox: Inbox) -> tuple[HTTPStatus, Any]:
    """``/api/chat.postMessage``, as Slack's Web API answers it."""
    if rest != ["chat.postMessage"]:
        return HTTPStatus.OK, {"ok": False, "error": "unknown_method"}
    if request.authorization != f"Bearer {SLACK_TOKEN}":
        return HTTPStatus.OK, {"ok": False, "error": "invalid_auth"}
    return HTTPStatus.OK, {
        "ok": True,
        "channel": "C0DEMO",
        "ts": f"1700000000.{len(inbox.requests):06}",
        "message": {"text": request.body["text"]},
    }


def _received(_: ReceivedRequest, __: list[str], inbox: Inbox) -> tuple[HTTPStatus, Any]:
    """``/received``: everything that arrived, for a curious reader of the demo."""
    return HTTPStatus.OK, {
        "requests": [
            {"method": request.method, "path": request.path, "body": request.body}
            for request in inbox.requests
        ],
        "mails": [
            {"to": mail["To"], "subject": mail["Subject"], "body": mail.get_content()}
            for mail in inbox.mails
        ],
    }


_ENDPOINTS: dict[str, Callable[[ReceivedRequest, list[str], Inbox], tuple[HTTPStatus, Any]]] = {
    "api": _slack,
    "braces": _braces,
    "customers": _customers,
    "echo": _echo,
    "error": _error,
    "flaky": _flaky,
    "hold": _hold,
    "private": _private,
    "received": _received,
    "slow": _slow,
    "stock": _stock,
    "until": _until,
}


class _MailServer(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, inbox: Inbox) -> None:
        super().__init__((ADDRESS, 0), _MailHandler)
        self.inbox = inbox


class _MailHandler(socketserver.StreamRequestHandler):
    """As much of SMTP (RFC 5321) as a client needs to hand over a message."""

    def handle(self) -> None:
        """Serve one connection until the client quits."""
        self._reply("220 demo mail server")
        while line := self.rfile.readline().decode().strip():
            verb = line.partition(" ")[0].upper()
            if verb == "EHLO":
                self._reply("250-demo")
                self._reply("250 AUTH PLAIN")
            elif verb == "AUTH":
                self._reply("235 welcome" if self._is_known(line) else "535 who are you?")
            elif verb == "DATA":
                self._reply("354 go on")
                self._receive_message()
                self._reply("250 accepted")
            elif verb == "QUIT":
                self._reply("221 bye")
                return
            else:
                self._reply("250 fine")

    @staticmethod
    def _is_known(line: str) -> bool:
        credentials = base64.b64decode(line.rsplit(maxsplit=1)[-1]).decode()
        return credentials.endswith(f"\0{USER}\0{PASSWORD}")

    def _receive_message(self) -> None:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            # RFC 5321 4.5.2: the client doubles a dot that begins a line.
            lines.append(line[1:] if line.startswith(b"..") else line)
        inbox = cast("_MailServer", self.server).inbox
        inbox.mails.append(message_from_bytes(b"".join(lines), policy=policy.default))

    def _reply(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


class DemoServices:
    """Both servers, running from entry to exit of the ``with`` block, each in a thread."""

    def __init__(self) -> None:
        self.inbox = Inbox()
        self._http = _HttpServer(self.inbox)
        self._mail = _MailServer(self.inbox)

    @property
    def http_url(self) -> str:
        """Where the HTTP server listens."""
        return f"http://{ADDRESS}:{self._http.server_address[1]}"

    def connections(self) -> dict[str, dict[str, Any]]:
        """Return the Airflow connections that lead here, as connection id -> JSON form."""
        http_port = self._http.server_address[1]
        return {
            "demo_api": {
                "conn_type": "http",
                "host": ADDRESS,
                "port": http_port,
                "schema": "http",
                "login": USER,
                "password": PASSWORD,
            },
            "demo_mail": {
                "conn_type": "smtp",
                "host": ADDRESS,
                "port": self._mail.server_address[1],
                "login": USER,
                "password": PASSWORD,
                "extra": {"disable_ssl": True, "disable_tls": True},
            },
            "demo_slack": {
                "conn_type": "slack",
                "password": SLACK_TOKEN,
                "extra": {"base_url": f"{self.http_url}/api/"},
            },
        }

    def __enter__(self) -> Self:
        for server in (self._http, self._mail):
            threading.Thread(target=server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for server in (self._http, self._mail):
            server.shutdown()
            server.server_close()
