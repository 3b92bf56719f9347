"""What a step can do, as data: one :class:`ActionSpec` per action. Pure."""

from __future__ import annotations

from mantle_provider.actions import (
    airflow,
    bash,
    email,
    event,
    http,
    human,
    python,
    slack,
    text,
    time,
    workflow,
)
from mantle_provider.actions.spec import ActionSpec, ParamSpec, ParamType

ACTIONS: dict[str, ActionSpec] = {
    spec.name: spec
    for family in (
        airflow,
        bash,
        email,
        event,
        http,
        human,
        python,
        slack,
        text,
        time,
        workflow,
    )
    for spec in family.ACTIONS
}
"""Every action by its name, in the order of the names."""

__all__ = ["ACTIONS", "ActionSpec", "ParamSpec", "ParamType"]
