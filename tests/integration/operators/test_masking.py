"""Secrets stay out of what a task process writes, whoever reads it."""

from __future__ import annotations

import io
import logging

import pytest
import structlog
from airflow.sdk.log import configure_logging

from mantle_provider.operators.masking import mask_environment


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
