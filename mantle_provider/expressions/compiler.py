"""From nodes to closures, which take the frame of one evaluation and return an adopted value.

A closure calls those of the nodes below it; the tree is never looked at again. Operators and
functions raise without a position, and the closure that called them adds its node's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.expressions import macros, nodes, operators
from mantle_provider.expressions.faults import EvaluationError, Span
from mantle_provider.expressions.functions import FUNCTIONS, call
from mantle_provider.expressions.values import Value, adopt, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mantle_provider.expressions.frame import Closure, Frame


def compile_nodes(root: nodes.Node) -> Closure:
    """Return the closure of an expression."""
    closures: dict[nodes.Node, Closure] = {}
    for node in nodes.post_order(root):
        below = [closures[child] for child in node.children]
        closures[node] = _COMPILERS[type(node)](node, *below)
    return closures[root]


def _located(error: EvaluationError, span: Span) -> EvaluationError:
    """Add a position, unless the error comes from a node further down."""
    error.span = error.span or span
    return error


def _literal(node: nodes.Literal) -> Closure:
    value = node.value
    return lambda _frame: value


def _variable(node: nodes.Variable) -> Closure:
    name, span = node.name, node.span

    def run(frame: Frame) -> Value:
        try:
            value = frame.context[name]
        except KeyError:
            raise EvaluationError(f'"{name}" has no value here', span) from None
        return adopt(value)

    return run


def _unknown(node: nodes.Unknown) -> Closure:
    def run(_frame: Frame) -> Value:
        raise EvaluationError(f'unknown name "{node.name}"', node.span)

    return run


def _loop_variable(node: nodes.LoopVariable) -> Closure:
    slot = node.slot
    return lambda frame: frame.slots[slot]


def _select(node: nodes.Select, operand: Closure) -> Closure:
    function = operators.has_field if node.is_test else operators.select
    return _field(function, operand, node.field, node.span)


def _field(
    function: Callable[[Value, str], Value], operand: Closure, field: str, span: Span
) -> Closure:

    def run(frame: Frame) -> Value:
        value = operand(frame)
        try:
            return function(value, field)
        except EvaluationError as error:
            raise _located(error, span) from None

    return run


def _index(node: nodes.Index, operand: Closure, index: Closure) -> Closure:
    if isinstance(node.index, nodes.Literal) and type(node.index.value) is str:
        # The text itself names the key, so an error may.
        return _field(operators.select, operand, node.index.value, node.index.span)
    return _binary(operators.index, operand, index, node.index.span)


def _operation(node: nodes.Operation, *operands: Closure) -> Closure:
    if len(operands) == 1:
        return _unary(operators.UNARY[node.operator], operands[0], node.span)
    left, right = operands
    return _binary(operators.BINARY[node.operator], left, right, node.span)


def _unary(function: Callable[[Value], Value], operand: Closure, span: Span) -> Closure:
    def run(frame: Frame) -> Value:
        value = operand(frame)
        try:
            return function(value)
        except EvaluationError as error:
            raise _located(error, span) from None

    return run


def _binary(
    function: Callable[[Value, Value], Value], left: Closure, right: Closure, span: Span
) -> Closure:
    def run(frame: Frame) -> Value:
        one, another = left(frame), right(frame)
        try:
            return function(one, another)
        except EvaluationError as error:
            raise _located(error, span) from None

    return run


def _logic(node: nodes.Logic, *closures: Closure) -> Closure:
    """Compile a chain that any decisive term decides, before or after a term that fails."""
    terms = list(zip(closures, [term.span for term in node.terms], strict=True))
    operator = node.operator
    decisive = operator == "||"

    def run(frame: Frame) -> bool:
        failure: EvaluationError | None = None
        for term, span in terms:
            try:
                value = term(frame)
            except EvaluationError as error:
                failure = failure or error
                continue
            if type(value) is not bool:
                message = f'"{operator}" needs bool on both sides, found {kind_of(value)}'
                failure = failure or EvaluationError(message, span)
            elif value is decisive:
                return decisive
        if failure is not None:
            raise failure
        return not decisive

    return run


def _conditional(
    node: nodes.Conditional, condition: Closure, positive: Closure, negative: Closure
) -> Closure:
    span = node.condition.span

    def run(frame: Frame) -> Value:
        verdict = condition(frame)
        if type(verdict) is not bool:
            message = f'the condition before "?" must be bool, found {kind_of(verdict)}'
            raise EvaluationError(message, span)
        return positive(frame) if verdict else negative(frame)

    return run


def _list(_node: nodes.ListLiteral, *items: Closure) -> Closure:
    def run(frame: Frame) -> list[Value]:
        values = []
        for item in items:
            values.append(item(frame))  # noqa: PERF401  # a comprehension is a frame of its own before Python 3.12, and depth is counted in frames
        return values

    return run


def _map(node: nodes.MapLiteral, *closures: Closure) -> Closure:
    count = len(node.keys)
    items = list(
        zip(closures[:count], closures[count:], [key.span for key in node.keys], strict=True)
    )

    def run(frame: Frame) -> dict[Value, Value]:
        result = {}
        for key, value, span in items:
            name = key(frame)
            kind = kind_of(name)
            if kind not in ("string", "int", "uint", "bool", "double"):
                raise EvaluationError(f"a map key cannot be {kind}", span)
            result[name] = value(frame)
        return result

    return run


def _macro(node: nodes.Macro, target: Closure, *closures: Closure) -> Closure:
    loop = macros.Loop(node.name, target, node.variable.slot, node.span)
    match node.name:
        case "all" | "exists":
            return macros.quantifier(loop, *closures, decisive=node.name == "exists")
        case "exists_one":
            return macros.exists_one(loop, *closures)
        case "filter":
            return macros.select_items(loop, *closures)
    *condition, body = closures
    return macros.map_items(loop, body, *condition)


def _call(node: nodes.Call, *arguments: Closure) -> Closure:
    if node.name == "default" and not node.is_member and len(arguments) == 2:  # noqa: PLR2004  # default(value, fallback)
        return _default(*arguments)
    name, span = node.name, node.span
    overloads = tuple(
        overload
        for overload in FUNCTIONS.get(name, ())
        if overload.is_member == node.is_member and len(overload.parameters) == len(arguments)
    )

    def run(frame: Frame) -> Value:
        values = []
        for argument in arguments:
            values.append(argument(frame))  # noqa: PERF401  # as in _list
        try:
            return call(name, overloads, values)
        except EvaluationError as error:
            raise _located(error, span) from None

    return run


def _default(value: Closure, fallback: Closure) -> Closure:
    """Compile Mantle's ``default``: any run-time error and null yield the fallback."""

    def run(frame: Frame) -> Value:
        try:
            found = value(frame)
        except EvaluationError:
            found = None
        return fallback(frame) if found is None else found

    return run


_COMPILERS: dict[type[nodes.Node], Callable[..., Closure]] = {
    nodes.Literal: _literal,
    nodes.Variable: _variable,
    nodes.Unknown: _unknown,
    nodes.LoopVariable: _loop_variable,
    nodes.Select: _select,
    nodes.Index: _index,
    nodes.Call: _call,
    nodes.Operation: _operation,
    nodes.Logic: _logic,
    nodes.Conditional: _conditional,
    nodes.ListLiteral: _list,
    nodes.MapLiteral: _map,
    nodes.Macro: _macro,
}
