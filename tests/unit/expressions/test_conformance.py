"""Answers of other CEL engines: cel-go with Mantle's functions, and the public specification.

``tests/data/cel/README.md`` says where the rows come from and what their columns mean.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from mantle_provider.expressions import ExpressionError, compile_expression, compile_template
from mantle_provider.expressions.program import WORKFLOW_VARIABLES, _compile
from mantle_provider.expressions.time_text import parse_rfc_3339, rfc_3339
from mantle_provider.expressions.timestamps import NANOSECONDS, Duration
from mantle_provider.expressions.values import Uint, kind_of

DATA = Path(__file__).parents[2] / "data" / "cel"
PROBES = json.loads((DATA / "cel_probes.json").read_text(encoding="utf-8"))
SPECIFICATION = [
    json.loads(line) for line in (DATA / "cel_spec.jsonl").read_text(encoding="utf-8").splitlines()
]

# Rows that are answered differently on purpose: our answer, and why.
DIFFERENT = {
    "json/517": (["string", "null"], "LANGUAGE: nulls stay null"),
    "json/522": (["string", '{"a":null}'], "LANGUAGE: nulls stay null"),
    "json/527": (["string", '{"a":[1,{"b":null}]}'], "LANGUAGE: nulls stay null"),
    "template/600": (["string", "x5400s"], "LANGUAGE: durations as CEL's string()"),
    "template/604": (["string", 'x{"b":1}'], "LANGUAGE: braces of a map end no expression"),
    "template/608": (["string", "xYWI="], "LANGUAGE: bytes as base64"),
    "qualified_identifier_resolution/map_value_repeat_key": (
        ["int", "3"],
        "cel-go, and so Mantle, lets the last of equal keys win (row lists/308)",
    ),
    "namespace_shadowing/basic": (["string", "string"], "workflows have no CEL container"),
}


READERS = {
    "int": int,
    "uint": lambda value: Uint(int(value)),
    "double": float,
    "bytes": bytes.fromhex,
    "list": lambda value: [decode(item) for item in value],
    "map": lambda value: {decode(key): decode(item) for key, item in value},
    "timestamp": parse_rfc_3339,
    "duration": lambda value: Duration(round(float(value) * NANOSECONDS)),
}
WRITERS = {
    "double": lambda value: "nan" if math.isnan(value) else repr(value),
    "list": lambda value: [encode(item) for item in value],
    "map": lambda value: sorted([encode(key), encode(item)] for key, item in value.items()),
    "timestamp": rfc_3339,
    "duration": lambda value: value.nanoseconds,
    "type": lambda value: value.name,
}


def decode(typed):
    """Turn a typed value of the data into a value of an expression."""
    kind, value = typed
    return READERS.get(kind, lambda same: same)(value)


def encode(value):
    """Turn a value of an expression into a typed value that tells 1 from 1.0 and true."""
    kind = kind_of(value)
    return [kind, WRITERS.get(kind, lambda same: same)(value)]


def normalise(typed):
    return typed if typed[0] == "type" else encode(decode(typed))


def probe_outcome(row):
    """Return the typed value or the stage of the error."""
    context = {name: {} for name in WORKFLOW_VARIABLES}
    context |= PROBES["contexts"][row["ctx_id"]] | {"env": PROBES["env"]}
    compiler = compile_template if row["mode"] == "template" else compile_expression
    try:
        value = compiler(row["expr"])._evaluate_cel(context)
    except ExpressionError as error:
        return error.stage
    if row["mode"] == "bool" and type(value) is not bool:
        return "eval"
    return encode(value)


@pytest.mark.parametrize("row", PROBES["rows"], ids=lambda row: row["id"])
def test_answers_as_mantle(row):
    expected = DIFFERENT[row["id"]][0] if row["id"] in DIFFERENT else row.get("expect")

    outcome = probe_outcome(row)

    assert outcome == (row["error_phase"] if expected is None else normalise(expected))


@pytest.mark.parametrize("row", SPECIFICATION, ids=lambda row: f"{row['file']}/{row['id']}")
def test_answers_as_the_specification(row):
    expected = DIFFERENT[row["id"]][0] if row["id"] in DIFFERENT else row.get("expect")
    bindings = {name: decode(typed) for name, typed in row["bindings"].items()}
    try:
        program = _compile(
            row["expr"],
            frozenset(bindings),
            (),
            is_template=False,
            is_checked=not row["disable_check"],
        )
        outcome = encode(program._evaluate_cel(bindings))
    except ExpressionError as error:
        outcome = error.stage

    assert outcome == ("eval" if expected is None else normalise(expected))


COMPILE_ERRORS = [
    row
    for row in PROBES["rows"]
    if row.get("error_phase") == "compile" and row["id"] not in DIFFERENT
]


@pytest.mark.parametrize("row", COMPILE_ERRORS, ids=lambda row: row["id"])
def test_compile_errors_stand_in_the_text(row):
    compiler = compile_template if row["mode"] == "template" else compile_expression
    with pytest.raises(ExpressionError) as caught:
        compiler(row["expr"])

    lines = row["expr"].split("\n")
    assert caught.value.line in range(1, len(lines) + 1)
    assert caught.value.column in range(1, len(lines[caught.value.line - 1]) + 2)


def test_differences_are_rows_and_few():
    ids = {row["id"] for row in (*PROBES["rows"], *SPECIFICATION)}

    assert set(DIFFERENT) - ids == set()
    assert len(DIFFERENT) <= 10
