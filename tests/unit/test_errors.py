"""The one-line text of a failure."""

from __future__ import annotations

from mantle_provider.errors import WorkflowError, text_of


def test_a_diagnostic_names_the_phase_the_places_that_apply_and_every_cause():
    error = WorkflowError(
        "cannot resolve\n  it",
        phase="EDGE_CONDITION",
        node_id="a",
        edge_id="b",
        field="switch[0].when",
        expression="x >\n 1",
    )
    error.__cause__ = ValueError("outer")
    error.__cause__.__cause__ = KeyError("inner")
    assert error.diagnostic() == (
        "EDGE_CONDITION at step a, edge b, field switch[0].when, expression x > 1: "
        "cannot resolve it; caused by ValueError: outer; caused by KeyError: 'inner'"
    )


def test_a_diagnostic_leaves_out_what_does_not_apply():
    assert WorkflowError("no", phase="EXECUTION").diagnostic() == "EXECUTION: no"


def test_an_exception_that_cannot_say_what_it_is_has_a_text_all_the_same():
    class MuteError(Exception):
        def __str__(self):
            raise KeyError("code")

    assert text_of(MuteError()) == "no text can be had (KeyError)"


def test_a_ring_of_causes_is_told_once():
    error, first, second = WorkflowError("no", phase="EXECUTION"), ValueError("1"), ValueError("2")
    error.__cause__, first.__cause__, second.__cause__ = first, second, first
    assert error.diagnostic() == ("EXECUTION: no; caused by ValueError: 1; caused by ValueError: 2")


def test_a_diagnostic_tells_what_the_failure_suppresses_and_the_causes_of_that():
    error = WorkflowError("handler failed", phase="ERROR_HANDLER")
    error.__cause__ = RuntimeError("broke")
    error.suppressed = WorkflowError("boom", phase="EXECUTION")
    error.suppressed.__cause__ = OSError("disk")
    assert error.diagnostic() == (
        "ERROR_HANDLER: handler failed; caused by RuntimeError: broke; "
        "caused by WorkflowError: boom; caused by OSError: disk"
    )
