"""YAML's plain scalars, by the core schema of YAML 1.2."""

from __future__ import annotations

import pytest

from mantle_provider.source.scalars import (
    ScalarError,
    has_leading_zero,
    resolve_plain,
    resolve_tagged,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("nULL", "nULL"),
        ("true", True),
        ("TRUE", True),
        ("yes", "yes"),
        ("on", "on"),
        ("0", 0),
        ("-17", -17),
        ("+17", 17),
        ("017", 17),
        ("0o17", 15),
        ("0o18", "0o18"),
        ("0x1F", 31),
        ("0b101", "0b101"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("12:30:45", "12:30:45"),
        ("2026-01-31", "2026-01-31"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("-1.5E-3", -0.0015),
        ("1.2.3", "1.2.3"),
        ("-", "-"),
        (".", "."),
        ("+", "+"),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("00000000000000000000000000001", 1),
    ],
)
def test_plain_scalar_has_its_value_and_type(text, value):
    found = resolve_plain(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", [".nan", ".NaN", ".inf", "-.Inf", "+.INF"])
def test_not_finite_numbers_are_refused(text):
    with pytest.raises(ScalarError) as raised:
        resolve_plain(text)
    assert str(raised.value) == "is not a finite number; JSON has none of the kind"


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "1" * 5000])
def test_integers_of_more_than_64_bits_are_refused(text):
    with pytest.raises(ScalarError) as raised:
        resolve_plain(text)
    assert str(raised.value) == "is an integer of more than 64 bits; put it in quotes"


def test_a_float_that_overflows_is_refused():
    with pytest.raises(ScalarError) as raised:
        resolve_plain("-1e999")
    assert str(raised.value) == "is too large for a number of 64 bits; put it in quotes"


@pytest.mark.parametrize(
    ("text", "tag", "value"),
    [
        ("5", "str", "5"),
        ("5", "int", 5),
        ("5", "float", 5.0),
        ("1.5", "float", 1.5),
        ("true", "bool", True),
        ("", "null", None),
    ],
)
def test_tagged_scalar_has_the_type_of_its_tag(text, tag, value):
    found = resolve_tagged(text, tag)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(("text", "tag"), [("1.5", "int"), ("yes", "bool"), ("0", "null")])
def test_tagged_scalar_of_another_type_is_refused(text, tag):
    with pytest.raises(ScalarError) as raised:
        resolve_tagged(text, tag)
    assert str(raised.value) == f"is not what its tag !!{tag} says"


@pytest.mark.parametrize(
    ("text", "expected"), [("0755", True), ("00", True), ("0", False), ("0o7", False), ("", False)]
)
def test_leading_zero_is_seen(text, expected):
    assert has_leading_zero(text) is expected
