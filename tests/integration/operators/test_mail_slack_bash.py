"""`email/send`, `slack/send` and `bash/run` over the official hooks."""

from __future__ import annotations

import json
import os
import signal
import socketserver
import subprocess
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from mantle_provider.errors import ActionError, ConfigurationError, WorkflowError
from mantle_provider.operators.email import build_message
from mantle_provider.operators.interrupt import Interrupted
from mantle_provider.triggers.step import TIME_IS_UP
from mantle_provider.workflow.model import Step, Workflow
from support.runs import FakeRun


def run_step(action, credential=None, **params):
    step = Step(name="a", action=action, params=params, credential=credential)
    run = FakeRun(Workflow(name="test", steps=(step,)))
    try:
        run.run("a")
    except (ActionError, ConfigurationError) as error:
        return str(error), run
    return run.output("a"), run


class Smtp(socketserver.StreamRequestHandler):
    """Just enough of RFC 5321 to take one message."""

    def handle(self):
        self.say("220 ready")
        while line := self.rfile.readline().decode().strip():
            verb = line.split(" ")[0].upper()
            if verb == "DATA":
                self.say("354 go on")
                lines = iter(lambda: self.rfile.readline().decode().rstrip("\r\n"), ".")
                self.server.messages.append("\n".join(lines))
                self.say("250 taken")
            elif verb == "QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 fine")

    def say(self, text):
        self.wfile.write(f"{text}\r\n".encode())


@pytest.fixture
def serve():
    servers = []

    def start(server):
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        servers.append((server, thread))
        return server

    yield start
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_message_goes_out_as_plain_text(serve, monkeypatch):
    server = serve(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Smtp))
    server.messages = []
    extra = {"disable_ssl": True, "disable_tls": True, "from_email": "x@example.com"}
    connection = {
        "conn_type": "smtp",
        "host": "127.0.0.1",
        "port": server.server_address[1],
        "extra": extra,
    }
    monkeypatch.setenv("AIRFLOW_CONN_MAIL", json.dumps(connection))
    output, _ = run_step(
        "email/send",
        "mail",
        to=["a@example.com", "b@example.com"],
        subject="Grüße",
        body="<no html>\n.\nend",
        **{"from": "me@example.com"},
    )
    assert output == {"sent": True, "to": "a@example.com, b@example.com", "subject": "Grüße"}
    (message,) = server.messages
    assert 'Content-Type: text/plain; charset="utf-8"' in message
    assert message.endswith("<no html>\n..\nend")


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ([], "email/send: to is required"),
        (["a@example.com", 3], "email/send: to[1] must be a non-empty string"),
        (["a@example.com", " "], "email/send: to[1] must be a non-empty string"),
    ],
)
def test_recipients_that_are_none_are_refused(to, message):
    params = {"to": to, "from": "me@example.com", "subject": "s", "body": "b"}
    with pytest.raises(ActionError) as caught:
        build_message(params)
    assert str(caught.value) == message


@pytest.mark.parametrize("field", ["from", "subject"])
def test_a_line_feed_cannot_add_a_header(field):
    params = {"to": "a@example.com", "from": "me@example.com", "subject": "s", "body": "b"}
    with pytest.raises(ActionError, match="^email/send: a header is not valid: "):
        build_message({**params, field: "x\nBcc: all@example.com"})


def test_html_says_so():
    params = {"to": "a@example.com", "from": "b@example.com", "subject": "s", "body": "<b>x</b>"}
    assert build_message({**params, "html": True}).get_content_type() == "text/html"


class Slack(BaseHTTPRequestHandler):
    def do_POST(self):  # http.server's name
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.received.append((self.path, self.headers["Authorization"], body))
        known = body["channel"] == "#ops"
        answer = {"ok": True, "ts": "1.2", "channel": "C1"} if known else {"ok": False}
        if not known:
            answer["error"] = "channel_not_found"
        text = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def slack(serve, monkeypatch):
    server = serve(ThreadingHTTPServer(("127.0.0.1", 0), Slack))
    server.received = []
    connection = {
        "conn_type": "slack",
        "password": "xoxb-token",
        "extra": {"base_url": f"http://127.0.0.1:{server.server_port}/api/"},
    }
    monkeypatch.setenv("AIRFLOW_CONN_CHAT", json.dumps(connection))
    return server


def test_a_slack_message_is_posted(slack):
    output, _ = run_step("slack/send", "chat", channel="#ops", text="hi")
    assert output == {"ok": True, "ts": "1.2", "channel": "C1"}
    assert slack.received == [
        ("/api/chat.postMessage", "Bearer xoxb-token", {"channel": "#ops", "text": "hi"})
    ]


def test_what_slack_refuses_fails_with_its_reason(slack):
    message, run = run_step("slack/send", "chat", channel="#none", text="hi")
    assert message == "slack/send: Slack API error: channel_not_found"
    assert run.record("a")["type"] == "ActionError"


def test_a_missing_connection_fails_in_the_lookup_phase():
    step = Step(
        name="a",
        action="slack/send",
        params={"channel": "c", "text": "t"},
        credential="no_such_connection",
    )
    run = FakeRun(Workflow(name="test", steps=(step,)))
    with pytest.raises(Exception, match="no_such_connection"):
        run.run("a")
    assert run.record("a")["phase"] == "EXECUTOR_LOOKUP"


def test_a_command_gives_its_last_line_and_reads_env():
    output, _ = run_step(
        "bash/run",
        command='echo first; echo "$A|$B|$C"',
        env={"A": "x", "B": True, "C": "{{ timestamp('2026-01-02T03:04:05Z') }}"},
    )
    assert output == {"result": "x|true|2026-01-02T03:04:05Z"}


def test_a_value_in_env_is_no_part_of_the_command():
    output, _ = run_step("bash/run", command='echo "$A"', env={"A": "$(echo injected); `id`"})
    assert output == {"result": "$(echo injected); `id`"}


def test_a_command_may_have_a_path_of_its_own():
    output, _ = run_step("bash/run", command='echo "$PATH"', env={"PATH": "/nowhere"})
    assert output == {"result": "/nowhere"}


@pytest.fixture
def input_with_a_line():
    """Give this process a standard input that holds a line, as a task has its channel there."""
    before = os.dup(0)
    end_to_read, end_to_write = os.pipe()
    os.write(end_to_write, b"of the supervisor\n")
    os.dup2(end_to_read, 0)
    yield
    os.dup2(before, 0)
    for descriptor in (before, end_to_read, end_to_write):
        os.close(descriptor)


@pytest.mark.usefixtures("input_with_a_line")
def test_a_command_has_nothing_to_read():
    output, _ = run_step("bash/run", command='read -r line || echo "the end"')
    assert output == {"result": "the end"}


def test_a_command_runs_in_its_directory(tmp_path):
    output, _ = run_step("bash/run", command="pwd", cwd=str(tmp_path))
    assert output == {"result": str(tmp_path)}


def test_a_directory_that_is_missing_is_named(tmp_path):
    message, _ = run_step("bash/run", command="pwd", cwd=str(tmp_path / "x"))
    assert message == f'bash/run: the working directory "{tmp_path / "x"}" does not exist'


def test_an_exit_code_fails_the_step_and_stays_readable():
    message, run = run_step("bash/run", command="echo gone; exit 3")
    assert message == "bash/run: the command exited with code 3"
    assert run.xcoms["a", "mantle_failed_output"] == {"result": "gone", "exit_code": 3}


def test_a_command_that_is_cut_while_it_starts_is_stopped(monkeypatch):
    started = []

    class CutOnceStarted(subprocess.Popen):
        def __init__(self, *arguments, **keywords):
            super().__init__(*arguments, **keywords)
            started.append(self)
            raise Interrupted(TIME_IS_UP)

    monkeypatch.setattr("airflow.providers.standard.hooks.subprocess.Popen", CutOnceStarted)
    params = {"command": "sleep 15"}
    step = Step(name="a", action="bash/run", params=params, timeout=timedelta(minutes=1))
    with pytest.raises(WorkflowError, match="^step timed out after 1m$"):
        FakeRun(Workflow(name="test", steps=(step,))).run("a")
    (command,) = started
    assert command.wait(timeout=10) == -signal.SIGTERM
