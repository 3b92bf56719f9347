"""Mistakes that are found before anything runs."""

from __future__ import annotations

import pytest

from mantle_provider.expressions import WORKFLOW_VARIABLES, ExpressionError, compile_expression


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("input.s", (1, 'unknown name "input"; did you mean "inputs"?')),
        ("Inputs.s", (1, 'unknown name "Inputs"; did you mean "inputs"?')),
        ("None", (1, 'unknown name "None"; did you mean "null"?')),
        ("TRUE", (1, 'unknown name "TRUE"; did you mean "true"?')),
        ("trim", (1, '"trim" is a function, call it as string.trim()')),
        ("default(nope_nope, 1)", (9, None)),
        ("has(nope_nope.x)", (5, None)),
        ("undefinedfn(1)", (1, 'unknown function "undefinedfn"')),
        ("'a'.toLowr()", (5, 'unknown function "toLowr"; did you mean "toLower"?')),
        ("toLower('A')", (1, '"toLower" must be called as string.toLower()')),
        ("'1'.parseInt()", (5, '"parseInt" must be called as parseInt(string)')),
        ("'1'.default(1)", (5, '"default" must be called as default(value, fallback)')),
        ("inputs.has(a)", (8, '"has" must be called as has(value.field)')),
        ("all([1], x, true)", (1, '"all" must be called as list.all(item, ...)')),
        ("default(1)", (1, "default() takes 2 arguments, found 1")),
        ("parseInt()", (1, "parseInt() takes 1 argument, found 0")),
        ("'a'.toLower(1)", (5, "toLower() takes 0 arguments, found 1")),
        ("obj('a')", (1, "obj() takes 2, 4, 6, 8 or 10 arguments, found 1")),
        (
            "size(1)",
            (
                1,
                "size() cannot take (int); it is size(string) or string.size() or size(bytes)"
                " and more",
            ),
        ),
        (
            "formatTimestamp('2024', '2006')",
            (
                1,
                "formatTimestamp() cannot take (string, string); it is"
                " formatTimestamp(timestamp, string)",
            ),
        ),
        ("'a' + 1", (5, '"+" is not defined for string and int')),
        ("1 + 1.5", (3, '"+" is not defined for int and double')),
        ("1.5 % 1.0", (5, '"%" is not defined for double and double')),
        ("true + true", (6, '"+" is not defined for bool and bool')),
        ("[1] < [2]", (5, '"<" is not defined for list(int) and list(int)')),
        ("1 < 'a'", (3, '"<" is not defined for int and string')),
        ("1 == 'a'", (3, '"==" is not defined for int and string')),
        ("[1] == ['a']", (5, '"==" is not defined for list(int) and list(string)')),
        ("1 in ['a']", (3, '"in" is not defined for int and list(string)')),
        ("1 in 'abc'", (3, '"in" is not defined for int and string')),
        ("1 in {'a': 1}", (3, '"in" is not defined for int and map(string, int)')),
        ("-'a'", (1, '"-" is not defined for string')),
        ("!1", (1, '"!" is not defined for int')),
        ("-1u - 1u", None),
        ("true && 1", (9, '"&&" needs bool on both sides, found int')),
        ("1 || true", (1, '"||" needs bool on both sides, found int')),
        ("1 ? 2 : 3", (1, 'the condition before "?" must be bool, found int')),
        ("true ? 1 : 'x'", (1, 'both sides of ":" must have one type, found int and string')),
        ("'abc'[0]", (1, "a value of type string cannot be indexed")),
        ("[1][1.0]", (5, "the index of a list(int) must be int, found double")),
        ("{'a': 1}[1]", (10, "the index of a map(string, int) must be string, found int")),
        ("'a'.b", (5, 'a value of type string has no field "b"')),
        ("{null: 1}", (2, "a map key cannot be null")),
        ("'abc'.map(x, x)", (7, "map() needs a list or a map before the dot, found string")),
        ("[1].filter(x, x)", (15, "the condition of filter() must be bool, found int")),
        ("[1].map(x, x, x)", (12, "the condition of map() must be bool, found int")),
        ("inputs > 1", (8, '">" is not defined for map(string, dyn) and int')),
        ("env.X + 1", (7, '"+" is not defined for string and int')),
        (
            "steps.my-long-step.output",
            (14, 'unknown name "my-long-step"; a name with a hyphen is written ["my-long-step"]'),
        ),
        (
            "steps.step-2.output",
            (11, 'unknown name "step-2"; a name with a hyphen is written ["step-2"]'),
        ),
        (
            "steps.my-step.output",
            (9, 'unknown name "my-step"; a name with a hyphen is written ["my-step"]'),
        ),
        (
            "steps.a - b",
            (
                11,
                'unknown name "b"; known are artifacts, env, execution, hooks, inputs, steps,'
                " trigger",
            ),
        ),
    ],
)
def test_mistake_is_found(text, expected):
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text)

    error = caught.value
    assert error.stage == "compile"
    assert error.expression == text
    if expected is not None:
        column, message = expected
        known = 'unknown name "nope_nope"; known are ' + ", ".join(sorted(WORKFLOW_VARIABLES))
        assert (error.column, error.message) == (column, message or known)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 == null", "bool"),
        ("'a' != null", "bool"),
        ("true ? 1 : null", "dyn"),
        ("string(null)", "string"),
        ("inputs.n + 1", "int"),
        ("inputs.a + inputs.b", "dyn"),
        ("inputs.n > 1 && has(inputs.x)", "bool"),
        ("[1] + [2]", "list"),
        ("([1] + inputs.l)[0]", "dyn"),
        ("([1] + [2])[0]", "int"),
        ("[1, 'a'][0]", "dyn"),
        ("{'a': 1}['a']", "int"),
        ("{'a': 1}.a", "int"),
        ("[1].map(x, x * 2)[0]", "int"),
        ("[1].filter(x, x > 0)[0]", "int"),
        ("{'a': 1}.map(k, k)[0]", "string"),
        ("inputs.l.exists(x, x)", "bool"),
        ("timestamp(0) - timestamp(0)", "duration"),
        ("timestamp(0) + duration('1s')", "timestamp"),
        ("-1.0", "double"),
        ("-inputs.n", "dyn"),
        ("default(1, 2)", "int"),
        ("default(inputs.a, 2)", "dyn"),
        ("'a'.split(',')[0]", "string"),
        ("type(1)", "type"),
        ("obj('a', 1)", "map"),
        ("jsonDecode('1')", "dyn"),
        ("b'a' < b'b'", "bool"),
        ("null", "null"),
    ],
)
def test_result_type_is_what_the_text_alone_tells(text, expected):
    assert compile_expression(text).result_type == expected


def test_callers_declare_more_names():
    program = compile_expression("error.type == 'x'", (*WORKFLOW_VARIABLES, "error"))

    assert program.evaluate({"error": {"type": "x"}}) is True


def test_a_long_list_of_names_is_not_printed():
    with pytest.raises(ExpressionError, match=r'^unknown name "zzz"$'):
        compile_expression("zzz", [f"name_{number}" for number in range(11)])
