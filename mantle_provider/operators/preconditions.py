"""What must hold on this machine and for this run before a step's parameters are looked at."""

from __future__ import annotations

import logging
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from mantle_provider import settings
from mantle_provider.errors import WorkflowError
from mantle_provider.lifecycle import Phase
from mantle_provider.operators.inputs import input_problems, version_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mantle_provider.operators.entry import Entry
    from mantle_provider.operators.run_reader import RunReader

log = logging.getLogger(__name__)


def warn_of_old_verdict(
    step: Mapping[str, Any], workflow: Mapping[str, Any], entry: Entry, reader: RunReader
) -> None:
    """Tell a user who has cleared this step without Downstream that it changes nothing else."""
    # Nothing that was never cleared is asked, since the question costs a call.
    was_cleared = entry.first_try > 1
    is_main = workflow["has_outcome"] and step["block"] == "steps"
    if was_cleared and is_main and reader.is_judged():
        log.warning(
            "The verdict on this run is older than this try and stays as it is: the step was "
            "cleared without Downstream"
        )


def check_allowed(step: Mapping[str, Any]) -> None:
    """Check ``[mantle] allowed_actions`` again: the file was checked on another machine.

    :raises WorkflowError: in phase ``EXECUTOR_LOOKUP``.
    """
    action = step["action"]
    globs = settings.allowed_actions()
    # A router runs no action.
    if action is not None and not any(fnmatchcase(action, glob) for glob in globs):
        raise WorkflowError(
            f'action "{action}" is not allowed here; [mantle] allowed_actions: '
            f"{', '.join(globs) or 'none'}",
            phase=Phase.EXECUTOR_LOOKUP.value,
            retryable=False,
        )


def check_inputs(
    step: Mapping[str, Any], workflow: Mapping[str, Any], conf: Mapping[str, Any] | None
) -> None:
    """Fail main steps for wrong inputs; hooks must run nevertheless, to tell of it.

    :param conf: what the run was started with.
    :raises WorkflowError: in phase ``INPUT_RESOLUTION``, with every problem.
    """
    if step["block"] != "steps":
        return
    # Another version may well have other inputs.
    problem = version_problem(workflow["version"], conf)
    problems = [problem] if problem else input_problems(workflow["inputs"], conf)
    if problems:
        raise WorkflowError(
            "; ".join(problems),
            phase=Phase.INPUT_RESOLUTION.value,
            field="inputs",
            type="InvalidInput",
            retryable=False,
        )
