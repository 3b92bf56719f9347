"""Secrets stay out of what a task process writes, whoever reads it."""

from __future__ import annotations

import io
import logging

import pytest
import structlog
from airflow.sdk.log import configure_logging

from mantle_provider.operators.masking import mask_environment
from mantle_provider.operators.values import EnvironmentValues
from mantle_provider.workflow.model import Step, Workflow
from support.runs import FakeRun


@pytest.fixture
def lines(monkeypatch):
    """The lines that a task process sends to its supervisor."""
    before = structlog.get_config()
    handlers = logging.getLogger().handlers[:]
    output = io.BytesIO()
    configure_logging.__wrapped__(json_output=True, output=output, sending_to_supervisor=True)
    yield lambda: output.getvalue().decode()
    structlog.configure(**before)
    logging.getLogger().handlers[:] = handlers


def test_environment_values_are_masked_before_a_line_leaves_the_process(lines, monkeypatch):
    monkeypatch.setenv("MANTLE_ENV_TOKEN", "hidden-value-1")
    log = structlog.get_logger("task")
    log.info("used before the masker is there")
    mask_environment({})
    mask_environment({"OTHER": "hidden-value-2", "EMPTY": ""})
    log.info("told hidden-value-2")
    logging.getLogger("subprocess").warning("told %s", "hidden-value-1")
    log.error("failed", exc_info=ValueError("told hidden-value-1"))
    text = lines()
    assert text.count("told ***") == 3
    assert "hidden-value" not in text


def test_of_one_name_the_process_wins_then_the_environment_then_the_variable(monkeypatch):
    monkeypatch.setenv("MANTLE_ENV_A", "process")
    monkeypatch.setenv("AIRFLOW__MANTLE__ENV_FROM_VARIABLES", "True")
    for name in ("A", "B", "C"):
        monkeypatch.setenv(f"AIRFLOW_VAR_MANTLE_ENV_{name}", "variable")
    values = EnvironmentValues({"A": "file", "B": "file"})
    assert [values[name] for name in ("A", "B", "C")] == ["process", "file", "variable"]
    assert list(values) == ["A", "B"]


def test_values_of_an_environment_are_masked_in_records():
    params = {"callable": "support.functions.fail_with", "args": ["{{ env.TOKEN }}"]}
    step = Step("a", action="python/call", params=params)
    run = FakeRun(Workflow("test", (step,), env={"TOKEN": "s3cr3t-value-43"}))
    with pytest.raises(RuntimeError):
        run.run("a")
    assert run.record("a")["message"] == "told: ***"
