"""Steps that call a function of these tests."""

from __future__ import annotations

from mantle_provider.workflow.model import Step

ECHO = "support.functions.echo"


def call(name="a", function=ECHO, *args, **keys):
    """Return a step that calls a function; ``keys`` are the other fields of the step."""
    params = {"callable": function, "args": list(args)}
    return Step(name=name, action="python/call", params=params, **keys)


def ending(name="a", value=None, **keys):
    """Return a step that ends as ``value`` says, see :func:`support.functions.end_as_told`."""
    return call(name, "support.functions.end_as_told", value, **keys)
