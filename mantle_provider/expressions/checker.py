"""What can be known to be wrong before anything runs, as cel-go's type checker finds it.

Undeclared names, unknown functions, number of arguments, member or global style, and types as far
as literals, operators and functions fix them. What comes from a context is ``dyn``. One thing is
allowed that cel-go refuses: a value of any type may be compared with ``null``, and be the other
branch of a conditional.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from mantle_provider.expressions import nodes
from mantle_provider.expressions.faults import CompileError
from mantle_provider.expressions.functions import FUNCTIONS, Overload
from mantle_provider.expressions.lowering import MACROS
from mantle_provider.expressions.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    LIST,
    NULL,
    ORDERED,
    STRING,
    TIMESTAMP,
    UINT,
    CelType,
    accepts,
    join,
    list_of,
    map_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

_NUMBERS = (INT, UINT, DOUBLE)
_SAME = {kind: ((kind, kind), kind) for kind in (*_NUMBERS, STRING, BYTES, DURATION, LIST)}
# Operand types and result type of each arithmetic operator (CEL language definition).
_ARITHMETIC: dict[str, list[tuple[tuple[CelType, ...], CelType]]] = {
    "+": [
        *_SAME.values(),
        ((TIMESTAMP, DURATION), TIMESTAMP),
        ((DURATION, TIMESTAMP), TIMESTAMP),
    ],
    "-": [
        *(_SAME[kind] for kind in (*_NUMBERS, DURATION)),
        ((TIMESTAMP, DURATION), TIMESTAMP),
        ((TIMESTAMP, TIMESTAMP), DURATION),
    ],
    "*": [_SAME[kind] for kind in _NUMBERS],
    "/": [_SAME[kind] for kind in _NUMBERS],
    "%": [_SAME[INT], _SAME[UINT]],
}
_UNARY = {"-": (INT, DOUBLE), "!": (BOOL,)}
# What is called like a function and is none of the table's.
_SPECIAL_FORMS = {name: f"list.{name}(item, ...)" for name in MACROS} | {
    "default": "default(value, fallback)",
    "has": "has(value.field)",
}
# A message lists no more names, and no more forms of a function.
_MAX_LISTED = 10
_MAX_FORMS = 3
_OTHER_SPELLINGS = {
    "True": "true",
    "TRUE": "true",
    "False": "false",
    "FALSE": "false",
} | dict.fromkeys(("None", "nil", "Null", "NULL"), "null")


def check(root: nodes.Node, variables: Mapping[str, CelType]) -> CelType:
    """Return the type of an expression.

    :param variables: the names an expression may use, with their types.
    :raises CompileError: the first mistake.
    """
    ordered = tuple(nodes.post_order(root))
    _check_functions(ordered)
    _check_names(ordered, variables)
    checker = _Checker(variables)
    for node in ordered:
        checker.types[node] = _CHECKS[type(node)](checker, node)
    return checker.types[root]


class _Checker:
    """The types found so far; each node is checked after those below it."""

    def __init__(self, variables: Mapping[str, CelType]) -> None:
        self._variables = variables
        self.types: dict[nodes.Node, CelType] = {}

    def _types_of(self, found: Iterable[nodes.Node]) -> list[CelType]:
        return [self.types[node] for node in found]

    def check_literal(self, node: nodes.Literal) -> CelType:
        return node.type

    def check_variable(self, node: nodes.Variable) -> CelType:
        return self._variables[node.name]

    def check_loop_variable(self, node: nodes.LoopVariable) -> CelType:
        return _item_type(self.types[node.target])

    def check_select(self, node: nodes.Select) -> CelType:
        operand = self.types[node.operand]
        if operand.name not in ("dyn", "map"):
            message = f'a value of type {operand} has no field "{node.field}"'
            raise CompileError(message, node.span)
        if node.is_test:
            return BOOL
        return operand.parameters[1] if operand.parameters else DYN

    def check_index(self, node: nodes.Index) -> CelType:
        operand, position = self.types[node.operand], self.types[node.index]
        if operand == DYN:
            return DYN
        if operand.name not in ("list", "map"):
            raise CompileError(f"a value of type {operand} cannot be indexed", node.span)
        due = INT if operand.name == "list" else operand.parameters[0]
        if not accepts(due, position):
            message = f"the index of a {operand} must be {due}, found {position}"
            raise CompileError(message, node.index.span)
        return operand.parameters[-1]

    def check_operation(self, node: nodes.Operation) -> CelType:
        types = self._types_of(node.operands)
        if len(types) == 1:
            result = _unary(node.operator, *types)
        elif node.operator in _ARITHMETIC:
            result = _arithmetic(node.operator, *types)
        else:
            result = _comparison(node.operator, *types)
        if result is None:
            found = " and ".join(map(str, types))
            raise CompileError(f'"{node.operator}" is not defined for {found}', node.span)
        return result

    def check_logic(self, node: nodes.Logic) -> CelType:
        for term, found in zip(node.terms, self._types_of(node.terms), strict=True):
            if not accepts(BOOL, found):
                message = f'"{node.operator}" needs bool on both sides, found {found}'
                raise CompileError(message, term.span)
        return BOOL

    def check_conditional(self, node: nodes.Conditional) -> CelType:
        condition = self.types[node.condition]
        if not accepts(BOOL, condition):
            message = f'the condition before "?" must be bool, found {condition}'
            raise CompileError(message, node.condition.span)
        positive, negative = self.types[node.positive], self.types[node.negative]
        if NULL not in (positive, negative) and not accepts(positive, negative):
            message = f'both sides of ":" must have one type, found {positive} and {negative}'
            raise CompileError(message, node.span)
        return join([positive, negative])

    def check_list(self, node: nodes.ListLiteral) -> CelType:
        return list_of(join(self._types_of(node.items)))

    def check_map(self, node: nodes.MapLiteral) -> CelType:
        keys = self._types_of(node.keys)
        for key, found in zip(node.keys, keys, strict=True):
            if found not in (DYN, STRING, INT, UINT, BOOL, DOUBLE):
                raise CompileError(f"a map key cannot be {found}", key.span)
        return map_of(join(keys), join(self._types_of(node.values)))

    def check_macro(self, node: nodes.Macro) -> CelType:
        target = self.types[node.target]
        if target.name not in ("dyn", "list", "map"):
            message = f"{node.name}() needs a list or a map before the dot, found {target}"
            raise CompileError(message, node.span)
        if node.condition is not None:
            self._check_predicate(node, node.condition)
        if node.name != "map":
            self._check_predicate(node, node.body)
            is_filter = node.name == "filter"
            return list_of(_item_type(target)) if is_filter else BOOL
        return list_of(self.types[node.body])

    def _check_predicate(self, node: nodes.Macro, predicate: nodes.Node) -> None:
        found = self.types[predicate]
        if not accepts(BOOL, found):
            message = f"the condition of {node.name}() must be bool, found {found}"
            raise CompileError(message, predicate.span)

    def check_call(self, node: nodes.Call) -> CelType:
        types = self._types_of(node.arguments)
        if node.name == "default":
            if len(types) != 2:  # noqa: PLR2004  # default(value, fallback)
                message = f"default() takes 2 arguments, found {len(types)}"
                raise CompileError(message, node.span)
            return join(types)
        return _resolve(node, FUNCTIONS[node.name], types)


def _suggestion(name: str, known: Collection[str]) -> str:
    """Return what to try instead of an unknown name, as the end of a message."""
    near = get_close_matches(name, sorted(known), n=1)
    lower = [other for other in known if other.lower() == name.lower()]
    if lower or near:
        return f'; did you mean "{(lower or near)[0]}"?'
    if 0 < len(known) <= _MAX_LISTED:
        return f"; known are {', '.join(sorted(known))}"
    return ""


def _check_functions(ordered: Iterable[nodes.Node]) -> None:
    for node in ordered:
        if not isinstance(node, nodes.Call) or node.name in FUNCTIONS:
            continue
        if node.name == "default" and not node.is_member:
            continue
        form = _SPECIAL_FORMS.get(node.name)
        if form is not None:
            raise CompileError(f'"{node.name}" must be called as {form}', node.span)
        known = [*FUNCTIONS, *_SPECIAL_FORMS]
        message = f'unknown function "{node.name}"{_suggestion(node.name, known)}'
        raise CompileError(message, node.span)


def _check_names(ordered: Sequence[nodes.Node], variables: Collection[str]) -> None:
    # From the outermost, which spells the longest name.
    for node in reversed(ordered):
        name = _hyphenated_name(node)
        if name is not None:
            message = f'unknown name "{name}"; a name with a hyphen is written ["{name}"]'
            raise CompileError(message, node.span)
    for node in ordered:
        if isinstance(node, nodes.Unknown):
            raise CompileError(_unknown_name(node.name, variables), node.span)


def _hyphenated_name(node: nodes.Node) -> str | None:
    """Return ``fetch-data`` for ``steps.fetch-data.x``: no minus is meant.

    Such a subtraction has no blanks, and what stands on its right is an unknown name, or a
    number with a field.
    """
    match node:
        case nodes.Operation("-", (left, right)):
            start = right
            while isinstance(start, nodes.Select | nodes.Index):
                start = start.operand
            before = left.field if isinstance(left, nodes.Select) else _hyphenated_name(left)
            is_unspaced = start.span.column == node.span.end_column
            match start:
                case nodes.Unknown(after) if before and is_unspaced:
                    return f"{before}-{after}"
                case nodes.Literal(int() as after) if before and is_unspaced and start is not right:
                    return f"{before}-{after}"
    return None


def _unknown_name(name: str, variables: Collection[str]) -> str:
    spelling = _OTHER_SPELLINGS.get(name)
    if spelling is not None:
        return f'unknown name "{name}"; did you mean "{spelling}"?'
    if name in FUNCTIONS:
        return f'"{name}" is a function, call it as {_forms(name)}'
    return f'unknown name "{name}"{_suggestion(name, variables)}'


def _item_type(target: CelType) -> CelType:
    """Return the type of what a macro goes through: items of a list, keys of a map."""
    return target.parameters[0] if target.parameters else DYN


def _unary(operator: str, operand: CelType) -> CelType | None:
    """Return the type of the result, or None where the operator is not defined."""
    results = [kind for kind in _UNARY[operator] if accepts(kind, operand)]
    return join(results) if results else None


def _arithmetic(operator: str, left: CelType, right: CelType) -> CelType | None:
    """Return the type of the result, or None where the operator is not defined."""
    results = [
        result
        for (first, second), result in _ARITHMETIC[operator]
        if accepts(first, left) and accepts(second, right)
    ]
    if results == [LIST] and left.parameters and right.parameters:
        return list_of(join([*left.parameters, *right.parameters]))
    return join(results) if results else None


def _comparison(operator: str, left: CelType, right: CelType) -> CelType | None:
    """Return bool, or None where the operator is not defined."""
    match operator:
        case "==" | "!=":
            is_defined = NULL in (left, right) or accepts(left, right)
        case "in":
            is_container = right.name in ("list", "map") and accepts(right.parameters[0], left)
            is_defined = right == DYN or is_container
        case _:
            is_ordered = ORDERED.issuperset({left, right} - {DYN})
            is_defined = is_ordered and accepts(left, right)
    return BOOL if is_defined else None


def _resolve(node: nodes.Call, overloads: tuple[Overload, ...], types: list[CelType]) -> CelType:
    styled = [overload for overload in overloads if overload.is_member == node.is_member]
    if not styled:
        raise CompileError(f'"{node.name}" must be called as {_forms(node.name)}', node.span)
    sized = [overload for overload in styled if len(overload.parameters) == len(types)]
    if not sized:
        skipped = 1 if node.is_member else 0
        counts = sorted({len(overload.parameters) - skipped for overload in styled})
        noun = "argument" if counts == [1] else "arguments"
        message = f"{node.name}() takes {_listed(counts)} {noun}, found {len(types) - skipped}"
        raise CompileError(message, node.span)
    results = [
        overload.result for overload in sized if all(map(accepts, overload.parameters, types))
    ]
    if not results:
        found = ", ".join(map(str, types))
        message = f"{node.name}() cannot take ({found}); it is {_forms(node.name)}"
        raise CompileError(message, node.span)
    return join(results)


def _forms(name: str) -> str:
    forms = []
    for overload in FUNCTIONS[name][:_MAX_FORMS]:
        before = f"{overload.parameters[0]}." if overload.is_member else ""
        arguments = overload.parameters[1:] if overload.is_member else overload.parameters
        forms.append(f"{before}{name}({', '.join(map(str, arguments))})")
    more = " and more" if len(FUNCTIONS[name]) > _MAX_FORMS else ""
    return f"{' or '.join(forms)}{more}"


def _listed(counts: list[int]) -> str:
    *others, last = map(str, counts)
    return f"{', '.join(others)} or {last}" if others else last


_CHECKS: dict[type[nodes.Node], Callable[[_Checker, Any], CelType]] = {
    nodes.Literal: _Checker.check_literal,
    nodes.Variable: _Checker.check_variable,
    nodes.LoopVariable: _Checker.check_loop_variable,
    nodes.Select: _Checker.check_select,
    nodes.Index: _Checker.check_index,
    nodes.Call: _Checker.check_call,
    nodes.Operation: _Checker.check_operation,
    nodes.Logic: _Checker.check_logic,
    nodes.Conditional: _Checker.check_conditional,
    nodes.ListLiteral: _Checker.check_list,
    nodes.MapLiteral: _Checker.check_map,
    nodes.Macro: _Checker.check_macro,
}
