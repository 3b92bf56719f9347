"""Templates: where expressions end, what they yield, and what is never scanned again."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mantle_provider.expressions import ExpressionError, compile_template, has_template

CONTEXT = {
    "inputs": {
        "n": 3,
        "f": 3.0,
        "s": "Hello",
        "trap": "{{ env.SECRET }}",
        "none": None,
        "items": [1, "a", None, 2.5, {"b": True}],
        "when": datetime(2024, 1, 15, 10, 0, 0, 500_000, tzinfo=timezone(timedelta(hours=2))),
        "span": timedelta(minutes=90),
        "raw": b"ab",
    },
    "env": {"SECRET": "boo"},
}


def evaluate(text):
    return compile_template(text).evaluate(CONTEXT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("", ""),
        ("x }} y", "x }} y"),
        ("{ {x} }", "{ {x} }"),
        ("{{ inputs.n }}", 3),
        (" \n{{inputs.n}}\t", 3),
        ("{{ inputs.none }}", None),
        ("n={{ inputs.n }}", "n=3"),
        ("{{ inputs.n }}{{ inputs.n }}", "33"),
        ("{{ inputs.n }} {{ inputs.s }}", "3 Hello"),
        ("{{ '}}' }}", "}}"),
        ('a {{ "}}" }} b', "a }} b"),
        ("{{ '{{' }}", "{{"),
        ("{{ '{{' }} x {{ '}}' }}", "{{ x }}"),
        ("{{ {'a': {'b': 1}} }}", {"a": {"b": 1}}),
        ("{{{'a': {'b': 1}}}}", {"a": {"b": 1}}),
        ("x{{ {'a': {'b': 1}}.a.b }}", "x1"),
        ("{{ [1].map(x, {'v': x}) }}", [{"v": 1}]),
        ("{{ inputs.n // }}\n}}", 3),
        ("{{ r'\\' }}", "\\"),
        ("{{ '''\n}}''' }}", "\n}}"),
        ("{{ inputs.trap }}", "{{ env.SECRET }}"),
        ("x{{ inputs.trap }}", "x{{ env.SECRET }}"),
        ("x{{ '{' }}{{ '{ env.SECRET }' }}}", "x{{ env.SECRET }}"),
        ("\\{{ inputs.n }}", "\\3"),
    ],
)
def test_template_yields(text, expected):
    result = evaluate(text)

    assert (type(result), result) == (type(expected), expected)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("inputs.s", "Hello"),
        ("inputs.n", "3"),
        ("3u", "3"),
        ("inputs.f", "3"),
        ("2.5", "2.5"),
        ("-0.0", "-0"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("1000000.0", "1000000"),
        ("12345678.9", "12345678.9"),
        ("1e17", "100000000000000000"),
        ("1.5e20", "150000000000000000000"),
        ("1.2345678901234567e19", "12345678901234567000"),
        ("1e21", "1e+21"),
        ("0.0001", "0.0001"),
        ("1.0 / 0.0", "+Inf"),
        ("-1.0 / 0.0", "-Inf"),
        ("0.0 / 0.0", "NaN"),
        ("true", "true"),
        ("null", "null"),
        ("inputs.none", "null"),
        ("inputs.when", "2024-01-15T10:00:00.5+02:00"),
        ("timestamp('2024-01-15T10:00:00.123456789Z')", "2024-01-15T10:00:00.123456789Z"),
        ("inputs.span", "5400s"),
        ("duration('-1.5s')", "-1.5s"),
        ("inputs.raw", "YWI="),
        ("type(1)", "int"),
        ("inputs.items", '[1,"a",null,2.5,{"b":true}]'),
        ("{'b': 1.0, 'a': '<\u00e9>', '\"': []}", '{"\\"":[],"a":"<\u00e9>","b":1}'),
        (
            "[inputs.when, inputs.span, inputs.raw, int]",
            '["2024-01-15T10:00:00.5+02:00","5400s","YWI=","int"]',
        ),
        ("{1: 2, true: 3}", '{"1":3}'),
    ],
)
def test_text_of_a_value(expression, expected):
    assert evaluate(f"x{{{{ {expression} }}}}") == f"x{expected}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a {{ b", (1, 3, "b", '"{{" is never closed, "}}" is missing')),
        ("{{ 1 }}\n{{ b } }", (2, 1, "b } }", '"{{" is never closed, "}}" is missing')),
        ("{{ }}", (1, 4, "", "the expression is empty")),
        ("x{{}}", (1, 4, "", "the expression is empty")),
        ("{{ 'abc }}", (1, 4, "'abc", "unterminated string, the closing ' is missing")),
        ("{{{ x }}}", (1, 7, "{ x }", 'unexpected "}", expected ":"')),
        ("a {{ (1 }} b", (1, 8, "(1", 'unexpected end of expression, expected ")"')),
        ("a\nb {{ inputs.a\n +* }}", (3, 3, "inputs.a\n +*", 'unexpected "*", expected a value')),
    ],
)
def test_broken_template_is_an_error_at_its_place(text, expected):
    with pytest.raises(ExpressionError) as caught:
        compile_template(text)

    error = caught.value
    assert error.stage == "compile"
    assert (error.line, error.column, error.expression, error.message) == expected


def test_failure_at_run_time_names_the_expression_and_its_place():
    with pytest.raises(ExpressionError) as caught:
        evaluate("a {{ inputs.n }}\n{{ inputs.nope }}")

    error = caught.value
    assert (error.stage, error.line, error.column) == ("eval", 2, 11)
    assert (error.expression, error.message) == ("inputs.nope", 'no such key: "nope"')


def test_values_that_json_cannot_hold_have_no_text():
    with pytest.raises(ExpressionError, match=r"^JSON has no infinity and no NaN$"):
        evaluate("x{{ [1.0 / 0.0] }}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("{{ true }}", "bool"), ("x{{ true }}", "string"), ("x", "string"), ("{{ inputs.a }}", "dyn")],
)
def test_result_type_of_a_template(text, expected):
    assert compile_template(text).result_type == expected


@pytest.mark.parametrize(("text", "expected"), [("a {{ b", True), ("a { b } }}", False)])
def test_has_template(text, expected):
    assert has_template(text) is expected


def literal(text):
    """Write a CEL string literal."""
    return (
        '"'
        + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
        + '"'
    )


texts = st.text(st.sampled_from("ab {}'\"\\\n\r/\u00e9\U0001f600"), max_size=12)


@pytest.mark.property
@given(st.lists(st.tuples(texts, texts), min_size=2, max_size=4))
def test_any_text_around_any_string_comes_out_as_it_is(parts):
    around = [before.replace("{{", "").rstrip("{") for before, _ in parts]
    template = "".join(
        f"{before}{{{{ {literal(inside)} }}}}"
        for before, (_, inside) in zip(around, parts, strict=True)
    )

    expected = "".join(before + inside for before, (_, inside) in zip(around, parts, strict=True))
    assert compile_template(template).evaluate({}) == expected


@pytest.mark.property
@given(texts)
def test_a_lone_string_comes_out_as_it_is(inside):
    assert compile_template(f" {{{{{literal(inside)}}}}}\n").evaluate({}) == inside


@pytest.mark.property
@given(st.text(st.sampled_from("{}'\"\\ a1.+-[]()/\n"), max_size=30))
def test_any_text_compiles_or_is_an_expression_error(text):
    error = None
    try:
        compile_template(text)
    except ExpressionError as caught:
        error = caught

    assert error is None or (error.stage, 1 <= error.line <= text.count("\n") + 1) == (
        "compile",
        True,
    )
