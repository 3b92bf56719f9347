"""Phrases of messages."""

from __future__ import annotations

import pytest

from mantle_provider.diagnostics.wording import describe, join_choices, quote, suggest


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("a b", '"a b"'),
        ("a\nb\tc\rd", '"a\\nb\\tc\\rd"'),
        ("\x1b[0m", '"\\u001b[0m"'),
        ("x" * 100, '"' + "x" * 79 + '…"'),
    ],
)
def test_quoted_text_stays_on_one_short_line(text, quoted):
    assert quote(text) == quoted


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "nothing"),
        (True, "the boolean true"),
        (1.5, "the number 1.5"),
        ("x", 'the string "x"'),
        ([], "a list"),
        ({}, "a mapping"),
    ],
)
def test_values_are_described(value, words):
    assert describe(value) == words


@pytest.mark.parametrize(
    ("words", "joined"), [(["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")]
)
def test_choices_are_joined(words, joined):
    assert join_choices(words) == joined


def test_near_names_are_suggested():
    assert suggest("extrat", ["load", "extract"]) == '; did you mean "extract"?'


def test_a_short_list_is_shown_when_nothing_is_near():
    assert suggest("x", ["load", "load", "extract"]) == '; known: "load", "extract"'


def test_a_long_list_is_not_shown():
    assert suggest("x", [f"step-{number}" for number in range(11)]) == ""


def test_no_candidates_have_their_own_words():
    assert suggest("x", [], none="there are none") == "; there are none"
    assert suggest("x", []) == ""


@pytest.mark.parametrize("name", ["nme-077-077", "namee-077-077", "nane-077-077", "nmae-077-077"])
def test_one_wrong_letter_is_found_among_many_names(name):
    known = [f"name-{number:03}-{number:03}" for number in range(100)]
    assert suggest(name, known) == '; did you mean "name-077-077"?'
    assert suggest("other", known) == ""
