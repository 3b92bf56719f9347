"""The stored state stays small, and nothing is lost silently."""

from __future__ import annotations

import json

from mantle_provider.lifecycle import Cause, ErrorRecord, NodeStatus, WorkflowNodeState
from mantle_provider.lifecycle import WorkflowState as State
from mantle_provider.lifecycle.fitting import MAX_STATE_BYTES, fitted

NOTE = " ... (cut: see mantle_error of the step)"


def make_node(name, text, causes=10):
    record = ErrorRecord(
        phase="EXECUTION",
        step=name,
        message=text,
        type="RuntimeError",
        try_number=1,
        at="2026-11-30T12:00:00.000000+00:00",
        causes=tuple(Cause("ValueError", text) for _ in range(causes)),
    )
    return WorkflowNodeState(name, NodeStatus.FAILED, "fatal", record, ended_at=1.5)


def make_state(size, text):
    names = [f"a-step-with-a-long-name-{number:04}" for number in range(size)]
    nodes = {name: make_node(name, text) for name in names}
    return State("failed", nodes, names[0], tuple(names), text)


def size_of(state):
    return len(json.dumps(state.to_data(), ensure_ascii=False, separators=(",", ":")).encode())


def test_a_state_that_fits_stays_as_it_is():
    state = make_state(3, "x" * 10_000)
    assert fitted(state) is state


def test_the_state_of_two_thousand_failures_fits_and_says_what_it_cut():
    state = make_state(2_000, "x" * 10_000)
    assert size_of(state) > 200_000_000
    short = fitted(state)
    assert size_of(short) <= MAX_STATE_BYTES
    cause = short.nodes["a-step-with-a-long-name-1999"].failure_cause
    assert cause.message == "x" * (300 - len(NOTE)) + NOTE
    assert [found.message for found in cause.causes] == [cause.message + " (and 9 more)"]
    assert short.error == state.error
    assert short.failed_steps == state.failed_steps


def test_what_cannot_fit_is_as_short_as_can_be():
    short = fitted(make_state(2, "x" * 10_000), max_bytes=10)
    assert len(short.nodes["a-step-with-a-long-name-0000"].failure_cause.message) == 100


def test_texts_are_cut_no_further_than_it_takes():
    short = fitted(make_state(100, "x" * 10_000))
    assert len(short.nodes["a-step-with-a-long-name-0000"].failure_cause.message) == 4_000
