"""The front end: messages for syntax errors, their positions, and cel-python's tree."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mantle_provider.errors import ConfigurationError
from mantle_provider.expressions import ExpressionError, compile_expression, grammar
from mantle_provider.expressions.tokens import Scanner, Source


def syntax_error(text):
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text)
    assert caught.value.stage == "compile"
    return caught.value.line, caught.value.column, caught.value.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (1, 1, "the expression is empty")),
        ("// only a comment", (1, 18, "the expression is empty")),
        ("1 +", (1, 4, "unexpected end of expression, expected a value")),
        ("(1", (1, 3, 'unexpected end of expression, expected ")"')),
        ("[1, 2", (1, 6, 'unexpected end of expression, expected "]"')),
        ("[1 2]", (1, 4, 'unexpected "2", expected "," or "]"')),
        ("true ? 1", (1, 9, 'unexpected end of expression, expected ":"')),
        ("{'a' 1}", (1, 6, 'unexpected "1", expected ":"')),
        ("1)", (1, 2, 'unexpected ")", expected an operator or the end of the expression')),
        ("inputs.", (1, 8, "unexpected end of expression, expected a name")),
        ("inputs..s", (1, 8, 'unexpected ".", expected a name')),
        ("1 +\n  * 2", (2, 3, 'unexpected "*", expected a value')),
        ("'a' \"b\"", (1, 5, 'unexpected "b", expected an operator or the end of the expression')),
        (
            "1 " + "x" * 50,
            (
                1,
                3,
                f'unexpected "{"x" * 30}...", expected an operator or the end of the expression',
            ),
        ),
        ("true and false", (1, 6, 'unexpected "and", write "&&" for "and"')),
        ("inputs.n or true", (1, 10, 'unexpected "or", write "||" for "or"')),
        ("not true", (1, 5, 'unexpected "true", write "!" for "not"')),
        ("1 = 1", (1, 3, 'unexpected "=", use "==" to compare')),
        ("1 === 1", (1, 5, 'unexpected "=", use "==" to compare')),
        ("true & false", (1, 6, 'unexpected "&", use "&&" for "and"')),
        ("true | false", (1, 6, 'unexpected "|", use "||" for "or"')),
        ("$inputs", (1, 1, 'unexpected "$", write the name without "$"')),
        ("1; 2", (1, 2, 'unexpected ";", an expression is one value')),
        ("@x", (1, 1, 'unexpected "@"')),
        ("'abc", (1, 1, "unterminated string, the closing ' is missing")),
        ('"a\\"', (1, 1, 'unterminated string, the closing " is missing')),
        ("'a\nb'", (1, 1, "unterminated string, the closing ' is missing")),
        ('"""a" ""', (1, 1, 'unterminated string, the closing """ is missing')),
        ("'\\z'", (1, 1, 'unknown escape "\\z" in a string')),
        ("b'\\u0041'", (1, 1, 'unknown escape "\\u0041" in bytes')),
        ("'\\ud800'", (1, 1, 'the escape "\\ud800" is no Unicode character')),
        ("0xZZ", (1, 1, 'invalid number "0xZZ"')),
        ("1 + 12abc", (1, 5, 'invalid number "12abc"')),
        ("1.5.2", (1, 4, 'unexpected ".2", expected an operator or the end of the expression')),
        ("9223372036854775808", (1, 1, 'the number "9223372036854775808" is out of range')),
        ("-1u", (1, 1, 'the number "-1" is out of range')),
        ("0x" + "f" * 5000, (1, 1, f'the number "0x{"f" * 62}" is out of range')),
        ("inputs.in", (1, 8, '"in" is a keyword, write ["in"] to read a field of that name')),
        ("inputs.`a", (1, 8, 'unexpected "`"')),
        ("`inputs`", (1, 1, 'unexpected "`"')),
        ("let", (1, 1, '"let" is a reserved word')),
        ("Foo{a: 1}", (1, 1, "there are no object types, write a map")),
        ("has(inputs)", (1, 1, "has() takes one field, such as has(inputs.name)")),
        ("has(inputs['a'])", (1, 1, "has() takes one field, such as has(inputs.name)")),
        ("has(1, 2)", (1, 1, "has() takes one field, such as has(inputs.name)")),
        ("[1].map(1, 2)", (1, 9, "the first argument of map() must be a name")),
        ("[1].all()", (1, 5, "all() takes 2 arguments, the first of them a name; found 0")),
        ("[1].map(x)", (1, 5, "map() takes 2 or 3 arguments, the first of them a name; found 1")),
    ],
)
def test_syntax_error_says_what_was_found_and_what_was_due(text, expected):
    assert syntax_error(text) == expected


def test_columns_count_code_points_and_lines_count_newlines():
    assert syntax_error("'\U0001f600' +\n '\u00e9' + nope") == (
        2,
        8,
        'unknown name "nope"; known are artifacts, env, execution, hooks, inputs, steps, trigger',
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2,]", [1, 2]),
        ("{'a': 1,}", {"a": 1}),
        ("{'a-b': 1}.`a-b`", 1),
        ("1 -1", 0),
        ("1-1", 0),
        ("1 - -1", 2),
        ("- 1", -1),
        ("--1", 1),
        ("[3][0]-1", 2),
        ("(3)-1", 2),
        ("-9223372036854775808", -(2**63)),
        (".5 + 1e1", 10.5),
        ("r'\\' + '\\''", "\\'"),
        ("'''a\n'b''c'''", "a\n'b''c"),
        ('"""a"""', "a"),
        ("r'''a'b'''", "a'b"),
        ("br'\\n' + b'\\n'", b"\\n\n"),
        ("1 // one\n+ 1", 2),
        ("inputs\n . n", 3),
        ("google.protobuf.Timestamp == type(timestamp(0))", True),
        (".inputs.n", 3),
        ("false ? 1 : true ? 2 : 3", 2),
    ],
)
def test_text_means(text, value):
    result = compile_expression(text).evaluate({"inputs": {"n": 3}})

    assert (type(result), result) == (type(value), value)


def test_a_trailing_comma_is_no_index_and_no_argument():
    assert syntax_error("[1][0,]") == (1, 6, 'unexpected ",", expected "]"')
    assert syntax_error("size('a',)") == (1, 10, 'unexpected ")", expected a value')


def test_tree_has_the_shape_that_lowering_reads():
    """A grammar that names its nodes in another way must fail here, not in a workflow."""
    source = Source("a.b(1)[0] ? -x : {'k': [f()]} in y")
    tokens, end = Scanner(source, {}).scan()

    lines = grammar.parse(source, tokens, end).pretty("").splitlines()

    wrappers = {
        *("conditionalor", "conditionaland", "relation", "addition", "multiplication"),
        *("unary", "member", "primary"),
    }
    assert [line.split("\t") for line in lines if line not in wrappers] == [
        ["expr"],
        ["member_index"],
        ["member_dot_arg"],
        ["ident", "a"],
        ["b"],
        ["exprlist"],
        ["expr"],
        ["literal", "1"],
        ["expr"],
        ["literal", "0"],
        ["unary_neg"],
        ["ident", "x"],
        ["expr"],
        ["relation_in"],
        ["map_lit"],
        ["mapinits"],
        ["expr"],
        ["literal", "'k'"],
        ["expr"],
        ["list_lit"],
        ["exprlist"],
        ["expr"],
        ["ident_arg", "f"],
        ["ident", "y"],
    ]


def test_a_missing_cel_python_is_said_to_be_missing(monkeypatch):
    monkeypatch.setattr(grammar, "find_spec", lambda _name: None)

    with pytest.raises(ConfigurationError, match=r'^expressions need the package "cel-python"$'):
        grammar._parser.__wrapped__()


def test_import_loads_neither_celpy_nor_lark_and_keeps_the_recursion_limit():
    code = (
        "import sys; limit = sys.getrecursionlimit()\n"
        "import mantle_provider.expressions as expressions\n"
        "print('lark' in sys.modules)\n"
        "expressions.compile_template('{{ inputs.a }}').evaluate({'inputs': {'a': 1}})\n"
        "print('lark' in sys.modules, 'celpy' in sys.modules, sys.getrecursionlimit() == limit)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert result.stdout.split() == ["False", "True", "False", "True"]
