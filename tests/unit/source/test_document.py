"""Finding places: paths, and pieces of strings as YAML writes them."""

from __future__ import annotations

import pytest

from mantle_provider.source.document import SourceDocument
from mantle_provider.source.reader import read_document
from mantle_provider.source.span import Fragment, Span, format_path


def document_of(text):
    return read_document(text, "file.yaml").document


def text_at(document, span):
    """Return the text of a span, its lines joined by a bar."""
    lines = document.lines[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "|".join(lines)


def find(text, piece, occurrence=0):
    document = document_of(text)
    value = document.value["a"]
    start = -1
    for _ in range(occurrence + 1):
        start = value.index(piece, start + 1)
    fragment = Fragment.at(value, start, start + len(piece))
    return text_at(document, document.locate(("a",), fragment=fragment))


def test_a_missing_path_is_its_nearest_ancestor():
    document = document_of("a:\n  b: 1\nc: 2\n")
    assert document.locate(("a", "x", 3)) == Span(2, 3, 2, 7)
    assert document.locate(("x",)) == Span(1, 1, 3, 5)
    assert document.locate(()) == Span(1, 1, 3, 5)


def test_the_key_of_a_list_entry_is_its_value():
    assert document_of("a: [1]").locate(("a", 0), "key") == Span(1, 5, 1, 6)


def test_a_document_that_could_not_be_read_has_one_place():
    assert SourceDocument("file.yaml", "a: [").locate(("a",)) == Span(1, 1, 1, 1)


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("a: x {{ b }} y", "b"),
        ('a: "x {{ b }} y"', "b"),
        ("a: 'it''s {{ b }}'", "b"),
        ("a: |\n  one {{ b }}\n  two {{ c }}\n", "c"),
        ("a: >-\n  one {{ b }}\n  two {{ c }}\n", "c"),
        ('a: "tab\\t{{ c }}"', "c"),
        ('a: "size(\\"x\\") + c"', 'size("x")'),
        ("a: 'x[''y''] + c'", "x['y']"),
        ('a: "\\\\d + c"', "\\d"),
    ],
)
def test_a_piece_is_found_as_it_is_written(text, piece):
    escaped = {'size("x")': 'size(\\"x\\")', "x['y']": "x[''y'']", "\\d": "\\\\d"}
    assert find(text, piece) == escaped.get(piece, piece)


def test_the_right_one_of_several_equal_pieces_is_found():
    document = document_of("a: b + b + b")
    fragment = Fragment.at("b + b + b", 4, 5)
    assert fragment == Fragment("b", 1)
    assert document.locate(("a",), fragment=fragment) == Span(1, 8, 1, 9)


def test_a_piece_over_folded_lines_is_found():
    assert find("a: >\n  one\n  two three\n", "one two") == "one|  two"


def test_a_piece_over_escaped_white_space_is_found():
    assert find('a: "one\\n two"', "one\n two") == "one\\n two"


def test_the_header_of_a_block_scalar_is_no_part_of_it():
    assert document_of("a: >-\n  b > c\n").locate(("a",), fragment=Fragment(">")) == Span(
        2, 5, 2, 6
    )


def test_an_empty_block_scalar_has_no_pieces():
    document = document_of("a: |\nb: 1\n")
    assert document.locate(("a",), fragment=Fragment("b")) == Span(1, 4, 1, 5)


def test_a_piece_hidden_by_escapes_is_the_whole_scalar():
    document = document_of('a: "x \\u0062"')
    assert document.locate(("a",), fragment=Fragment("b")) == Span(1, 4, 1, 14)


def test_a_blank_piece_is_the_whole_scalar():
    assert document_of("a: b c").locate(("a",), fragment=Fragment(" ")) == Span(1, 4, 1, 7)
    assert Fragment.at("abc", 1, 1) == Fragment("")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("steps", 0, "name"), "steps[0].name"),
        (("inputs", "base url"), "inputs['base url']"),
        (("odd key", "a"), "['odd key'].a"),
    ],
)
def test_paths_are_shown_as_users_know_them(path, text):
    assert format_path(path) == text
