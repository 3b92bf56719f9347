"""Every budget ends an evaluation with an error, in time, and nothing absorbs it."""

from __future__ import annotations

import contextlib
import sys

import pytest

from mantle_provider.expressions import (
    ExpressionError,
    budgets,
    compile_expression,
    compile_template,
    values,
)

DEEP = "the expression is nested more than 250 levels deep"


def failure(text, **inputs):
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text).evaluate({"inputs": inputs})
    return caught.value.stage, caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "1" + ")" * 5000,
        "[" * 300 + "]" * 300,
        "{1:" * 300 + "1" + "}" * 300,
        "dyn(" * 300 + "1" + ")" * 300,
        "+".join(["1"] * 3000),
        "!" * 10_000 + "true",
        "true ? 1 : " * 300 + "1",
        "inputs" + ".a" * 300,
        "inputs" + "[0]" * 300,
        "[1].map(x, " * 300 + "1" + ")" * 300,
        "(true || " * 300 + "true" + ")" * 300,
    ],
    ids=lambda text: text[:10],
)
def test_too_deep_a_tree_is_refused_before_recursion(text):
    limit = sys.getrecursionlimit()

    assert failure(text) == ("compile", DEEP)
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(" * 240 + "1" + ")" * 240, 1),
        ("size(" + "[" * 240 + "]" * 240 + ")", 1),
        ("dyn(" * 240 + "1" + ")" * 240, 1),
        ("+".join(["1"] * 240), 240),
        ("!" * 240 + "true", True),
        ("false ? 1 : " * 240 + "2", 2),
        (" || ".join(["false"] * 3000), False),
        ("[1].map(x, " * 120 + "x" + ")" * 120 + "[0]" * 120, 1),
        ("[1].exists(x, " * 240 + "true" + ")" * 240, True),
        ("has({'a': " * 80 + "1" + "}.a)" * 80, True),
    ],
    ids=lambda value: str(value)[:10],
)
def test_deep_trees_below_the_limit_work(text, expected):
    assert compile_expression(text).evaluate({}) == expected


def test_length_of_an_expression():
    fits = "'" + "a" * (64 * 1024 - 2) + "'"

    assert compile_expression(fits).evaluate({}) == "a" * (64 * 1024 - 2)
    assert compile_expression(f" {fits} ").evaluate({}) == "a" * (64 * 1024 - 2)
    assert failure(f"{fits}+''") == ("compile", "the expression has more than 65536 characters")


def test_iterations_count_in_total_and_are_not_absorbed():
    message = "more than 100000 iterations in one evaluation"
    thousand = list(range(1000))

    assert failure("default(inputs.l.map(x, inputs.l.map(y, 1)), 1)", l=thousand) == (
        "eval",
        message,
    )
    assert failure("inputs.l.all(x, inputs.l.all(y, true)) || true", l=thousand) == (
        "eval",
        message,
    )
    program = compile_expression("inputs.l.map(x, inputs.l.map(y, y)).size()")
    assert [
        program.evaluate({"inputs": {"l": range_list}}) for range_list in (thousand[:300],) * 3
    ] == [300] * 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("inputs.l + inputs.l", "a list has more than 100000 values"),
        ("flatten([inputs.l, inputs.l])", "a list has more than 100000 values"),
        ("inputs.s + inputs.s", "a text has more than 4194304 characters"),
        ("inputs.s.replace('a', 'aa')", "a text has more than 4194304 characters"),
        ("jsonEncode([inputs.s, inputs.s])", "a text has more than 4194304 characters"),
        ("toString([inputs.s, inputs.s])", "a text has more than 4194304 characters"),
        ("bytes(inputs.s) + bytes(inputs.s)", "a text has more than 4194304 characters"),
    ],
)
def test_size_of_what_is_made(text, message):
    assert failure(text, s="a" * 3_000_000, l=[0] * 60_000) == ("eval", message)


def test_shared_lists_are_counted_on_the_way_out(monkeypatch):
    """Twenty doublings are a million values; smaller limits keep this test quick."""
    monkeypatch.setattr(values, "MAX_RESULT_VALUES", 1000)
    monkeypatch.setattr(budgets, "MAX_STRING_LENGTH", 2000)
    doubled = "[1]" + "".join(f".map(x{n}, [x{n}, x{n}])" for n in range(20))

    assert failure(doubled) == ("eval", "the result has more than 1000 values")
    with pytest.raises(ExpressionError, match=r"^a text has more than 2000 characters$"):
        compile_template(f"x{{{{ {doubled} }}}}").evaluate({})


def test_a_value_that_is_nested_too_deeply_is_an_error():
    value: list = []
    for _ in range(5000):
        value = [value]

    assert failure("inputs.x", x=value) == ("eval", "a value is nested too deeply")
    assert failure("jsonDecode(inputs.x)", x="[" * 100_000) == (
        "eval",
        "jsonDecode(): nested too deeply",
    )


@pytest.mark.parametrize(
    "text",
    [
        "duration('" + "9" * 5000 + "!')",
        "duration('" + "1h" * 20_000 + "')",
        "timestamp('" + "1" * 20_000 + "')",
        "parseInt('" + "0" * 20_000 + "x')",
        "parseFloat('" + "1" * 20_000 + "x')",
        "'" + "a" * 20_000 + "'.matches('(a+)+$b')",
        "'" + "\\n" * 20_000,
        '"""' + '\\"' * 20_000,
        "b'" + "\\x41" * 10_000,
        "//" + "/" * 20_000,
        "{{" * 10_000,
    ],
    ids=lambda text: text[:14],
)
@pytest.mark.timeout(30)
def test_no_text_takes_time_without_end(text):
    """Each of them takes milliseconds; with backtracking it would take longer than a day."""
    with contextlib.suppress(ExpressionError):
        compile_expression(text).evaluate({})


@pytest.mark.timeout(30)
def test_big_lists_are_linear():
    program = compile_expression("inputs.l.map(x, x + 1).filter(x, x % 2 == 0).size()")

    assert program.evaluate({"inputs": {"l": list(range(10_000))}}) == 5000
