"""Error handlers of the tests; what they were asked is kept here.

State: :data:`ASKED` and :data:`ANSWERS`, which each test clears.
"""

from __future__ import annotations

from mantle_provider import ErrorResolution, WorkflowErrorHandler

ASKED: list = []
"""One tuple of the arguments for each time that a handler was asked."""

ANSWERS: list = []
"""What is answered, one after the other; the last one to all further questions. An exception is
raised."""


def next_answer(*asked):
    ASKED.append(asked)
    answer = ANSWERS[min(len(ASKED), len(ANSWERS)) - 1]
    if isinstance(answer, BaseException):
        raise answer
    return answer


class Structured(WorkflowErrorHandler):
    def handle_error(self, instance, node, result, error):
        return next_answer(instance, node, result, error)


class Legacy(WorkflowErrorHandler):
    """Overrides what Apitomy Flow had first, and says which of the two was called."""

    def handle_node_error(self, instance, node, result, exception):
        return next_answer("node error", result, exception)

    def handle_no_matching_edge(self, instance, node):
        return next_answer("no matching edge")


class Meddling(WorkflowErrorHandler):
    """Changes all that it is given."""

    def handle_error(self, instance, node, result, error):
        instance.inputs["items"].append("meddled")
        result.output["status"] = "meddled"
        return ErrorResolution.fail()


class Unmakeable(WorkflowErrorHandler):
    def __init__(self):
        raise RuntimeError("no database")


class Bare:
    """Has no base."""

    def handle_error(self, instance, node, result, error):
        return ErrorResolution.retry()
