"""Programs: what they take from a context, what they give back, and that they may be shared."""

from __future__ import annotations

import json
import logging
import traceback
from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum

import pendulum
import pytest

from mantle_provider.errors import MantleError
from mantle_provider.expressions import ExpressionError, compile_expression, compile_template


def evaluate(text, **inputs):
    return compile_expression(text).evaluate({"inputs": inputs})


def failure(text, context):
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text).evaluate(context)
    assert caught.value.stage == "eval"
    return caught.value


class LazyMapping(Mapping):
    """Counts which keys are loaded."""

    def __init__(self, values):
        self.values_by_key = values
        self.loaded = []

    def __getitem__(self, key):
        self.loaded.append(key)
        return self.values_by_key[key]

    def __iter__(self):
        return iter(self.values_by_key)

    def __len__(self):
        return len(self.values_by_key)

    def __contains__(self, key):
        return key in self.values_by_key


class Text(str):
    __slots__ = ()


class Level(IntEnum):
    HIGH = 3


class Colour(str, Enum):
    RED = "red"


def test_only_what_is_read_is_loaded():
    steps = LazyMapping({"a": {"output": 1}, "b": {"output": 2}})

    value = compile_expression("steps.a.output == 1 && has(steps.b) && 'b' in steps").evaluate(
        {"steps": steps}
    )

    assert value is True
    assert steps.loaded == ["a"]


def test_a_failure_of_a_lazy_mapping_is_not_ours():
    class Broken(LazyMapping):
        def __getitem__(self, key):
            raise ConnectionError("database is away")

    with pytest.raises(ConnectionError):
        compile_expression("default(steps.a, 1)").evaluate({"steps": Broken({})})


def test_unread_values_of_any_kind_do_no_harm():
    inputs = {
        "n": 3,
        "huge": 2**70,
        "set": {1},
        "object": object(),
        "date": date(2024, 1, 1),
        "nul": "a\0b",
        None: 1,
        (1, 2): 3,
    }

    assert evaluate("inputs.n + 1", n=3) == 4
    assert compile_expression("inputs.n + 1").evaluate({"inputs": inputs}) == 4
    assert compile_expression("inputs.nul + inputs['nul']").evaluate({"inputs": inputs}) == (
        "a\0ba\0b"
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, (2,)), [1, [2]]),
        (OrderedDict(a=(1,)), {"a": [1]}),
        (defaultdict(list, a=1), {"a": 1}),
        (LazyMapping({"a": LazyMapping({"b": 1})}), {"a": {"b": 1}}),
        (Text("abc"), "abc"),
        (Level.HIGH, 3),
        (Colour.RED, "red"),
        (Decimal("1.5"), 1.5),
        (2**70, 2**70),
        (bytes(2), b"\0\0"),
        (datetime(2024, 1, 1, 12), datetime(2024, 1, 1, 12, tzinfo=timezone.utc)),  # noqa: DTZ001  # naive on purpose
        (
            pendulum.datetime(2024, 7, 1, 2, 0, 0, 5, tz="Europe/Oslo"),
            datetime(2024, 7, 1, 0, 0, 0, 5, tzinfo=timezone.utc),
        ),
        (pendulum.duration(days=40, microseconds=5), timedelta(days=40, microseconds=5)),
        (timedelta(days=-1, microseconds=1), timedelta(days=-1, microseconds=1)),
        ({None: 1, 2: [None]}, {None: 1, 2: [None]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_come_back_as_plain_python(value, expected):
    result = evaluate("inputs.x", x=value)

    assert (type(result), result) == (type(expected), expected)
    assert evaluate("[inputs.x]", x=value) == [expected]


def test_a_default_dict_does_not_grow():
    values = defaultdict(list)

    assert evaluate("default(inputs.x.a, 1)", x=values) == 1
    assert values == {}


def test_a_result_shares_nothing_mutable_with_the_context():
    context = {"inputs": {"m": {"l": [1, {"k": [2]}]}}}

    result = compile_expression("inputs.m").evaluate(context)
    result["l"][1]["k"].append(3)
    again = compile_expression("[inputs.m.l, inputs.m.l]").evaluate(context)
    again[0].append(4)

    assert context == {"inputs": {"m": {"l": [1, {"k": [2]}]}}}
    assert again[1] == [1, {"k": [2]}]


def test_a_literal_is_fresh_in_every_result():
    program = compile_expression("[1, {'a': []}]")

    program.evaluate({})[1]["a"].append(1)

    assert program.evaluate({}) == [1, {"a": []}]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3u", 3),
        ("[3u, {1u: 2u}]", [3, {1: 2}]),
        ("type(1)", "int"),
        ("[timestamp]", None),
        ("type(timestamp(0))", "google.protobuf.Timestamp"),
        (
            "timestamp('2024-01-01T00:00:00.123456789Z')",
            datetime(2024, 1, 1, 0, 0, 0, 123456, tzinfo=timezone.utc),
        ),
        ("duration('-1.5ms')", timedelta(microseconds=-1500)),
        ("duration('-1ns')", timedelta(0)),
        ("jsonDecode('[true, 1, 1.0, null]')", [True, 1, 1.0, None]),
    ],
)
def test_types_of_cel_come_out_as_types_of_python(text, expected):
    if expected is None:
        with pytest.raises(ExpressionError):
            compile_expression(text)
        return
    result = compile_expression(text).evaluate({})

    assert (type(result), result) == (type(expected), expected)


def test_json_of_a_result_has_booleans():
    assert (
        json.dumps(evaluate("{'a': inputs.n > 1, 'b': [true]}", n=3)) == '{"a": true, "b": [true]}'
    )


def test_an_unusable_value_is_named_by_type_only():
    error = failure("[inputs.x]", {"inputs": {"x": {"secret"}}})

    assert error.message == 'a value of type "set" cannot be used'


def test_a_missing_root_is_said_to_have_no_value():
    error = failure("steps.a", {})

    assert error.message == '"steps" has no value here'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("inputs.s + 1", (10, '"+" is not defined for string and int')),
        ("inputs.n - inputs.s", (10, '"-" is not defined for int and string')),
        ("inputs.s * 1", (10, '"*" is not defined for string and int')),
        ("inputs.s / 1", (10, '"/" is not defined for string and int')),
        ("inputs.s % 1", (10, '"%" is not defined for string and int')),
        ("-inputs.s", (1, '"-" is not defined for string')),
        ("!inputs.s", (1, '"!" is not defined for string')),
        ("inputs.s < inputs.n", (10, '"<" is not defined for string and int')),
        ("inputs.l < inputs.l", (10, '"<" is not defined for list and list')),
        ("1 in inputs.s", (3, '"in" is not defined for int and string')),
        ("1 + 1 / (inputs.n - 3)", (7, "division by zero")),
        ("1 % (inputs.n - 3)", (3, "remainder by zero")),
        ("inputs.big + 1", (12, "integer overflow")),
        ("-(-inputs.big - 1)", (1, "integer overflow")),
        ("1u - 2u", (4, "unsigned integer overflow")),
        ("inputs.l[5]", (10, "list index out of range")),
        ("inputs.l[-1]", (10, "list index out of range")),
        ("inputs.l[inputs.s]", (17, "a list index must be an int, found string")),
        ("inputs.l[0.5]", None),
        ("inputs.l[inputs.half]", (17, "a list index must be an int, found double")),
        ("inputs.n[0]", (10, "cannot index a value of type int")),
        ("inputs.s.size", (10, 'cannot read "size" of a value of type string')),
        ("inputs.m[inputs.s]", (17, "no such key")),
        ("inputs.m[inputs.l]", (17, "a value of type list cannot be a map key")),
        ("inputs['nope']", (8, 'no such key: "nope"')),
        ("inputs.n && true", (8, '"&&" needs bool on both sides, found int')),
        ("inputs.n ? 1 : 2", (8, 'the condition before "?" must be bool, found int')),
        ("inputs.l.all(x, x)", (10, "the condition of all() must be bool, found int")),
        ("inputs.s.map(x, x)", (10, "map() needs a list or a map, found string")),
        ("inputs.l.map(x, 1 / (x - 1))", (19, "division by zero")),
        ("{inputs.l: 1}", (9, "a map key cannot be list")),
        ("inputs.n.trim()", (10, "trim() cannot take (int)")),
    ],
)
def test_failure_has_the_place_of_its_cause(text, expected):
    context = {
        "inputs": {"s": "Hello", "n": 3, "l": [1, 2], "m": {}, "half": 0.5, "big": 2**63 - 1}
    }
    error = failure(text, context)

    assert error.line == 1
    assert expected is None or (error.column, error.message) == expected


SECRET = "hunter2-hunter2"  # a password that must not be seen anywhere


@pytest.mark.parametrize(
    "text",
    [
        "parseInt(env.P)",
        "parseFloat(env.P)",
        "int(env.P)",
        "double(env.P)",
        "bool(env.P)",
        "uint(env.P)",
        "timestamp(env.P)",
        "parseTimestamp(env.P)",
        "duration(env.P)",
        "jsonDecode(env.P)",
        "'a'.matches(env.P + '(')",
        "timestamp(0).getHours(env.P)",
        "inputs[env.P]",
        "obj(env.P, 1)[env.P + 'x']",
        "[1][inputs.p]",
        "inputs.p - 1",
        "inputs.p.nope",
        "1 / 0 + size(env.P)",
        "env.P < inputs.p",
        "[inputs.odd]",
    ],
)
def test_no_value_of_the_context_is_in_any_error_or_log(text, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    context = {"env": {"P": SECRET}, "inputs": {"p": {SECRET: SECRET}, "odd": {SECRET}}}

    error = failure(text, context)

    seen = "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))
    captured = capfd.readouterr()
    assert SECRET not in seen + caplog.text + captured.out + captured.err
    assert error.__cause__ is None
    assert error.__context__ is None


def test_eight_threads_share_texts_and_programs():
    shared = compile_expression("inputs.l.map(x, x * inputs.n).filter(x, x > 10)")

    def work(seed):
        results = []
        for number in range(30):
            own = compile_template(f"{{{{ inputs.n + {seed * 100 + number} }}}}")
            context = {"inputs": {"n": seed, "l": list(range(20))}}
            results.append((own.evaluate(context), shared.evaluate(context)))
        return results

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(8)))

    assert found == [
        [
            (seed + seed * 100 + number, [x * seed for x in range(20) if x * seed > 10])
            for number in range(30)
        ]
        for seed in range(8)
    ]


def test_a_program_shows_its_text():
    assert repr(compile_template("{{ 1 }}")) == "<Program '{{ 1 }}'>"


def test_equal_texts_are_compiled_once():
    names = {"steps": {"a-b"}}

    assert compile_expression("1 + 2", names=names) is compile_expression("1 + 2", names=names)
    assert compile_expression("1 + 2") is not compile_template("1 + 2")


def test_errors_are_ours():
    assert issubclass(ExpressionError, MantleError)
