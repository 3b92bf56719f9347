"""What happens to a run, in words that a simulation and a model of it share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

ADMISSION = "workflow_admission"
OUTCOME = "workflow_outcome"

FAILURES = frozenset({"fail", "kill"})
"""Ends of an attempt that another one may follow; ``kill`` leaves no record."""

CHOICE = "to "
"""Begins the end of a router's attempt; after it comes the case."""


class Event(NamedTuple):
    """Something that happened.

    :param what: ``started`` and ``ended`` (an attempt of a step or hook; ``how`` is its end, also
        ``stopped`` by ``fail_fast``, and ``if`` of one that its ``if`` kept from starting),
        ``marked`` (a finished step; ``how`` is a state), ``run marked`` (``how`` is a state,
        ``task`` what was under way, if anything was) or ``cleared`` (with Downstream).
    """

    what: str
    task: str | None
    how: str | None = None


@dataclass(frozen=True)
class Script:
    """How attempts end, if they take place.

    Ends are ``ok``, ``to s`` (a router's choice), ``skip`` (the action's own), those of
    :data:`FAILURES`, and ``marked failed`` and ``marked success``, by a user while the attempt
    runs.

    :param ends: task id -> the ends of its attempts, of which the last is that of all further
        ones; tasks that are not named end well.
    :param is_rejected: whether more runs are at work than the workflow allows.
    """

    ends: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_rejected: bool = False

    def end(self, task_id, attempt):
        """Return an attempt's end; attempts count from 1, and anew when the run was cleared."""
        ends = self.ends.get(task_id, ("ok",))
        return ends[min(attempt, len(ends)) - 1]


def is_hook(task_id):
    """Whether a task is a hook step: its block's name stands before its own."""
    return "." in task_id
