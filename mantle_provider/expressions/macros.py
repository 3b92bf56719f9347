"""Macros over lists and maps: what they do with each item (CEL language definition, "Macros").

A map is gone through by its keys. ``all`` and ``exists`` absorb errors where another item
decides; the others do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mantle_provider.expressions.faults import EvaluationError, Span
from mantle_provider.expressions.values import Value, adopt, kind_of

if TYPE_CHECKING:
    from mantle_provider.expressions.frame import Closure, Frame


@dataclass(frozen=True, slots=True)
class Loop:
    """What all macros share: going through a target, and asking a condition.

    :param name: the macro's, for errors.
    :param slot: where in the frame the item stands while the macro's body runs.
    """

    name: str
    target: Closure
    slot: int
    span: Span

    def items(self, target: Value, frame: Frame) -> Iterator[Value]:
        """Put each item into the frame, then yield it."""
        if not isinstance(target, (list, tuple, Mapping)):
            message = f"{self.name}() needs a list or a map, found {kind_of(target)}"
            raise EvaluationError(message, self.span)
        for item in target:
            frame.count_iteration()
            adopted = adopt(item)
            frame.slots[self.slot] = adopted
            yield adopted

    def is_true(self, value: Value) -> bool:
        """Return a condition's value, which must be bool."""
        if type(value) is bool:
            return value
        message = f"the condition of {self.name}() must be bool, found {kind_of(value)}"
        raise EvaluationError(message, self.span)


def quantifier(loop: Loop, condition: Closure, *, decisive: bool) -> Closure:
    """Return ``all``, which the first false decides, or ``exists``, which the first true does."""

    def run(frame: Frame) -> bool:
        failure: EvaluationError | None = None
        for _ in loop.items(loop.target(frame), frame):
            try:
                verdict = loop.is_true(condition(frame))
            except EvaluationError as error:
                failure = failure or error
                continue
            if verdict is decisive:
                return decisive
        if failure is not None:
            raise failure
        return not decisive

    return run


def exists_one(loop: Loop, condition: Closure) -> Closure:
    """Return whether exactly one item holds; all items are looked at."""

    def run(frame: Frame) -> bool:
        count = 0
        for _ in loop.items(loop.target(frame), frame):
            count += loop.is_true(condition(frame))
        return count == 1

    return run


def select_items(loop: Loop, condition: Closure) -> Closure:
    """Return ``filter``."""

    def run(frame: Frame) -> list[Value]:
        selected = []
        for item in loop.items(loop.target(frame), frame):
            if loop.is_true(condition(frame)):
                selected.append(item)  # noqa: PERF401  # a comprehension is a frame of its own before Python 3.12, and depth is counted in frames
        return selected

    return run


def map_items(loop: Loop, body: Closure, condition: Closure | None = None) -> Closure:
    """Return ``map``, with a condition only over the items for which it holds."""

    def run(frame: Frame) -> list[Value]:
        mapped = []
        for _ in loop.items(loop.target(frame), frame):
            if condition is None or loop.is_true(condition(frame)):
                mapped.append(body(frame))  # noqa: PERF401  # as in select_items
        return mapped

    return run
