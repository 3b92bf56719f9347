"""Reading YAML: values, positions, limits."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mantle_provider.source import reader
from mantle_provider.source.composer import MAX_ALIASED_NODES
from mantle_provider.source.reader import read_document
from mantle_provider.source.span import Span


def read(text, **options):
    return read_document(text, "file.yaml", **options)


def value_of(text):
    result = read(text)
    assert result.diagnostics == ()
    return result.document.value


def found_in(text, **options):
    """Return (code, line, column) of each diagnostic."""
    result = read(text, **options)
    found = []
    for item in result.diagnostics:
        span = item.span or Span(0, 0, 0, 0)
        found.append((item.code, span.line, span.column))
    return found


@pytest.fixture(params=["libyaml", "python"])
def parser(request, monkeypatch):
    if request.param == "python":
        monkeypatch.setattr(reader, "_LOADER", yaml.SafeLoader)


def test_both_parsers_give_the_same_tree_and_spans(parser):
    text = "a: &x [1, 'b']\nc:\n  - *x\n  - |\n    one\n    two\n\nd: plain\n"
    result = read(text)
    assert result.document.value == {"a": [1, "b"], "c": [[1, "b"], "one\ntwo\n"], "d": "plain"}
    locate = result.document.locate
    assert locate(("a",)) == Span(1, 7, 1, 15)
    assert locate(("a", 1)) == Span(1, 11, 1, 14)
    assert locate(("c",)) == Span(3, 3, 6, 8)
    assert locate(("c", 1)) == Span(4, 5, 6, 8)
    assert locate(("d",), "key") == Span(8, 1, 8, 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: b\na: c\n", [("duplicate-key", 2, 1)]),
        ("a: *b\n", [("unknown-anchor", 1, 4)]),
        ("a: {{ b }}\n", [("unquoted-template", 1, 4)]),
        ("a: [1, 2\n", [("invalid-yaml", 1, 9)]),
        ("a:\n\t- b\n", [("tab-indentation", 2, 1)]),
        ("a: 1\n---\nb: 2\n", [("several-documents", 2, 1)]),
    ],
)
def test_both_parsers_report_the_same(parser, text, expected):
    assert found_in(text) == expected


def test_windows_line_ends_and_byte_order_mark_do_not_shift_positions():
    result = read("\ufeffa: 1\r\nb: two\r\n".encode())
    assert result.document.value == {"a": 1, "b": "two"}
    assert result.document.locate(("a",)) == Span(1, 4, 1, 5)
    assert result.document.locate(("b",)) == Span(2, 4, 2, 7)
    assert result.document.lines == ["a: 1", "b: two", ""]


def test_columns_count_code_points():
    document = read("{ä: 1, 😀: 2, b: 3}").document
    assert document.locate(("😀",), "key") == Span(1, 8, 1, 9)
    assert document.locate(("b",)) == Span(1, 17, 1, 18)


def test_merge_keys_keep_own_values_and_earlier_merges():
    text = (
        "base: &base {a: 1, b: 1}\nother: &other {b: 2, c: 2}\n"
        "merged:\n  <<: [*base, *other]\n  a: 3\n"
    )
    document = read(text).document
    assert document.value["merged"] == {"a": 3, "b": 1, "c": 2}
    assert document.locate(("merged", "b")) == Span(1, 23, 1, 24)
    assert document.locate(("merged",)) == Span(4, 3, 5, 7)


def test_a_quoted_merge_key_is_a_key():
    assert value_of("'<<': {a: 1}\n") == {"<<": {"a": 1}}


def test_a_mapping_of_merges_alone_stands_where_it_begins():
    document = read("base: &base {a: 1}\nmerged:\n  <<: *base\n").document
    assert document.value["merged"] == {"a": 1}
    assert document.locate(("merged",)).line == 3


def test_an_anchor_may_be_defined_again():
    assert value_of("a: &x 1\nb: *x\nc: &x 2\nd: *x\n") == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_anchors_end_with_their_document():
    codes = [code for code, *_ in found_in("a: &x 1\n---\nb: *x\n")]
    assert codes == ["unknown-anchor", "several-documents"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: ! 12", "12"),
        ("a: !!str 12", "12"),
        ("a: !!seq [1]", [1]),
        ("a: !!map {b: 1}", {"b": 1}),
        ("a: !!null ''", None),
    ],
)
def test_yamls_own_tags_are_read(text, value):
    assert value_of(text) == {"a": value}


def test_unsupported_tag_of_a_list_and_of_a_handle_is_reported():
    text = "%TAG !e! tag:example.com,2026:\n---\na: !e!x 1\nb: !list [1]\n"
    assert found_in(text) == [("unsupported-tag", 3, 4), ("unsupported-tag", 4, 4)]


def test_a_thousand_aliases_are_read_and_one_more_is_not():
    aliases = ", ".join(["*a"] * 1000)
    assert len(value_of(f"a: &a x\nb: [{aliases}]\n")["b"]) == 1000
    assert found_in(f"a: &a x\nb: [{aliases}, *a]\n") == [("too-many-aliases", 2, 4)]


def test_aliases_of_large_values_are_limited_by_what_they_stand_for():
    large = ", ".join(["x"] * (MAX_ALIASED_NODES // 4))
    assert found_in(f"a: &a [{large}]\nb: [*a, *a]\n") == []
    assert found_in(f"a: &a [{large}]\nb: [*a, *a, *a, *a]\n") == [("too-many-aliases", 2, 4)]


def test_a_merge_counts_as_the_aliases_it_holds():
    merges = "".join(f"- {{<<: *a, k{index}: 1}}\n" for index in range(1001))
    assert found_in(f"a: &a {{x: 1}}\nb:\n{merges}") == [("too-many-aliases", 3, 1)]


def test_a_hundred_levels_are_read_and_one_more_is_not():
    assert found_in("[" * 100 + "]" * 100) == []
    assert found_in("[" * 101 + "]" * 101) == [("too-deep", 1, 101)]


def test_very_deep_nesting_does_not_end_the_process():
    [(code, *_)] = found_in("[" * 200_000)
    assert code == "too-deep"


def test_a_file_of_exactly_the_limit_is_read():
    assert found_in("a: 1", max_file_bytes=4) == []
    assert found_in("a: ä", max_file_bytes=4) == [("file-too-large", 0, 0)]
    assert found_in(b"a: 12", max_file_bytes=4) == [("file-too-large", 0, 0)]


@pytest.mark.parametrize("text", ["a: \ud800", "a: \x00", "a: \x7f", "a: \ufffe"])
def test_characters_that_yaml_forbids_are_reported_at_their_place(text):
    assert found_in(text) == [("control-character", 1, 4)]


def test_invalid_utf_8_after_several_lines_is_reported_at_its_place():
    assert found_in("ä: 1\nb: ".encode() + b"\xff\n") == [("invalid-encoding", 2, 4)]


def test_a_syntax_error_after_the_last_line_points_at_text():
    assert found_in("a:\n  b: 'open\n\n\n") == [("invalid-yaml", 2, 11)]


def test_an_unknown_problem_keeps_the_parsers_words():
    result = read("a: |9x\n  b\n")
    [item] = result.diagnostics
    assert item.code == "invalid-yaml"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=8),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3)
    ),
    max_leaves=10,
)


@pytest.mark.property
@settings(max_examples=100, deadline=None)
@given(JSON_VALUES)
def test_what_pyyaml_writes_is_read_back(value):
    # In quotes and with tags, since PyYAML's plain scalars are those of YAML 1.1.
    text = yaml.safe_dump({"value": value}, allow_unicode=True, default_style='"')
    assert value_of(text) == {"value": value}


@pytest.mark.property
@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%@,? \n\t\r~<", max_size=30))
def test_no_text_makes_the_reader_fail(text):
    result = read(text)
    assert result.diagnostics or result.document.root is not None
