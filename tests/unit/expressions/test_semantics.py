"""How values behave: the pitfalls of ``spec/cel-engine.md``, section 7, that are semantics."""

from __future__ import annotations

import math
from datetime import datetime, timezone

import pytest

from mantle_provider.expressions import ExpressionError, compile_expression

INPUTS = {
    "n": 3,
    "f": 3.0,
    "s": "Hello",
    "b": True,
    "none": None,
    "empty": "",
    "zero": 0,
    "no": False,
    "l": [1, 2],
    "t": (1, 2),
    "m": {"a": {"b": 1}, "none": None},
    "numbers": {1: "one", 2.0: "two"},
    "when": datetime(2024, 1, 15, tzinfo=timezone.utc),
    "big": 10**400,
}
ERROR = "error"


def outcome(text):
    try:
        return compile_expression(text).evaluate({"inputs": INPUTS, "steps": {}})
    except ExpressionError as error:
        return ERROR if error.stage == "eval" else error.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Null is a value like others.
        ("inputs.n != null", True),
        ("inputs.f == null", False),
        ("inputs.l != null && inputs.m != null && inputs.when != null", True),
        ("inputs.none == null", True),
        ("inputs.none == 0 || inputs.none == '' || inputs.none == false", False),
        # Numbers compare across types, and calculate within one.
        ("inputs.f == 3 && inputs.n == 3.0 && inputs.n == 3u", True),
        ("inputs.f in [1, 2, 3] && 3u in [inputs.f]", True),
        ("inputs.n < 3.5 && inputs.f > 2", True),
        ("inputs.n + 1.5", ERROR),
        ("inputs.big > 1.5 && inputs.big > inputs.n && -1.5 < inputs.big", True),
        ("inputs.b == 1", False),
        ("inputs.b + 1", ERROR),
        ("inputs.b < 2", ERROR),
        ("inputs.b + inputs.b", ERROR),
        ("inputs.s - inputs.s", ERROR),
        ("inputs.s * inputs.s", ERROR),
        ("1 in [inputs.b]", False),
        ("{true: 1}[inputs.b]", 1),
        ("inputs.n - 2 in dyn({true: 1})", False),
        ("true in {1: 1}", '"in" is not defined for bool and map(int, int)'),
        ("inputs.b in inputs.numbers", False),
        ("inputs.numbers[1]", "one"),
        ("inputs.numbers[2u]", "two"),
        ("1.5 in inputs.numbers", False),
        ("[] in inputs.numbers", False),
        ("inputs.l == inputs.t && inputs.t == [1.0, 2]", True),
        ("inputs.l == [1] || inputs.l == [1, 3] || inputs.l == inputs.m", False),
        ("inputs.m == {'a': {'b': 1.0}, 'none': null}", True),
        ("inputs.m == {'a': {'b': 1}, 'nope': null} || inputs.m == {'a': 1}", False),
        ("inputs.when == timestamp('2024-01-15T02:00:00+02:00')", True),
        ("inputs.when == 'x' || inputs.when < inputs.when", False),
        ("inputs.when <= inputs.when", True),
        ("0.0 / 0.0 == 0.0 / 0.0", False),
        ("1.0 / -0.0", -math.inf),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7u / 2u + 7u % 2u", 4),
        ("7 % -2", 1),
        ("-2.5", -2.5),
        ("duration('1h') + duration('1s') > duration('1h')", True),
        ("duration('1h') - duration('1h') == duration('0')", True),
        ("duration('1h') + inputs.when == inputs.when + duration('60m')", True),
        ("inputs.when - duration('1h') < inputs.when", True),
        ("inputs.when - inputs.when == duration('0s')", True),
        ("b'a' + b'b' == b'ab'", True),
        # default() takes the fallback for every failure and for null, and keeps the rest.
        ("default(inputs.nope, 1)", 1),
        ("default(steps.nope.output.x, 1)", 1),
        ("default(inputs.none, 1)", 1),
        ("default(1 / inputs.zero, 1)", 1),
        ("default(inputs.l[9], 1)", 1),
        ("default(parseInt(inputs.s), 1)", 1),
        ("default(default(inputs.nope, inputs.none), 1)", 1),
        ("inputs.l.map(x, default(1 / (x - 1), -1))", [-1, 1]),
        ("default(inputs.nope, 'X').toLower()", "x"),
        ("default(inputs.empty, 'x')", ""),
        ("default(inputs.zero, 1)", 0),
        ("default(inputs.no, true)", False),
        ("default(inputs.nope, inputs.nope)", ERROR),
        # Logic absorbs failures that do not matter.
        ("inputs.nope || true", True),
        ("true || inputs.nope", True),
        ("inputs.nope && false", False),
        ("inputs.s && false", False),
        ("inputs.nope || false", ERROR),
        ("inputs.nope || inputs.s || false", ERROR),
        ("inputs.s || inputs.nope || false", ERROR),
        ("true && inputs.n", ERROR),
        ("inputs.nope ? 1 : 2", ERROR),
        ("true ? 1 : inputs.nope", 1),
        ("[0, 2].all(x, 1 / x == 1)", False),
        ("[0, 1].all(x, 1 / x == 1)", ERROR),
        ("[0, 1].exists(x, 1 / x == 1)", True),
        ("[0, 0, 2].exists(x, 1 / x == 1)", ERROR),
        ("[1, 0].exists_one(x, 1 / x == 1)", ERROR),
        ("[1, 2, 1].exists_one(x, x == 1)", False),
        ("[1, 2].exists_one(x, x == 1)", True),
        ("[1, 0].map(x, 1 / x)", ERROR),
        ("[1, 0].filter(x, 1 / x == 1)", ERROR),
        # has() asks for one field and fails above it.
        ("has(inputs.n)", True),
        ("has(inputs.none)", True),
        ("has(inputs.nope)", False),
        ("has(inputs.nope.x)", ERROR),
        ("has(inputs.s.x)", False),
        ("has(inputs.m.a.b)", True),
        # Indexes.
        ("inputs.l[-1]", ERROR),
        ("inputs.l[inputs.f - 2.0]", 2),
        ("inputs.t[1u]", 2),
        ("inputs.s[0]", ERROR),
        ("'H' in inputs.s", ERROR),
        ("inputs.m['a'].b", 1),
        ("inputs.m[inputs.none]", ERROR),
        # Sizes count code points.
        ("size('\U0001f600\u00e9')", 2),
        ("inputs.l.size() + size(inputs.m) + size(b'ab')", 6),
        # Loop variables hide roots, and outer ones stay visible.
        ("inputs.l.map(inputs, inputs + 1)", [2, 3]),
        ("inputs.l.map(x, inputs.l.map(y, x * y))", [[1, 2], [2, 4]]),
        ("[[1], [2]].map(x, x.map(x, x + inputs.n))", [[4], [5]]),
        ("[1].map(x, [2].map(x, [3].map(y, x + y)))", [[[5]]]),
        ("inputs.m.map(k, k)", ["a", "none"]),
        ("inputs.m.filter(k, k != 'a')", ["none"]),
        ("inputs.l.map(x, x > 1, x * 10)", [20]),
        ("inputs.n-1", 2),
        ("inputs.l[size(inputs.l)-1]", 2),
        ("{'a': 1, 'a': 2}", {"a": 2}),
        ("dyn(1) == dyn('1')", False),
    ],
)
def test_outcome(text, expected):
    result = outcome(text)

    assert (type(result), result) == (type(expected), expected)


def test_every_integer_operator_checks_the_range():
    limit = 2**63 - 1
    for text in (
        f"{limit} + 1",
        f"-{limit} - 2",
        f"{limit} * 2",
        f"-(-{limit} - 1)",
        f"(-{limit} - 1) / -1",
        "18446744073709551615u + 1u",
        "5000000000u * 5000000000u",
        "0u - 1u",
    ):
        assert outcome(text) == ERROR
