"""What error handlers and listeners are told about a run: frozen values of their own.

Whoever changes what a value holds changes nothing of the run. Imports nothing from Airflow, so
that a class of the user's can be tested without it.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class WorkflowInstance:
    """One run of a workflow.

    :param run_id: Airflow's run id.
    :param workflow: the workflow's name.
    :param version: ``def_version`` of the code that runs.
    :param inputs: every declared input, given or default, plus ``trigger``.
    :param started_at: when the run started, in seconds since the epoch.
    """

    run_id: str
    workflow: str
    version: str
    inputs: Mapping[str, Any]
    started_at: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", deepcopy(dict(self.inputs)))


@dataclass(frozen=True, slots=True)
class WorkflowNode:
    """One step.

    :param id: the step's name.
    :param action: ``family/verb``; ``switch`` for a router step.
    :param block: ``steps`` for a main step, else the hook block: ``on_success``, ``on_failure`` or
        ``on_finish``.
    :param attempt: counts the attempts of this run of the step from 1.
    """

    id: str
    action: str
    block: str = "steps"
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class NodeResult:
    """What an action had produced when it failed explicitly.

    :param output: a JSON object.
    """

    output: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "output", deepcopy(dict(self.output)))
