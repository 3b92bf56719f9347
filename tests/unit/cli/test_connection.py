"""How the commands on runs reach Airflow, and what they say when they do not."""

from __future__ import annotations

import socket
import subprocess
import sys
from http.client import BadStatusLine

import pytest

from mantle_provider.cli import main, rest
from support.fake_airflow import (
    DAG_ID,
    PASSWORD,
    TOKEN,
    USERNAME,
    Reply,
    as_json,
    make_run,
)

RUNS = f"/api/v2/dags/{DAG_ID}/dagRuns"


@pytest.fixture
def status(airflow, capsys):
    """Run ``mantle status`` with nothing but the given options; return the error, if any."""
    airflow.runs = [make_run(state="success")]

    def run(*options):
        code = main(["status", DAG_ID, "latest", *options])
        output = capsys.readouterr()
        assert code == (2 if output.err else 0)
        for secret in (TOKEN, PASSWORD):
            assert secret not in output.out + output.err
        return output.err.removeprefix("mantle: error: ").rstrip("\n")

    return run


def test_options_name_the_place_and_the_token(airflow, status):
    assert status("--url", f"{airflow.url}/", "--token", TOKEN) == ""
    assert {request.token for request in airflow.requests} == {TOKEN}


def test_the_environment_stands_in_for_options(airflow, status, monkeypatch):
    monkeypatch.setenv("AIRFLOW_API_URL", airflow.url)
    monkeypatch.setenv("AIRFLOW_API_TOKEN", f"{TOKEN}\n")
    assert status() == ""
    assert status("--token", "other") == (
        f"Airflow at {airflow.url} does not accept the token; it may have expired"
    )


def test_airflow_is_looked_for_on_this_machine_by_default(status, monkeypatch):
    def refuse(*_, **__):
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(socket, "create_connection", refuse)
    assert status() == "no answer from Airflow at http://localhost:8080: Connection refused"


def test_a_user_gets_a_token(airflow, status, monkeypatch):
    user = ("--username", USERNAME, "--password", PASSWORD)
    assert status("--url", airflow.url, *user) == ""
    assert [request.token for request in airflow.requests[:2]] == [None, TOKEN]
    monkeypatch.setenv("AIRFLOW_API_USERNAME", USERNAME)
    monkeypatch.setenv("AIRFLOW_API_PASSWORD", PASSWORD)
    assert status("--url", airflow.url) == ""


def test_everybody_gets_a_token_where_all_are_administrators(airflow, status):
    airflow.gives_token_to_everybody = True
    assert status("--url", airflow.url) == ""


def test_who_gets_no_token_is_told_what_to_give(airflow, status):
    assert status("--url", airflow.url) == (
        f"Airflow at {airflow.url} wants a token; give --token, or --username and --password"
    )
    assert status("--url", airflow.url, "--username", "eve", "--password", PASSWORD) == (
        f"Airflow at {airflow.url} gives no token for this user name and password"
    )


@pytest.mark.parametrize("option", ["--username", "--password"])
def test_half_a_login_is_wrong_usage(option, airflow, status):
    assert status("--url", airflow.url, option, PASSWORD) == (
        "give both --username and --password, or neither"
    )


NOT_A_TOKEN = "the token holds characters that no token has"


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (as_json({}), "Airflow at {url} answered the login without a token"),
        (as_json({"access_token": 5}), "Airflow at {url} answered the login without a token"),
        (as_json({"access_token": f"{TOKEN}\r\nX: y"}), NOT_A_TOKEN),
        (as_json({"detail": PASSWORD}, 500), "Airflow at {url} answered the login with 500"),
        (
            Reply(302, headers={"Location": "https://login.test"}),
            "{url} redirects to https://login.test; give Airflow's own address",
        ),
        (
            Reply(200, b"<html>"),
            "what answers POST /auth/token at {url} is not Airflow's API; is the address right?",
        ),
    ],
)
def test_a_login_without_a_token_is_a_failure(reply, message, airflow, status):
    airflow.replies["POST", "/auth/token"] = reply
    user = ("--username", USERNAME, "--password", PASSWORD)
    assert status("--url", airflow.url, *user) == message.format(url=airflow.url)


@pytest.mark.parametrize("token", ["two\nlines", "söme"])
def test_a_wrong_token_is_not_shown(token, airflow, status):
    assert status("--url", airflow.url, "--token", token) == NOT_A_TOKEN


FORM = 'the URL of Airflow must be of the form "https://host:port/path"'


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("localhost:8080", FORM),
        ("file:///etc/passwd", FORM),
        ("http://", FORM),
        ("http://host:port", FORM),
        ("http://[::1", FORM),
        ("http://a b", FORM),
        ("http://ada:secret@host", "the URL holds a user; give --username and --password instead"),
        ("http://host/?x=1", 'the URL of Airflow must end before any "?" or "#"'),
    ],
)
def test_a_wrong_url_is_said(url, message, status):
    assert status("--url", url, "--token", TOKEN) == message


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (as_json({}, 401), "Airflow at {url} does not accept the token; it may have expired"),
        (
            as_json({"detail": "Forbidden"}, 403),
            f"Airflow at {{url}} does not allow this user GET {RUNS}",
        ),
        (
            as_json({"detail": f"Bearer {TOKEN}\n\x1b[31mis bad"}, 422),
            f"Airflow at {{url}} answered GET {RUNS} with 422: Bearer *** [31mis bad",
        ),
        (
            as_json({"detail": [{"input": TOKEN}]}, 422),
            f"Airflow at {{url}} answered GET {RUNS} with 422",
        ),
        (Reply(502, b"<html>"), f"Airflow at {{url}} answered GET {RUNS} with 502"),
        (Reply(500, b"[1]"), f"Airflow at {{url}} answered GET {RUNS} with 500"),
        (
            Reply(302, headers={"Location": "https://login.test/?token=secret"}),
            "{url} redirects to https://login.test; give Airflow's own address",
        ),
        (
            Reply(308, headers={"Location": "http://[::1"}),
            "{url} redirects to another path; give Airflow's own address",
        ),
        (
            Reply(307, headers={"Location": "/airflow"}),
            "{url} redirects to another path; give Airflow's own address",
        ),
        (
            Reply(200, b"<html>"),
            f"what answers GET {RUNS} at {{url}} is not Airflow's API; is the address right?",
        ),
        (
            Reply(200, b"[" * 100_000),
            f"what answers GET {RUNS} at {{url}} is not Airflow's API; is the address right?",
        ),
        (
            Reply(200, b"[]"),
            f"what answers GET {RUNS} at {{url}} is not Airflow's API; is the address right?",
        ),
        (
            as_json({"dag_runs": [{"dag_id": "x"}]}),
            "the answer on the runs of a Dag is not as Airflow 3 gives it; is the address right?",
        ),
    ],
)
def test_an_unexpected_answer_is_one_sentence(reply, message, airflow, status):
    airflow.replies["GET", RUNS] = reply
    assert status("--url", airflow.url, "--token", TOKEN) == message.format(url=airflow.url)


def test_a_redirect_is_not_followed(airflow, status):
    airflow.replies["GET", RUNS] = Reply(302, headers={"Location": f"{airflow.url}/elsewhere"})
    status("--url", airflow.url, "--token", TOKEN)
    assert len(airflow.requests) == 1


def test_an_answer_that_is_too_large_is_refused(airflow, status, monkeypatch):
    monkeypatch.setattr(rest, "MAX_ANSWER_BYTES", 2 << 20)
    airflow.replies["GET", RUNS] = Reply(body=b" " * (2 << 20) + b"{}")
    assert status("--url", airflow.url, "--token", TOKEN) == (
        f"the answer to GET {RUNS} is larger than 2 MiB"
    )


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (TimeoutError("timed out"), "waited 60 seconds"),
        (ConnectionRefusedError(111, "Connection refused"), "Connection refused"),
        (BadStatusLine("SSH-2.0\r\n"), "SSH-2.0"),
    ],
)
def test_no_answer_is_one_sentence(error, reason, airflow, status, monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(socket, "create_connection", fail)
    assert status("--url", airflow.url, "--token", TOKEN) == (
        f"no answer from Airflow at {airflow.url}: {reason}"
    )


def test_checking_files_loads_nothing_of_the_network():
    script = (
        "import sys; import mantle_provider.cli;"
        "print(sorted({'urllib.request', 'http.client', 'ssl'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == "[]\n"
