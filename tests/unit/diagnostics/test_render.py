"""How diagnostics are shown."""

from __future__ import annotations

import json

from mantle_provider.diagnostics import (
    Diagnostic,
    Related,
    Report,
    render_github,
    render_json,
    render_line,
    render_text,
)
from mantle_provider.source.reader import read_document
from mantle_provider.source.span import Span


def make_report(text, *diagnostics, name="file.yaml"):
    document = read_document(text, name).document
    return Report(name, document=document).with_diagnostics(diagnostics)


def excerpt_of(text, span):
    report = make_report(text, Diagnostic("invalid-yaml", "message", span=span))
    return render_text(report).splitlines()[1:]


def test_the_first_line_has_the_form_of_mantles_validate():
    item = Diagnostic("unknown-key", "message", ("a",), part="key")
    report = make_report("a: 1\n", item)
    assert render_line(report, item) == "file.yaml:1:1: error: message (a) [unknown-key]"


def test_a_report_without_source_has_no_positions():
    item = Diagnostic("unknown-key", "message", ("a",), "warning")
    report = Report("dag").with_diagnostics([item])
    assert render_text(report) == "dag: warning: message (a) [unknown-key]\n"
    assert json.loads(render_json([report]))[0]["line"] is None
    assert render_github(report) == "::warning file=dag,title=unknown-key::message\n"


def test_other_places_and_the_hint_follow_the_excerpt():
    related = (
        Related("here", ("a",), "key"),
        Related("there", (), span=Span(7, 1, 7, 2), file="other.yaml"),
    )
    item = Diagnostic("duplicate-key", "message", ("b",), related=related, hint="do this")
    assert render_text(make_report("a: 1\nb: 2\n", item)) == (
        "file.yaml:2:4: error: message (b) [duplicate-key]\n"
        " 2 | b: 2\n"
        "   |    ^\n"
        "  note: file.yaml:1:1: here\n"
        "  note: other.yaml:7:1: there\n"
        "  hint: do this\n"
    )


def test_the_caret_stands_below_wide_and_combining_characters():
    assert excerpt_of("日本e\u0301: x", Span(1, 1, 1, 5)) == [" 1 | 日本e\u0301: x", "   | ^^^^^"]
    assert excerpt_of("日本: xy", Span(1, 5, 1, 7)) == [" 1 | 日本: xy", "   |       ^^"]


def test_tabs_before_the_caret_stay_tabs():
    assert excerpt_of("a:\t\tb", Span(1, 5, 1, 6)) == [" 1 | a:\t\tb", "   |   \t\t^"]


def test_a_span_of_several_lines_is_marked_to_the_end_of_the_first():
    assert excerpt_of("a: b  \nc: d\n", Span(1, 1, 2, 5)) == [" 1 | a: b  ", "   | ^^^^"]


def test_a_place_after_the_end_of_a_line_is_marked():
    assert excerpt_of("a: [", Span(1, 5, 1, 6)) == [" 1 | a: [", "   |     ^"]


def test_blank_lines_and_lines_beyond_the_end_are_not_shown():
    assert excerpt_of("\na: 1", Span(1, 1, 1, 2)) == []
    assert excerpt_of("a: 1", Span(9, 1, 9, 2)) == []


def test_long_lines_are_cut_around_the_place():
    line = "x" * 500
    assert excerpt_of(line, Span(1, 301, 1, 303)) == [
        f" 1 | …{'x' * 160}…",
        f"   | {' ' * 61}^^",
    ]
    assert excerpt_of(line, Span(1, 1, 1, 501)) == [f" 1 | {'x' * 160}…", f"   | {'^' * 161}"]
    assert excerpt_of(line, Span(1, 481, 1, 483)) == [
        f" 1 | …{'x' * 80}",
        f"   | {' ' * 61}^^",
    ]


def test_control_characters_do_not_reach_the_terminal():
    assert excerpt_of("a: \x1b[31m", Span(1, 4, 1, 5))[0] == " 1 | a: \N{REPLACEMENT CHARACTER}[31m"


def test_json_has_every_detail():
    related = (Related("here", ("a",), "key"),)
    item = Diagnostic("duplicate-key", "mässage", ("b",), related=related, hint="do this")
    assert json.loads(render_json([make_report("a: 1\nb: 2\n", item), Report("x")])) == [
        {
            "file": "file.yaml",
            "line": 2,
            "column": 4,
            "end_line": 2,
            "end_column": 5,
            "severity": "error",
            "code": "duplicate-key",
            "message": "mässage",
            "path": "b",
            "hint": "do this",
            "related": [
                {
                    "file": "file.yaml",
                    "line": 1,
                    "column": 1,
                    "end_line": 1,
                    "end_column": 2,
                    "message": "here",
                }
            ],
        }
    ]


def test_github_annotations_are_escaped():
    item = Diagnostic("invalid-yaml", "100%\nwrong", ("a",), hint="mend it")
    assert render_github(make_report("a: 1\n", item, name="a:b,c.yaml")) == (
        "::error file=a%3Ab%2Cc.yaml,title=invalid-yaml,line=1,col=4,endColumn=5"
        "::100%25%0Awrong%0Amend it\n"
    )


def test_github_annotations_of_several_lines_have_no_end():
    item = Diagnostic("invalid-yaml", "wrong", ())
    assert render_github(make_report("a: 1\nb: 2\n", item)) == (
        "::error file=file.yaml,title=invalid-yaml,line=1,col=1::wrong\n"
    )
