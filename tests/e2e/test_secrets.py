"""What was planted as a secret is nowhere to be read."""

from __future__ import annotations

import base64

import pytest
from demo_services import PASSWORD, SLACK_TOKEN, USER
from e2e_suite import ENVIRONMENT, FILED_SECRET, PLANTED_SECRET

pytestmark = pytest.mark.e2e

PLACES = ("url", "function", "expression", "parameter")
BASIC_AUTHORIZATION = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
SECRETS = {
    "environment value": PLANTED_SECRET,
    "value of the environment's file": FILED_SECRET,
    "password": PASSWORD,
    "authorization header": BASIC_AUTHORIZATION,
    "Slack token": SLACK_TOKEN,
}


@pytest.mark.workflow("secrets")
def test_secrets_reach_where_they_are_meant_to(run, suite):
    """Else the search below would find nothing and prove nothing."""
    assert run.state == "success"
    assert run.output("send")["json"] == {"welcome": USER}
    paths = [request.path for request in suite.inbox.requests]
    assert f"/error/{PLANTED_SECRET}" in paths
    assert f"/error/{FILED_SECRET}" in paths
    assert [run.task_states[f"fail-in-{place}"] for place in PLACES] == ["failed"] * len(PLACES)


def _may_hold_values(path):
    """Whether it is what the bundle keeps of the environment's file, or of both by digest."""
    name = path.as_posix()
    return name.endswith((f"values/{ENVIRONMENT}.yaml", ".env.json")) or "/kept/files/" in name


@pytest.mark.last
@pytest.mark.workflow("secrets")
@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_no_log_and_no_table_holds_a_secret(run, suite, secret):
    """All logs of the suite, and the database: XComs, rendered fields, import errors and all."""
    home = suite.airflow.home
    files = (path for path in home.rglob("*") if path.is_file() and path.suffix != ".db")
    logs = [path for path in files if not _may_hold_values(path)]
    assert len(logs) > 5
    assert [str(path) for path in logs if secret.encode() in path.read_bytes()] == []
    assert [line[:80] for line in suite.airflow.database_lines() if secret in line] == []


@pytest.mark.last
@pytest.mark.workflow("secrets")
def test_no_message_of_a_hook_holds_a_secret(run, suite):
    texts = [message["text"] for message in suite.inbox.slack_messages()]
    assert any("no luck with ***" in text for text in texts)
    assert [text for text in texts if PLANTED_SECRET in text] == []
