"""Which of a handler's methods is asked, and with what: the adapter for Apitomy Flow's two."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mantle_provider.errors import WorkflowError
from mantle_provider.handlers import ErrorResolution, WorkflowErrorHandler
from mantle_provider.snapshots import NodeResult, WorkflowInstance, WorkflowNode

INSTANCE = WorkflowInstance("manual__1", "test", "4f0c", {}, 0.0)
NODE = WorkflowNode("a", "python/call")
RESULT = NodeResult({"status": 503})
THROWN = ValueError("boom")


class Legacy(WorkflowErrorHandler):
    def handle_node_error(self, instance, node, result, exception):
        return ("node error", instance, node, result, exception)

    def handle_no_matching_edge(self, instance, node):
        return ("no matching edge", instance, node)


def error_in(phase, cause):
    error = WorkflowError("no", phase=phase)
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("phase", "result", "cause", "seen"),
    [
        ("EXECUTION", RESULT, THROWN, None),
        ("EXECUTION", None, THROWN, "cause"),
        ("EXECUTION", None, None, "error"),
        ("EDGE_CONDITION", None, THROWN, "cause"),
        ("EDGE_CONDITION", None, None, "error"),
        ("OUTPUT_MAPPING", None, THROWN, "cause"),
        ("OUTPUT_MAPPING", None, None, "error"),
        ("INPUT_RESOLUTION", None, THROWN, "error"),
        ("EXECUTOR_LOOKUP", None, THROWN, "error"),
        ("RESULT_VALIDATION", None, None, "error"),
        ("OUTPUT_VALIDATION", None, None, "error"),
    ],
)
def test_each_phase_reaches_the_older_method_as_in_apitomy(phase, result, cause, seen):
    error = error_in(phase, cause)
    exception = {None: None, "cause": cause, "error": error}[seen]
    answer = Legacy().handle_error(INSTANCE, NODE, result, error)
    assert answer == ("node error", INSTANCE, NODE, result, exception)


def test_a_router_without_a_way_out_reaches_the_method_for_that():
    answer = Legacy().handle_error(INSTANCE, NODE, None, error_in("EDGE_SELECTION", None))
    assert answer == ("no matching edge", INSTANCE, NODE)


@pytest.mark.parametrize("phase", ["EXECUTION", "EDGE_SELECTION"])
def test_as_it_stands_every_step_fails(phase):
    answer = WorkflowErrorHandler().handle_error(INSTANCE, NODE, None, error_in(phase, THROWN))
    assert answer == ErrorResolution.fail()


def test_a_transition_names_its_target():
    assert ErrorResolution.transition_to("b") == ErrorResolution("transition", "b")


def test_a_delay_may_be_given_in_seconds():
    assert ErrorResolution.retry(1.5) == ErrorResolution.retry(timedelta(seconds=1.5))
