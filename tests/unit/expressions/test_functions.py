"""Functions: edges that no row of the conformance data pins."""

from __future__ import annotations

import pytest

from mantle_provider.expressions import ExpressionError, compile_expression


def evaluate(text, /, **inputs):
    return compile_expression(text).evaluate({"inputs": inputs})


def failure(text, /, **inputs):
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, **inputs)
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'\u0130\u03a3x'.toLower()", "i\u03c3x"),
        ("'stra\u00dfe \u1f80 \ufb01'.toUpper()", "STRA\u00dfE \u1f88 \ufb01"),
        ("'AbC'.toLower() + 'AbC'.toUpper()", "abcABC"),
        ("'\\u00a0\\u2003 a b \\v\\n'.trim()", "a b"),
        ("'\\x1ca'.trim()", "\x1ca"),
        ("'ab'.replace('', 'X')", "XaXbX"),
        ("'aaa'.replace('aa', 'b')", "ba"),
        ("''.split(',')", [""]),
        ("''.split('')", []),
        ("',a,,b,'.split(',')", ["", "a", "", "b", ""]),
        ("parseInt('-007') + parseInt('+5')", -2),
        ("parseInt('-9223372036854775808')", -(2**63)),
        ("int('000')", 0),
        ("uint('18446744073709551615') == 18446744073709551615u", True),
        ("parseFloat('.5') + parseFloat('1_0') + parseFloat('0x1p-2')", 10.75),
        ("parseFloat('-inf') == -1.0 / 0.0 && double('Infinity') == 1.0 / 0.0", True),
        ("int(timestamp(5)) + int(duration('1us'))", 1005),
        ("timestamp(5) == timestamp('1970-01-01T00:00:05Z')", True),
        ("duration(1500) == duration('1.5us')", True),
        ("string(bytes('\u00e9')) + string(1u) + string(true)", "\u00e91true"),
        ("int(3u) + int(3.9)", 6),
        ("double(3u) + double(1)", 4.0),
        ("uint(3) == 3u && uint(3u) == 3u && uint(3.9) == 3u", True),
        ("toString(null) + toString(1000000.0) + toString(type(1))", "null1000000int"),
        (
            "toString({'b': [1, null], 'a': {'c': 'x'}})",
            "map[a:map[c:x] b:[1 null]]",
        ),
        (
            "toString(parseTimestamp('2024-01-15T10:00:00.5+05:30'))",
            "2024-01-15 10:00:00.5 +0530 +0530",
        ),
        ("toString(duration('1500us')) + toString(duration('0s'))", "1.5ms0s"),
        ("toString(duration('-61.5s')) + toString(duration('3us'))", "-1m1.5s3\u00b5s"),
        ("toString(duration('7ns')) + toString(duration('5s'))", "7ns5s"),
        ("flatten([[1], 2, [[3]], null])", [1, 2, [3], None]),
        ("obj('a', 1, 'b', [2])", {"a": 1, "b": [2]}),
        (
            "jsonEncode({'b': [1.0, 1e-7, 0.00001, 1e21, true, null], 'a': '<&>'})",
            '{"a":"\\u003c\\u0026\\u003e","b":[1,1e-7,0.00001,1e+21,true,null]}',
        ),
        (
            "jsonEncode([duration('1s'), b'ab', timestamp(0)])",
            '[1000000000,"YWI=","1970-01-01T00:00:00Z"]',
        ),
        ("jsonDecode(' {\"a\": [1, 1.0, null]} ')", {"a": [1, 1.0, None]}),
        ("jsonDecode('[9223372036854775808, 1e400]')", ["9223372036854775808", "1e400"]),
        ("'abc'.matches('^a.c$') && matches('abc', 'b')", True),
        ("'abc'.contains('b') && 'abc'.startsWith('ab') && 'abc'.endsWith('bc')", True),
    ],
)
def test_function(text, expected):
    result = evaluate(text)

    assert (type(result), result) == (type(expected), expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("parseInt('')", "parseInt() needs a whole number in decimal digits"),
        ("parseInt('+')", "parseInt() needs a whole number in decimal digits"),
        ("parseInt(' 1')", "parseInt() needs a whole number in decimal digits"),
        ("parseInt('1.0')", "parseInt() needs a whole number in decimal digits"),
        ("parseInt('9223372036854775808')", "parseInt(): the number is out of range"),
        ("parseInt('999999999999999999999999')", "parseInt(): the number is out of range"),
        ("parseInt(inputs.n)", "parseInt() cannot take (int)"),
        ("uint('-1')", "uint() needs a whole number without a sign"),
        ("uint(-1)", "uint(): the number is out of range"),
        ("uint(-1.0)", "uint(): the number is out of range"),
        ("int(9223372036854775808u)", "int(): the number is out of range"),
        ("int(0.0 / 0.0)", "int(): the number is out of range"),
        ("parseFloat('')", "parseFloat() needs a number"),
        ("parseFloat(' 1')", "parseFloat() needs a number"),
        ("parseFloat('\u0661')", "parseFloat() needs a number"),
        ("parseFloat('1e400')", "parseFloat(): the number is out of range"),
        ("double('0x1p99999')", "double(): the number is out of range"),
        ("bool('yes')", 'bool() needs "true" or "false"'),
        ("string(b'\\xff')", "string() needs bytes that are UTF-8"),
        ("string(inputs.l)", "string() cannot take (list)"),
        ("obj(inputs.n, 1)", "obj() cannot take (int, int)"),
        ("inputs.text.split('')", "split(): more than 10000 parts"),
        ("jsonDecode('')", "jsonDecode(): not JSON at character 1"),
        ("jsonDecode('1 2')", "jsonDecode(): not JSON at character 3"),
        ("jsonDecode('NaN')", "jsonDecode(): not JSON"),
        ("jsonDecode(inputs.long)", "jsonDecode(): more than 1048576 bytes"),
        ("jsonEncode(1.0 / 0.0)", "JSON has no infinity and no NaN"),
        ("jsonEncode(int)", "jsonEncode() cannot encode a value of type type"),
        ("'a'.matches('(')", "matches(): the pattern is no RE2 regular expression"),
    ],
)
def test_function_fails(text, message):
    inputs = {"n": 1, "l": [], "text": "a" * 10_001, "long": "1" * 1_048_577}

    assert failure(text, **inputs) == message


def test_half_a_surrogate_pair_does_no_harm():
    assert evaluate("bytes(inputs.s)", s="a\ud800") == b"a?"
    assert evaluate("inputs.s.matches('a')", s="a\ud800") is True
