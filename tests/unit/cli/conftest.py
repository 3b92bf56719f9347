"""An Airflow that the commands on runs talk to."""

from __future__ import annotations

import pytest

from mantle_provider.cli import main
from support.fake_airflow import TOKEN, FakeAirflow


@pytest.fixture
def airflow(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("URL", "TOKEN", "USERNAME", "PASSWORD"):
        monkeypatch.delenv(f"AIRFLOW_API_{name}", raising=False)
    with FakeAirflow() as airflow:
        yield airflow


@pytest.fixture
def mantle(airflow, capsys):
    """Run a command with a valid token; return its exit code and what it printed."""

    def run(*arguments):
        code = main([*arguments, "--url", airflow.url, "--token", TOKEN])
        return (code, *capsys.readouterr())

    return run
