"""Making a state small enough to be stored, whatever its steps had to say."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mantle_provider.lifecycle.model import ErrorRecord, WorkflowState

MAX_STATE_BYTES = 4 * 1024 * 1024
"""Largest compact JSON of a stored state in UTF-8."""

_LIMITS = (4_000, 1_000, 300, 100)
"""Characters of one text, tried in turn."""

_NOTE = " ... (cut: see mantle_error of the step)"


def fitted(state: WorkflowState, max_bytes: int = MAX_STATE_BYTES) -> WorkflowState:
    """Return the state, its failures' texts cut as far as it takes to make it fit.

    A text that was cut says so and where the whole one is; causes that are left out are counted
    in the last one that is kept. The first cause of the run stays whole in ``error``.
    """
    for limit in (None, *_LIMITS):
        shorter = state if limit is None else _with_short_texts(state, limit)
        if _fits(shorter, max_bytes):
            return shorter
    return shorter


def _fits(state: WorkflowState, max_bytes: int) -> bool:
    """Whether a state's JSON is small enough; of one that is much too large little is written."""
    size = _size(replace(state, nodes={}).to_data())
    for name, node in state.nodes.items():
        size += _size({name: node.to_data()})
        if size > max_bytes:
            return False
    return size <= max_bytes


def _size(data: object) -> int:
    """Return the bytes of JSON in UTF-8; braces of a part count like the commas of the whole."""
    return len(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode())


def _with_short_texts(state: WorkflowState, limit: int) -> WorkflowState:
    nodes = {
        name: replace(
            node,
            failure_cause=node.failure_cause and _short_record(node.failure_cause, limit),
            reason=node.reason and _cut(node.reason, limit),
        )
        for name, node in state.nodes.items()
    }
    return replace(state, nodes=nodes)


def _short_record(record: ErrorRecord, limit: int) -> ErrorRecord:
    kept = record.causes[:1]
    left = len(record.causes) - len(kept)
    causes = []
    for cause in kept:
        text = _cut(cause.message, limit)
        causes.append(replace(cause, message=f"{text} (and {left} more)" if left else text))
    return replace(
        record,
        message=_cut(record.message, limit),
        expression=record.expression and _cut(record.expression, limit),
        causes=tuple(causes),
    )


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - len(_NOTE)] + _NOTE
