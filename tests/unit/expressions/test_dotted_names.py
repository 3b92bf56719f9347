"""Hyphenated names after a dot."""

from __future__ import annotations

import pytest

from mantle_provider.expressions import (
    ExpressionError,
    compile_expression,
    compile_template,
    rewrite_dotted_names,
)

NAMES = {"steps": {"fetch-data", "fetch", "a-1", "a-1-b", "x-2e3"}, "hooks": {"clean-up"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("steps.fetch-data.output", 'steps["fetch-data"].output'),
        ("steps . fetch-data . output", 'steps ["fetch-data"] . output'),
        ("steps.fetch.output", "steps.fetch.output"),
        ("steps.fetch-date", "steps.fetch-date"),
        ("steps.fetch - data", "steps.fetch - data"),
        ("steps.fetch -data", "steps.fetch -data"),
        ("steps.a-1", 'steps["a-1"]'),
        ("steps.a-2", "steps.a-2"),
        ("steps.a-1-b.x", 'steps["a-1-b"].x'),
        ("steps.a-1-c.x", 'steps["a-1"]-c.x'),
        ("steps.x-2e3", 'steps["x-2e3"]'),
        ("hooks.clean-up.output + steps.a-1", 'hooks["clean-up"].output + steps["a-1"]'),
        ("inputs.fetch-data", "inputs.fetch-data"),
        ("inputs.steps.fetch-data", "inputs.steps.fetch-data"),
        ("'steps.fetch-data' // steps.fetch-data", "'steps.fetch-data' // steps.fetch-data"),
        ("has(steps.fetch-data.output)", 'has(steps["fetch-data"].output)'),
        ("has(steps.fetch-data)", "has(steps.`fetch-data`)"),
        ("steps.`fetch-data`", "steps.`fetch-data`"),
    ],
)
def test_rewriting(text, expected):
    assert rewrite_dotted_names(text, NAMES, template=False) == expected
    assert rewrite_dotted_names(expected, NAMES, template=False) == expected


def test_only_expressions_of_a_template_are_rewritten():
    text = "steps.a-1 {{ steps.a-1 }} }} {{ 'steps.a-1' + steps.a-1 }} steps.a-1"

    assert rewrite_dotted_names(text, NAMES, template=True) == (
        'steps.a-1 {{ steps["a-1"] }} }} {{ \'steps.a-1\' + steps["a-1"] }} steps.a-1'
    )


def test_text_without_declared_names_comes_back():
    assert rewrite_dotted_names("{{ 1 }}", {}, template=True) == "{{ 1 }}"


def test_text_without_tokens_is_an_error_at_its_position():
    with pytest.raises(ExpressionError) as caught:
        rewrite_dotted_names("x {{ steps.y + 'y }}", NAMES, template=True)

    assert (caught.value.stage, caught.value.line, caught.value.column) == ("compile", 1, 16)
    assert caught.value.expression == "steps.y + 'y"


@pytest.mark.parametrize(
    "text", ["steps.fetch-data.n", "steps.fetch-data.n-1+1", "has(steps.fetch-data)?3:0"]
)
def test_compiling_with_names_means_the_same_as_rewriting(text):
    context = {"steps": {"fetch-data": {"n": 3}}}
    rewritten = rewrite_dotted_names(text, NAMES, template=False)

    assert compile_expression(text, names=NAMES).evaluate(context) == 3
    assert compile_expression(rewritten).evaluate(context) == 3


def test_errors_after_a_name_keep_their_column():
    text = "{{ steps.fetch-data.output + nope }}"
    with pytest.raises(ExpressionError) as caught:
        compile_template(text, names=NAMES)

    assert (caught.value.line, caught.value.column) == (1, text.index("nope") + 1)
