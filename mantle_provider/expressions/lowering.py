"""From cel-python's Lark tree to our nodes: wrappers gone, macros seen, names resolved."""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

from mantle_provider.expressions import nodes, types
from mantle_provider.expressions.budgets import MAX_TREE_DEPTH
from mantle_provider.expressions.faults import CompileError, Span
from mantle_provider.expressions.literals import read_literal
from mantle_provider.expressions.values import TYPE_VALUES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from lark import Tree

# Number of arguments of each macro after its target (CEL language definition, "Macros").
MACROS = {"all": (2,), "exists": (2,), "exists_one": (2,), "filter": (2,), "map": (2, 3)}

_RESERVED_WORDS = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    ]
)
_LOGIC = {"conditionalor": "||", "conditionaland": "&&"}

Scope = dict[str, nodes.LoopVariable]


def lower(tree: Tree[Any], variables: Collection[str]) -> nodes.Syntax:
    """Return the nodes of a Lark tree.

    :param variables: names an expression may use; a name with dots is one variable.
    :raises CompileError: too deep a tree, a wrong macro, an object, a wrong literal.
    """
    _check_depth(tree)
    lowering = _Lowering(variables)
    root = lowering.lower(tree, {})
    return nodes.Syntax(root, lowering.slot_count)


def _check_depth(tree: Tree[Any]) -> None:
    """Refuse what is too deep, without recursion: lowering and evaluation recurse."""
    pending = [(tree, 1)]
    while pending:
        subtree, depth = pending.pop()
        inner = _unwrap(subtree)
        if depth > MAX_TREE_DEPTH:
            message = f"the expression is nested more than {MAX_TREE_DEPTH} levels deep"
            raise CompileError(message, _span(inner))
        for child in inner.children:
            if hasattr(child, "children"):
                is_chain = inner.data in _LOGIC and child.data == inner.data
                is_part = child.data in _PARTS
                pending.append((child, depth if is_chain or is_part else depth + 1))


# Nodes that belong to the node above them: lists of arguments, and operators with their left side.
_PARTS = frozenset(
    ["exprlist", "mapinits", "fieldinits", "unary_not", "unary_neg"]
    + [f"relation_{name}" for name in ("lt", "le", "gt", "ge", "eq", "ne", "in")]
    + ["addition_add", "addition_sub"]
    + ["multiplication_mul", "multiplication_div", "multiplication_mod"]
)
_OPERATORS = {
    "relation_lt": "<",
    "relation_le": "<=",
    "relation_gt": ">",
    "relation_ge": ">=",
    "relation_eq": "==",
    "relation_ne": "!=",
    "relation_in": "in",
    "addition_add": "+",
    "addition_sub": "-",
    "multiplication_mul": "*",
    "multiplication_div": "/",
    "multiplication_mod": "%",
    "unary_not": "!",
    "unary_neg": "-",
}
_WRAPPERS = frozenset(
    [
        "expr",
        "conditionalor",
        "conditionaland",
        "relation",
        "addition",
        "multiplication",
        "unary",
        "member",
        "primary",
    ]
)


def _unwrap(tree: Tree[Any]) -> Tree[Any]:
    while tree.data in _WRAPPERS and len(tree.children) == 1:
        tree = tree.children[0]
    return tree


def _span(tree: Tree[Any]) -> Span:
    meta = tree.meta
    end_column = meta.end_column if meta.end_line == meta.line else meta.column + 1
    return Span(meta.line, meta.column, end_column)


def _token_span(token: Any) -> Span:  # noqa: ANN401  # a Lark token, imported lazily
    return Span(token.line, token.column, token.column + (token.end_pos - token.start_pos))


def _items(lists: list[Any]) -> list[Any]:
    """Return the trees below an exprlist or mapinits that may be absent."""
    return lists[0].children if lists else []


def _rule(tree: Tree[Any]) -> str:
    """Return the grammar's name of a node, or ``has`` or ``macro`` for a call that is one."""
    if tree.data == "member_dot_arg" and str(tree.children[1]) in MACROS:
        return "macro"
    if tree.data == "ident_arg" and str(tree.children[0]) == "has":
        return "has"
    return str(tree.data)


class _Lowering:
    """One pass over one tree.

    Two Python frames for each level: ``map`` has none of its own, a helper or a comprehension
    would be a third.
    """

    def __init__(self, variables: Collection[str]) -> None:
        self._variables = variables
        self._open_loops = 0
        self.slot_count = 0

    def lower(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        inner = _unwrap(tree)
        return _LOWERINGS[_rule(inner)](self, inner, scope)

    def lower_expr(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        condition, positive, negative = tree.children
        return nodes.Conditional(
            self.lower(condition, scope),
            self.lower(positive, scope),
            self.lower(negative, scope),
            span=_span(tree),
        )

    def lower_logic(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        terms = []
        chain = tree
        while len(chain.children) > 1:
            terms.append(self.lower(chain.children[1], scope))
            chain = chain.children[0]
        terms.append(self.lower(chain, scope))
        return nodes.Logic(_LOGIC[tree.data], tuple(reversed(terms)), span=_span(tree))

    def lower_binary(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        left, right = tree.children
        operator = _OPERATORS[left.data]
        # The operator is no node of its own; it is the last thing in its left side.
        meta = left.meta
        column = meta.end_column - len(operator)
        return nodes.Operation(
            operator,
            (self.lower(left.children[0], scope), self.lower(right, scope)),
            span=Span(meta.end_line, column, meta.end_column),
        )

    def lower_unary(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        sign, operand = tree.children
        return nodes.Operation(
            _OPERATORS[sign.data], (self.lower(operand, scope),), span=_span(sign)
        )

    def lower_paren(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        return self.lower(tree.children[0], scope)

    def lower_literal(self, tree: Tree[Any], _scope: Scope) -> nodes.Node:
        token: Any = tree.children[0]
        try:
            value, cel_type = read_literal(token.type, str(token))
        except ValueError as error:
            raise CompileError(str(error), _span(tree)) from None
        return nodes.Literal(value, cel_type, span=_span(tree))

    def lower_list(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        return nodes.ListLiteral(
            tuple(map(self.lower, _items(tree.children), repeat(scope))), span=_span(tree)
        )

    def lower_map(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        items = tuple(map(self.lower, _items(tree.children), repeat(scope)))
        return nodes.MapLiteral(items[::2], items[1::2], span=_span(tree))

    def lower_object(self, tree: Tree[Any], _scope: Scope) -> nodes.Node:
        raise CompileError("there are no object types, write a map", _span(tree))

    def lower_index(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        operand, index = tree.children
        return nodes.Index(self.lower(operand, scope), self.lower(index, scope), span=_span(tree))

    def lower_name(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        name, span = str(tree.children[0]), _span(tree)
        if tree.data == "ident" and name in scope:
            return replace(scope[name], span=span)
        if name in _RESERVED_WORDS:
            raise CompileError(f'"{name}" is a reserved word', span)
        return self._resolve(name, span) or nodes.Unknown(name, span=span)

    def _resolve(self, name: str, span: Span) -> nodes.Node | None:
        if name in self._variables:
            return nodes.Variable(name, span=span)
        if name in TYPE_VALUES:
            return nodes.Literal(TYPE_VALUES[name], types.TYPE, span=span)
        return None

    def lower_select(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        """Lower ``a.b``; the longest dotted name that is declared is one name."""
        qualified = _qualified_name(tree)
        if qualified is not None and (
            qualified[0] == "." or qualified.partition(".")[0] not in scope
        ):
            resolved = self._resolve(qualified.lstrip("."), _span(tree))
            if resolved is not None:
                return resolved
        operand, field = tree.children
        return nodes.Select(self.lower(operand, scope), str(field), span=_token_span(field))

    def lower_global_call(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        name, *lists = tree.children
        arguments = tuple(map(self.lower, _items(lists), repeat(scope)))
        return nodes.Call(str(name), arguments, span=_token_span(name))

    def lower_has(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        _, *lists = tree.children
        arguments = tuple(map(self.lower, _items(lists), repeat(scope)))
        if len(arguments) != 1 or not isinstance(arguments[0], nodes.Select):
            raise CompileError("has() takes one field, such as has(inputs.name)", _span(tree))
        field = arguments[0]
        return nodes.Select(field.operand, field.field, is_test=True, span=field.span)

    def lower_member_call(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        target, name, *lists = tree.children
        operand = self.lower(target, scope)
        arguments = (operand, *map(self.lower, _items(lists), repeat(scope)))
        return nodes.Call(str(name), arguments, is_member=True, span=_token_span(name))

    def lower_macro(self, tree: Tree[Any], scope: Scope) -> nodes.Node:
        target, name_token, *lists = tree.children
        name, span, arguments = str(name_token), _token_span(name_token), _items(lists)
        if len(arguments) not in MACROS[name]:
            due = " or ".join(map(str, MACROS[name]))
            message = f"{name}() takes {due} arguments, the first of them a name"
            raise CompileError(f"{message}; found {len(arguments)}", span)
        operand = self.lower(target, scope)
        variable = _loop_variable(_unwrap(arguments[0]), name, self._open_loops, operand)
        inner = {**scope, variable.name: variable}
        self._open_loops += 1
        self.slot_count = max(self.slot_count, self._open_loops)
        condition = (
            self.lower(arguments[1], inner) if len(arguments) == max(MACROS["map"]) else None
        )
        body = self.lower(arguments[-1], inner)
        self._open_loops -= 1
        return nodes.Macro(name, operand, variable, body, condition, span=span)


def _loop_variable(
    tree: Tree[Any], macro: str, slot: int, target: nodes.Node
) -> nodes.LoopVariable:
    if tree.data != "ident":
        raise CompileError(f"the first argument of {macro}() must be a name", _span(tree))
    return nodes.LoopVariable(str(tree.children[0]), slot, target, span=_span(tree))


def _qualified_name(tree: Tree[Any]) -> str | None:
    """Return ``a.b.c`` for a chain of names, with a dot in front where the text has one."""
    fields: list[str] = []
    while tree.data == "member_dot":
        fields.append(str(tree.children[1]))
        tree = _unwrap(tree.children[0])
    if tree.data not in ("ident", "dot_ident"):
        return None
    root = str(tree.children[0])
    name = ".".join([root, *reversed(fields)])
    return name if tree.data == "ident" else f".{name}"


_LOWERINGS: dict[str, Callable[[_Lowering, Tree[Any], Scope], nodes.Node]] = {
    "expr": _Lowering.lower_expr,
    "conditionalor": _Lowering.lower_logic,
    "conditionaland": _Lowering.lower_logic,
    "relation": _Lowering.lower_binary,
    "addition": _Lowering.lower_binary,
    "multiplication": _Lowering.lower_binary,
    "unary": _Lowering.lower_unary,
    "paren_expr": _Lowering.lower_paren,
    "literal": _Lowering.lower_literal,
    "list_lit": _Lowering.lower_list,
    "map_lit": _Lowering.lower_map,
    "ident": _Lowering.lower_name,
    "dot_ident": _Lowering.lower_name,
    "has": _Lowering.lower_has,
    "macro": _Lowering.lower_macro,
    "ident_arg": _Lowering.lower_global_call,
    "dot_ident_arg": _Lowering.lower_global_call,
    "member_dot": _Lowering.lower_select,
    "member_dot_arg": _Lowering.lower_member_call,
    "member_index": _Lowering.lower_index,
    "member_object": _Lowering.lower_object,
}
