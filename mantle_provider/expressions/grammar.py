"""cel-python's grammar as our parser: tokens in, its Lark tree out, its errors in our words.

Only the grammar file of the installed cel-python is read, never the package imported: importing
celpy and building its ``Environment`` takes twice as long as building the parser alone, which
:mod:`mantle_provider.expressions.parser` spares us too; it sets the interpreter's recursion limit
and keeps state between threads.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mantle_provider.errors import ConfigurationError
from mantle_provider.expressions.faults import CompileError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lark import Lark, Tree
    from lark import Token as LarkToken
    from lark.exceptions import UnexpectedToken

    from mantle_provider.expressions.tokens import Source, Token

# Python's spelling of what CEL writes with signs.
_WORD_OPERATORS = {"and": "&&", "or": "||", "not": "!"}

# What may follow a complete value, besides operators.
_SIGNS = {",": "COMMA", ")": "RPAR", "]": "RSQB", "}": "RBRACE", ":": "COLON"}


def parse(source: Source, tokens: Sequence[Token], end: int) -> Tree[LarkToken]:
    """Return the tree of ``tokens``, as cel-python's grammar names its nodes.

    :param end: where the expression ends in the source, for the error that it is empty.
    :raises CompileError: the tokens are no expression.
    """
    from lark.exceptions import UnexpectedToken  # noqa: PLC0415  # not for an import of us

    parser, terminals = _parser()
    try:
        return parser.parse(list(_lark_tokens(source, tokens, terminals)))
    except UnexpectedToken as error:
        raise _explain(error, source, tokens, end) from None


@cache
def _parser() -> tuple[Lark, dict[str, str]]:
    """Return the parser, and the name of the terminal of each operator.

    Calling a Lark object from several threads is safe: a parse keeps its state to itself.
    """
    from mantle_provider.expressions.parser import load_parser  # noqa: PLC0415  # brings Lark

    parser = load_parser(read_grammar())
    operators = {
        str(terminal.pattern.value): terminal.name
        for terminal in parser.terminals
        if terminal.pattern.type == "str"
    }
    return parser, operators


def read_grammar() -> str:
    """Return the text of the grammar that the installed cel-python brings.

    :raises ConfigurationError: it is not installed.
    """
    package = find_spec("celpy")
    if package is None or package.origin is None:
        raise ConfigurationError('expressions need the package "cel-python"')
    return Path(package.origin).with_name("cel.lark").read_text(encoding="utf-8")


def _lark_tokens(
    source: Source, tokens: Sequence[Token], terminals: dict[str, str]
) -> Iterator[LarkToken]:
    from lark import Token as LarkToken  # noqa: PLC0415  # loaded with the parser

    for token in tokens:
        line, column = source.locate(token.start)
        end_line, end_column = source.locate(token.end)
        yield LarkToken(
            terminals.get(token.kind, token.kind),
            token.text,
            token.start,
            line,
            column,
            end_line,
            end_column,
            token.end,
        )


def _explain(
    error: UnexpectedToken, source: Source, tokens: Sequence[Token], end: int
) -> CompileError:
    """Say what was found and what was due."""
    if not tokens:
        return CompileError("the expression is empty", source.span(end, end))
    if error.token.type == "$END":
        message = f"unexpected end of expression, expected {_due(error.accepts - {'COMMA'})}"
        return CompileError(message, source.span(tokens[-1].end, tokens[-1].end))
    index = next(i for i, token in enumerate(tokens) if token.start == error.token.start_pos)
    found = tokens[index]
    nearby = [token.text for token in tokens[max(index - 1, 0) : index + 1]]
    words = [word for word in nearby if word in _WORD_OPERATORS]
    if words:
        cure = f'write "{_WORD_OPERATORS[words[0]]}" for "{words[0]}"'
    else:
        cure = f"expected {_due(error.accepts)}"
    return CompileError(
        f"unexpected {_quoted(found.text)}, {cure}", source.span(found.start, found.end)
    )


def _due(accepted: set[str]) -> str:
    """Return what may stand at a place, from the terminals that the parser would take."""
    if accepted == {"IDENT"}:
        return "a name"
    if "INT_LIT" in accepted:
        return "a value"
    signs = [f'"{sign}"' for sign, terminal in _SIGNS.items() if terminal in accepted]
    return " or ".join(signs) or "an operator or the end of the expression"


def _quoted(text: str) -> str:
    longest = 30
    short = text if len(text) <= longest else f"{text[:longest]}..."
    return short if text[0] in "\"'" else f'"{short}"'
