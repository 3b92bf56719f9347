"""From the text of one expression to code: parse, check, compile.

Brings in the parser, the checker and every function, so it is imported with the first text that
is compiled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from mantle_provider.expressions.budgets import CACHED_TEXTS
from mantle_provider.expressions.checker import check
from mantle_provider.expressions.compiler import compile_nodes
from mantle_provider.expressions.grammar import parse
from mantle_provider.expressions.lowering import lower
from mantle_provider.expressions.references import find_references
from mantle_provider.expressions.tokens import Scanner, Source
from mantle_provider.expressions.types import DYN, WORKFLOW_TYPES

if TYPE_CHECKING:
    from mantle_provider.expressions.frame import Closure
    from mantle_provider.expressions.references import Reference
    from mantle_provider.expressions.types import CelType

# Declared dotted names by root, in a form that a cache can use as a key.
Names: TypeAlias = "tuple[tuple[str, frozenset[str]], ...]"


@dataclass(frozen=True, slots=True)
class Code:
    """What an expression compiles to, wherever it stands; positions are those in its own text."""

    closure: Closure
    slot_count: int
    type: CelType
    references: tuple[Reference, ...]


@lru_cache(maxsize=CACHED_TEXTS)
def compile_code(
    expression: str, variables: frozenset[str], names: Names, *, is_checked: bool
) -> Code:
    """Compile one expression, once for all the texts that it stands in.

    :param is_checked: false leaves mistakes to run time, as CEL's conformance tests ask for.
    :raises CompileError: with its place in ``expression``.
    """
    source = Source(expression)
    tokens, end = Scanner(source, dict(names)).scan()
    syntax = lower(parse(source, tokens, end), variables)
    types = {name: WORKFLOW_TYPES.get(name, DYN) for name in variables}
    result_type = check(syntax.root, types) if is_checked else DYN
    return Code(
        compile_nodes(syntax.root), syntax.slot_count, result_type, find_references(syntax.root)
    )
