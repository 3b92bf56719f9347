"""`http/request` against a server on this machine."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from mantle_provider.errors import ActionError
from mantle_provider.workflow.model import Step, Workflow
from support.runs import FakeRun


class Handler(BaseHTTPRequestHandler):
    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        request = {
            "method": self.command,
            "path": self.path,
            "authorization": self.headers.get("Authorization"),
            "content_type": self.headers.get("Content-Type"),
            "x": self.headers.get("X-Own"),
            "body": self.rfile.read(length).decode(),
        }
        body, status = json.dumps(request).encode(), 200
        if self.path == "/teapot":
            status = 418
        if self.path == "/text":
            body = b"no json"
        if self.path == "/numbers":
            body = b'{"a": 3, "b": 3.0, "c": 99999999999999999999, "d": 1e999}'
        self.send_response(status)
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815  # http.server's names

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def request(url, credential=None, **params):
    step = Step(
        name="a", action="http/request", params={"url": url, **params}, credential=credential
    )
    run = FakeRun(Workflow(name="test", steps=(step,)))
    try:
        run.run("a")
    except ActionError as error:
        return str(error), run
    return run.output("a"), run


def test_an_answer_has_status_headers_body_and_json(server):
    output, _ = request(f"{server}/x")
    assert output["status"] == 200
    assert output["headers"]["set-cookie"] == ["a=1", "b=2"]
    assert json.loads(output["body"]) == output["json"]
    assert (output["json"]["method"], output["json"]["path"]) == ("GET", "/x")


@pytest.mark.parametrize("method", ["get", "POST", "delete"])
@pytest.mark.parametrize("body", ["text", {"a": [1]}, None], ids=["text", "map", "null"])
def test_a_body_is_always_json(server, method, body):
    output, _ = request(f"{server}/x", method=method, body=body)
    received = output["json"]
    assert (received["method"], received["body"]) == (method.upper(), json.dumps(body))
    assert received["content_type"] == "application/json"


def test_a_body_holds_times_as_their_text(server):
    output, _ = request(
        f"{server}/x",
        method="POST",
        body={"at": "{{ timestamp('2026-01-02T03:04:05Z') }}", "for": "{{ duration('90s') }}"},
    )
    assert output["json"]["body"] == '{"at": "2026-01-02T03:04:05Z", "for": "90s"}'


def test_a_body_that_json_cannot_hold_is_refused():
    message, _ = request("http://127.0.0.1:9/", method="POST", body="{{ 1.0 / 0.0 }}")
    assert message == ("http/request: the body holds an infinity or NaN, which JSON does not have")


def test_a_status_of_400_and_above_fails_and_keeps_the_answer(server):
    message, run = request(f"{server}/teapot")
    assert message == f"http/request: GET {server}/teapot returned 418"
    assert run.xcoms["a", "mantle_failed_output"]["status"] == 418


def test_an_answer_that_is_no_json_has_none(server):
    output, _ = request(f"{server}/text")
    assert (output["body"], "json" in output) == ("no json", False)


def test_numbers_keep_their_kind_and_those_too_large_their_digits(server):
    output, _ = request(f"{server}/numbers")
    assert repr(output["json"]) == "{'a': 3, 'b': 3.0, 'c': '99999999999999999999', 'd': '1e999'}"


@pytest.mark.parametrize(
    ("login", "authorization"),
    [("user:pass@", "Basic dXNlcjpwYXNz"), (":token@", "Bearer token"), ("", None)],
    ids=["basic", "bearer", "none"],
)
def test_a_connection_gives_host_and_authentication(server, monkeypatch, login, authorization):
    host = server.removeprefix("http://")
    monkeypatch.setenv("AIRFLOW_CONN_API", f"http://{login}{host}")
    output, _ = request("/path", credential="api", headers={"X-Own": "1"})
    received = output["json"]
    assert (received["path"], received["authorization"], received["x"]) == (
        "/path",
        authorization,
        "1",
    )


def test_a_credential_is_not_sent_to_another_host(server, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_API", "http://user:pass@example.invalid")
    message, _ = request(f"{server}/x", credential="api")
    assert message == (
        'http/request: credential "api" is for another host than the URL\'s; '
        "use a path, or a credential without a host"
    )


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "/path",
            "http/request: the URL is no absolute one, and there is no credential with a host "
            "to add it to",
        ),
        (
            "file:///etc/passwd",
            'http/request: the URL\'s scheme is "file"; allowed are http and https',
        ),
    ],
)
def test_urls_that_lead_nowhere_are_refused(url, message):
    assert request(url)[0] == message


def test_a_server_that_is_not_there_is_an_action_error():
    message, _ = request("http://127.0.0.1:9/x")
    assert message.startswith("http/request: GET http://127.0.0.1:9/x: ")
