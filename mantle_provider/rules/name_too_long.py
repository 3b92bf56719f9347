"""A name is longer than Airflow can store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject

_MAX_ID = 250
"""Length of Dag ids and task ids (``airflow.models``, column ``StringID``)."""

_LONGEST_FRAME = len("on_success.") + len("_done")
"""What the task ids of a hook have around its name."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Measure the names of the workflow, its steps and its hooks."""
    if len(subject.workflow.name) > _MAX_ID:
        yield Diagnostic("name-too-long", _message(subject.workflow.name, _MAX_ID), ("name",))
    for placed in subject.draft.steps:
        limit = _MAX_ID - _LONGEST_FRAME if placed.is_hook else _MAX_ID
        if placed.name is not None and len(placed.name) > limit:
            message = _message(placed.name, limit)
            yield Diagnostic("name-too-long", message, (*placed.path, "name"))


def _message(name: str, limit: int) -> str:
    return f"the name has {len(name)} characters; Airflow can store {limit} here"
