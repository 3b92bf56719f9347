"""The tables that ship with the package say what cel-python's grammar says."""

from __future__ import annotations

import json
from pathlib import Path

import lark
import pytest

from mantle_provider.expressions import grammar, parser
from mantle_provider.expressions.faults import CompileError
from mantle_provider.expressions.tokens import Scanner, Source

SPECIFICATION = Path(__file__).parents[2] / "data" / "cel" / "cel_spec.jsonl"
GRAMMAR = grammar.read_grammar()


@pytest.fixture
def no_analysis(monkeypatch):
    def fail(_grammar):
        raise AssertionError("the grammar is analysed although its tables are there")

    monkeypatch.setattr(parser, "analyse", fail)


def outcome(of, tokens):
    """Return the tree of some tokens, flat, or where it ends and what could have stood there."""
    try:
        tree = of.parse(tokens)
    except lark.UnexpectedToken as error:
        return error.token, error.accepts
    # Flat, since trees of some expressions are too deep to be compared.
    return [
        (
            part.data,
            [child.data if isinstance(child, lark.Tree) else child for child in part.children],
        )
        for part in tree.iter_subtrees_topdown()
    ]


def iterate_tokens():
    """Yield the tokens of each expression of the specification, whole and without the second."""
    _, terminals = grammar._parser()
    for line in SPECIFICATION.read_text(encoding="utf-8").splitlines():
        source = Source(json.loads(line)["expr"])
        try:
            tokens, _ = Scanner(source, {}).scan()
        except CompileError:
            continue
        whole = list(grammar._lark_tokens(source, tokens, terminals))
        yield whole
        yield [*whole[:1], *whole[2:]]


def test_the_tables_are_those_of_the_pinned_versions(no_analysis):
    """If not, run ``scripts/generate_grammar.py``."""
    assert parser.load_parser(GRAMMAR).terminals


def test_the_tables_parse_as_the_grammar_says():
    loaded, analysed = parser.load_parser(GRAMMAR), parser.analyse(GRAMMAR)
    kinds = set()
    for tokens in iterate_tokens():
        found = outcome(loaded, tokens)
        assert found == outcome(analysed, tokens)
        kinds.add(type(found))
    assert kinds == {list, tuple}


@pytest.mark.parametrize(
    "text",
    [f"{GRAMMAR}\n// a later version\n", "expr: IDENT\nIDENT: /[a-z]+/\n"],
    ids=["comment", "other"],
)
def test_another_grammar_is_analysed(text):
    tokens = [lark.Token("IDENT", "a", start_pos=0, line=1, column=1, end_line=1, end_column=2)]
    assert outcome(parser.load_parser(text), tokens) == outcome(parser.analyse(text), tokens)


def test_another_lark_analyses_the_grammar(monkeypatch):
    monkeypatch.setattr(lark, "__version__", "0.0.1")
    monkeypatch.setattr(parser, "analyse", lambda text: ("analysed", text))
    assert parser.load_parser(GRAMMAR) == ("analysed", GRAMMAR)
