"""What an expression reads, with positions."""

from __future__ import annotations

import pytest

from mantle_provider.expressions import compile_expression, compile_template
from mantle_provider.expressions.references import Reference


def reference(root, path, column, end_column, **others):
    return Reference(
        root,
        path,
        column=column,
        end_column=end_column,
        **{"line": 1, "is_guarded": False} | others,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "steps['fetch-data'].output.items[0].name",
            [reference("steps", ("fetch-data", "output", "items", 0, "name"), 1, 41)],
        ),
        (
            "steps.a.output.items.filter(i, i.n > inputs.min).map(steps, steps.name)",
            [
                reference("steps", ("a", "output", "items"), 1, 21),
                reference("inputs", ("min",), 38, 48),
            ],
        ),
        (
            "steps[inputs.which].output",
            [
                reference("steps", (None, "output"), 1, 27),
                reference("inputs", ("which",), 7, 19),
            ],
        ),
        ("inputs", [reference("inputs", (), 1, 7)]),
        ("has(steps.a.output)", [reference("steps", ("a", "output"), 5, 19, is_guarded=True)]),
        (
            "default(steps.a.x, inputs.y)",
            [
                reference("steps", ("a", "x"), 9, 18, is_guarded=True),
                reference("inputs", ("y",), 20, 28),
            ],
        ),
        (
            "default(steps.a.items.map(i, inputs.b + i), [])[0].x",
            [
                reference("steps", ("a", "items"), 9, 22, is_guarded=True),
                reference("inputs", ("b",), 30, 38, is_guarded=True),
            ],
        ),
        ("'steps.a' + string(1)", []),
        (
            "{inputs.k: [inputs.v]}",
            [
                reference("inputs", ("k",), 2, 10),
                reference("inputs", ("v",), 13, 21),
            ],
        ),
        ("true ? inputs.a : 1", [reference("inputs", ("a",), 8, 16)]),
        ("[1].map(x, inputs.c, 2)", [reference("inputs", ("c",), 12, 20)]),
        ("steps\n  .a.x", [reference("steps", ("a", "x"), 1, 6)]),
        ("inputs.m[true]", [reference("inputs", ("m", None), 1, 15)]),
    ],
)
def test_references(text, expected):
    assert list(compile_expression(text).references) == expected


def test_references_of_a_template_stand_in_the_whole_text():
    program = compile_template("a\n {{ inputs.a }} {{ 'steps.b' }}{{ -inputs.b }}")

    assert program.references == (
        reference("inputs", ("a",), 5, 13, line=2),
        reference("inputs", ("b",), 36, 44, line=2),
    )


def test_a_declared_name_is_one_part_of_the_path():
    program = compile_expression(
        "steps.fetch-data.output - 1", names={"steps": {"fetch", "fetch-data"}}
    )

    assert program.references == (reference("steps", ("fetch-data", "output"), 1, 24),)
