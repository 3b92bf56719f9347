"""Mask secrets before a task's log lines leave its process.

State: the logging configuration of the process.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

import structlog
from airflow.sdk.log import mask_logs, mask_secret

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


ENV_PREFIX = "MANTLE_ENV_"
"""``env.X`` reads the environment variable with this prefix."""


def mask_environment(given: Mapping[str, str]) -> None:
    """Mask every ``MANTLE_ENV_*`` value, which a step may print without an expression's help.

    :param given: values of ``env.X`` from the environment's file, which are masked, too.
    """
    values = [value for name, value in os.environ.items() if name.startswith(ENV_PREFIX)]
    for value in filter(None, [*values, *given.values()]):
        mask_secret(value)
    mask_logs_of_process()


def mask_logs_of_process() -> None:
    """Make every log line of this process pass Airflow's masker, once however often called.

    Airflow 3.3 masks a task's lines in its supervisor, for the task's log file. The local
    executor writes the same lines to the scheduler's output as well, and there it masks only
    what that process has itself been told. Remove when it masks both.
    """
    _insert(structlog.get_config()["processors"])
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, structlog.stdlib.ProcessorFormatter):
            _insert(handler.formatter.processors)


def _insert(processors: Sequence[Any]) -> None:
    """Put the masker before the last processor, which writes the line.

    In place, since loggers that were used already keep this very list.
    """
    if isinstance(processors, list) and mask_logs not in processors:
        processors.insert(len(processors) - 1, mask_logs)
