"""The inputs of a run: defaults, what the run was started with, and whether both fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mantle_provider.operators.parameters import type_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_RESERVED = ("trigger", "tool_input")
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "boolean": (bool,),
}


def input_values(
    declared: Sequence[Mapping[str, Any]], conf: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return every declared input, given or default, plus ``trigger``.

    :param declared: the plan's inputs.
    :param conf: what the run was started with; ``None`` for a scheduled run.
    """
    given = conf or {}
    values = {item["name"]: given.get(item["name"], item["default"]) for item in declared}
    trigger = given.get("trigger")
    return {**values, "trigger": {} if trigger is None else trigger}


def input_problems(
    declared: Sequence[Mapping[str, Any]], conf: Mapping[str, Any] | None
) -> list[str]:
    """Return what is wrong with a run's inputs, one sentence each.

    Airflow checks its params before a worker starts, but not what an edited file, a scheduled
    run or a cleared run brings together; and it takes undeclared keys. Values stay out of the
    sentences, for they may be secret.
    """
    given = conf or {}
    names = [item["name"] for item in declared]
    allowed = ", ".join(f'"{name}"' for name in names) or "none"
    problems = [
        f'unknown input "{name}"; declared inputs: {allowed}'
        for name in given
        if name not in names and name not in _RESERVED
    ]
    values = input_values(declared, conf)
    for item in declared:
        problem = _value_problem(item, values[item["name"]])
        if problem:
            problems.append(f'input "{item["name"]}" {problem}')
    return problems


def version_problem(version: str, conf: Mapping[str, Any] | None) -> str | None:
    """Return what is wrong when a run was started for another version of the workflow.

    :param version: the workflow's own version.
    :param conf: what the run was started with; in that of a child, ``trigger.version`` is the
        one that its parent's step names.
    """
    trigger = (conf or {}).get("trigger")
    if not isinstance(trigger, dict) or trigger.get("type") != "workflow":
        return None
    expected = trigger.get("version")
    if expected is None or expected == version:
        return None
    return (
        f'the run was started for version "{expected}" of this workflow, but its version is '
        f'"{version}"'
    )


def _value_problem(item: Mapping[str, Any], value: object) -> str | None:
    if value is None:
        return "is required, but missing" if item["required"] else None
    expected = item["type"]
    if expected is not None and not _has_type(value, expected):
        return f"must be a {expected}, but is a {type_name(value)}"
    if item["enum"] and value not in item["enum"]:
        choices = ", ".join(map(str, item["enum"]))
        return f"must be one of {choices}"
    return None


def _has_type(value: object, expected: str) -> bool:
    # In Python a bool is an int; in JSON it is not a number.
    if isinstance(value, bool):
        return expected == "boolean"
    return isinstance(value, _TYPES[expected])
