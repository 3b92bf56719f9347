"""A router step, which has ``switch`` in place of an action. Not in the catalogue."""

from __future__ import annotations

from mantle_provider.actions.spec import ActionSpec

SWITCH = ActionSpec(
    name="switch",
    summary="Choose which of several steps runs next.",
    operator="mantle_provider.operators.router.RouterOperator",
    params=(),
    output=(("to", "the step that was chosen"),),
)
"""What the step runtime needs to know of a router; no file can name it as an action."""
