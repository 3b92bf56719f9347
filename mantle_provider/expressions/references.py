"""What an expression reads from its context, so that a workflow can be checked before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mantle_provider.expressions import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Reference:
    """One path into the context, for example ``steps["fetch"].output.items[0]``.

    :param root: the variable, for example ``steps``.
    :param path: keys and indexes below it, in order; ``None`` where the key is computed.
    :param line: where the root stands in the compiled text, from 1.
    :param column: from 1, in code points.
    :param end_column: after the last part of the path that stands in the same line.
    :param is_guarded: below ``has(...)`` or in the first argument of ``default(...)``, where
        something missing is no error.
    """

    root: str
    path: tuple[str | int | None, ...]
    line: int
    column: int
    end_column: int
    is_guarded: bool


def find_references(root: nodes.Node) -> tuple[Reference, ...]:
    """Return the references below ``root`` in the order of their positions."""
    found = _walk(root, is_guarded=False)
    return tuple(sorted(found, key=lambda reference: (reference.line, reference.column)))


def _walk(root: nodes.Node, *, is_guarded: bool) -> Iterator[Reference]:
    pending = [(root, is_guarded)]
    while pending:
        node, guarded = pending.pop()
        guarded = guarded or (isinstance(node, nodes.Select) and node.is_test)
        if isinstance(node, nodes.Variable | nodes.Select | nodes.Index):
            path, start, indexes = _path(node)
            pending.extend((index, guarded) for index in indexes)
            if isinstance(start, nodes.Variable):
                yield _reference(start, path, node, is_guarded=guarded)
            else:
                pending.append((start, guarded))
        elif isinstance(node, nodes.Call) and node.name == "default":
            value, *fallback = node.arguments
            pending.append((value, True))
            pending.extend((child, guarded) for child in fallback)
        else:
            pending.extend((child, guarded) for child in node.children)


def _path(
    node: nodes.Node,
) -> tuple[tuple[str | int | None, ...], nodes.Node, list[nodes.Node]]:
    """Return the path to ``node``, what it starts from, and the computed indexes in it."""
    parts: list[str | int | None] = []
    indexes: list[nodes.Node] = []
    while isinstance(node, nodes.Select | nodes.Index):
        if isinstance(node, nodes.Select):
            parts.append(node.field)
        elif isinstance(node.index, nodes.Literal) and type(node.index.value) in (str, int):
            parts.append(node.index.value)
        else:
            parts.append(None)
            indexes.append(node.index)
        node = node.operand
    return tuple(reversed(parts)), node, indexes


def _reference(
    start: nodes.Variable,
    path: tuple[str | int | None, ...],
    last: nodes.Node,
    *,
    is_guarded: bool,
) -> Reference:
    span = start.span
    end_column = span.end_column
    if last.span.line == span.line:
        end_column = max(end_column, last.span.end_column)
    return Reference(start.name, path, span.line, span.column, end_column, is_guarded)
