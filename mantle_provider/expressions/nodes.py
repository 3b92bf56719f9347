"""The syntax tree that checker and compiler read: cel-python's tree without its wrappers.

Macros are nodes, names are resolved, literals are values. Nodes compare by identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.expressions.faults import Span
    from mantle_provider.expressions.types import CelType


@dataclass(eq=False, slots=True, kw_only=True)
class Node:
    """Any expression."""

    span: Span
    child_fields: ClassVar[tuple[str, ...]] = ()

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes directly below, in the order of the text."""
        found: list[Node] = []
        for name in self.child_fields:
            value = getattr(self, name)
            found += value if isinstance(value, tuple) else [value] if value is not None else []
        return tuple(found)


@dataclass(eq=False, slots=True)
class Literal(Node):
    """A value written in the text."""

    value: Any
    type: CelType


@dataclass(eq=False, slots=True)
class Variable(Node):
    """A value of the context."""

    name: str


@dataclass(eq=False, slots=True)
class Unknown(Node):
    """A name that nothing declares: an error of the checker, or at run time without it."""

    name: str


@dataclass(eq=False, slots=True)
class LoopVariable(Node):
    """The item of an enclosing macro over ``target``; ``slot`` is its place in the frame."""

    name: str
    slot: int
    target: Node


@dataclass(eq=False, slots=True)
class Select(Node):
    """``operand.field``; with ``is_test`` the macro ``has(operand.field)``."""

    child_fields = ("operand",)

    operand: Node
    field: str
    is_test: bool = False


@dataclass(eq=False, slots=True)
class Index(Node):
    """``operand[index]``."""

    child_fields = ("operand", "index")

    operand: Node
    index: Node


@dataclass(eq=False, slots=True)
class Call(Node):
    """A function; with ``is_member`` the first argument stands before the dot."""

    child_fields = ("arguments",)

    name: str
    arguments: tuple[Node, ...]
    is_member: bool = False


@dataclass(eq=False, slots=True)
class Operation(Node):
    """A unary or binary operator other than ``&&`` and ``||``."""

    child_fields = ("operands",)

    operator: str
    operands: tuple[Node, ...]


@dataclass(eq=False, slots=True)
class Logic(Node):
    """A chain of ``&&`` or of ``||``, flat: a long one is not a deep tree."""

    child_fields = ("terms",)

    operator: str
    terms: tuple[Node, ...]


@dataclass(eq=False, slots=True)
class Conditional(Node):
    """``condition ? positive : negative``."""

    child_fields = ("condition", "positive", "negative")

    condition: Node
    positive: Node
    negative: Node


@dataclass(eq=False, slots=True)
class ListLiteral(Node):
    """``[items]``."""

    child_fields = ("items",)

    items: tuple[Node, ...]


@dataclass(eq=False, slots=True)
class MapLiteral(Node):
    """``{keys: values}``."""

    child_fields = ("keys", "values")

    keys: tuple[Node, ...]
    values: tuple[Node, ...]


@dataclass(eq=False, slots=True)
class Macro(Node):
    """``target.name(variable, body)``, for ``map`` also ``(variable, condition, body)``."""

    child_fields = ("target", "condition", "body")

    name: str
    target: Node
    variable: LoopVariable
    body: Node
    condition: Node | None = None


@dataclass(slots=True)
class Syntax:
    """A whole expression: its root, and how many loop variables are alive at once."""

    root: Node
    slot_count: int


def post_order(root: Node) -> Iterator[Node]:
    """Yield every node after those below it, in the order of the text, without recursion."""
    pending = [(root, False)]
    while pending:
        node, is_ready = pending.pop()
        if is_ready:
            yield node
        else:
            pending.append((node, True))
            pending.extend((child, False) for child in reversed(node.children))
