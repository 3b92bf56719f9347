"""cel-python's grammar as a Lark parser, analysed before and not by each process.

To analyse it takes Lark a quarter of a second, which every task with an expression would wait
for. What comes out ships with this package, for the versions of cel-python and Lark that
``scripts/generate_grammar.py`` has found; with others the grammar is analysed here.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import Lexer, TerminalDef

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLES = Path(__file__).with_name("grammar_tables.json")


class _TokenList(Lexer):
    """The lexer that Lark asks for; our tokens are ready before it parses."""

    def __init__(self, _configuration: object) -> None:
        pass

    def lex(self, tokens: Any) -> Iterator[lark.Token]:  # type: ignore[override]  # noqa: ANN401  # Lark calls a custom lexer with what parse() got
        return iter(tokens)


def load_parser(grammar: str) -> Lark:
    """Return the parser of a grammar.

    :param grammar: the text of cel-python's ``cel.lark``.
    """
    tables = json.loads(TABLES.read_text(encoding="utf-8"))
    if tables["made_from"] != _made_from(grammar):
        return analyse(grammar)
    return Lark.load(_with_numbers(tables))


def analyse(grammar: str) -> Lark:
    """Return the parser of a grammar, whatever ships with this package."""
    return Lark(
        grammar,
        parser="lalr",
        lexer=_TokenList,
        start="expr",
        propagate_positions=True,
        maybe_placeholders=False,
    )


def dump_tables(grammar: str) -> str:
    """Return what :func:`load_parser` reads, as JSON."""
    data, memo = analyse(grammar).memo_serialize([TerminalDef, Rule])
    _put_lexer(data, None)
    tables = {"made_from": _made_from(grammar), "data": data, "memo": memo}
    return json.dumps(tables, separators=(",", ":"))


def _made_from(grammar: str) -> dict[str, str]:
    return {"grammar": sha256(grammar.encode()).hexdigest(), "lark": lark.__version__}


def _with_numbers(tables: dict[str, Any]) -> dict[str, Any]:
    """Return tables as Lark has made them: JSON turns keys that are numbers into strings."""
    parser = tables["data"]["parser"]["parser"]
    parser["tokens"] = _numbered(parser["tokens"])
    states = _numbered(parser["states"])
    parser["states"] = {number: _numbered(actions) for number, actions in states.items()}
    _put_lexer(tables["data"], _TokenList)
    return {"data": tables["data"], "memo": _numbered(tables["memo"])}


def _numbered(table: dict[str, Any]) -> dict[int, Any]:
    return {int(number): value for number, value in table.items()}


def _put_lexer(data: dict[str, Any], lexer: type[Lexer] | None) -> None:
    data["options"]["lexer"] = data["parser"]["lexer_conf"]["lexer_type"] = lexer
