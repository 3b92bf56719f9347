"""Trees laid over one another: what one mapping does not give, another one adds. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from mantle_provider.source.document import Node, SourceDocument
    from mantle_provider.source.span import Path


def overlay(
    own: Node, below: Node, document: SourceDocument, *, by_key: Collection[str] = ()
) -> Node:
    """Return ``own`` with the entries of ``below`` that it lacks.

    A key that is there wins, even when it has no value. What is no mapping is left as it is.

    :param document: where ``below`` stands, unless its nodes say otherwise.
    :param by_key: the keys whose values, when both are mappings, are laid over one another, too.
    """
    if not isinstance(own.value, dict) or not isinstance(below.value, dict):
        return own
    added: dict[str, Node] = {}
    for name in below.value:
        mine, theirs = own.children.get(name), below.children[name]
        theirs = replace(theirs, source=theirs.source or below.source or document, include=None)
        if mine is None:
            added[name] = theirs
        elif name in by_key and theirs.source is not None:
            merged = overlay(mine, theirs, theirs.source)
            if merged is not mine:
                own = put(own, name, merged)
    if not added:
        return own
    sources = below.key_sources or {}
    return replace(
        own,
        value={**own.value, **{name: node.value for name, node in added.items()}},
        children={**own.children, **dict(added.items())},
        key_spans={**own.key_spans, **{name: below.key_spans[name] for name in added}},
        key_sources={
            **(own.key_sources or {}),
            **{name: sources.get(name, below.source or document) for name in added},
        },
    )


def put(node: Node, key: str | int, child: Node) -> Node:
    """Return a mapping or a list with another value in the place of one that it has."""
    value: Any = dict(node.value) if isinstance(node.value, dict) else list(node.value)
    value[key] = child.value
    return replace(node, value=value, children={**node.children, key: child})


def without(node: Node, key: str) -> Node:
    """Return a mapping without one of its keys."""
    if not isinstance(node.value, dict) or key not in node.value:
        return node
    return replace(
        node,
        value={name: value for name, value in node.value.items() if name != key},
        children={name: child for name, child in node.children.items() if name != key},
    )


def change(node: Node, path: Path, function: Callable[[Node], Node]) -> Node:
    """Return a tree with another value at ``path``; the same tree when there is none there."""
    if not path:
        return function(node)
    child = node.children.get(path[0])
    if child is None:
        return node
    changed = change(child, path[1:], function)
    return node if changed is child else put(node, path[0], changed)
