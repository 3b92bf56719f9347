"""Actions on time."""

from __future__ import annotations

from mantle_provider.actions.spec import ActionSpec, ParamSpec

TIME_WAIT = ActionSpec(
    name="time/wait",
    summary="Wait for a while, or until a moment",
    operator="mantle_provider.operators.time.TimeWaitOperator",
    params=(
        ParamSpec("duration", ("duration",), "how long to wait, from the start of the attempt"),
        ParamSpec("until", ("timestamp",), "when to go on; a moment that has passed is no wait"),
    ),
    output=(
        ("until", "the moment that was waited for, in RFC 3339 and UTC"),
        ("waited_ms", "how long the attempt has waited"),
    ),
    can_wait=True,
    exactly_one=("duration", "until"),
)

ACTIONS = (TIME_WAIT,)
