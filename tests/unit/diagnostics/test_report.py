"""Reports: order, duplicates, what counts as an error."""

from __future__ import annotations

from mantle_provider.diagnostics import CATALOGUE, Diagnostic, Report
from mantle_provider.source.reader import read_document

DOCUMENT = read_document("a: &x [1]\nb: *x\nc: 2\n", "file.yaml").document


def test_diagnostics_are_sorted_by_position_and_those_of_aliases_told_once():
    first = Diagnostic("wrong-type", "message", ("a", 0))
    again = Diagnostic("wrong-type", "message", ("b", 0))
    last = Diagnostic("invalid-name", "message", ("c",), part="key")
    report = Report("file.yaml", document=DOCUMENT).with_diagnostics([last, again, first])
    assert report.diagnostics == (again, last)
    assert report.with_diagnostics([first]) == report


def test_warnings_leave_a_report_ok():
    warning = Diagnostic("leading-zero", "message", ("a",), "warning")
    error = Diagnostic("wrong-type", "message", ("c",))
    report = Report("file.yaml", document=DOCUMENT).with_diagnostics([warning])
    assert (report.is_ok, report.errors, report.warnings) == (True, (), (warning,))
    report = report.with_diagnostics([error])
    assert (report.is_ok, report.errors, report.warnings) == (False, (error,), (warning,))


def test_the_catalogue_is_sorted_and_made_of_sentences():
    assert list(CATALOGUE) == sorted(CATALOGUE)
    for entry in CATALOGUE.values():
        assert entry.meaning.endswith(".")
        assert entry.cure.endswith(".")
