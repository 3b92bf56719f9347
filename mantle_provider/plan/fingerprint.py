"""``def_version``: one short text that changes whenever a workflow's behaviour does."""

from __future__ import annotations

from dataclasses import fields
from hashlib import sha256
from json import dumps
from typing import Any

from mantle_provider.plan.model import DagPlan, TaskPlan

LENGTH = 12
WITHOUT_EFFECT = frozenset({"version", "description", "doc", "tags", "owner", "airflow"})
"""Fields of a plan that people read and nothing acts on, or that its tasks hold as well."""

_DEFAULTS = {
    kind: [(declared.name, declared.default) for declared in fields(kind)]
    for kind in (DagPlan, TaskPlan)
}
"""Asked for once, since asking takes longer than comparing."""


def fingerprint(plan: DagPlan) -> str:
    """Return the first 12 hex digits of a plan's SHA-256.

    The plan is all that a run gets to know of its file, so it holds everything that can change
    behaviour, and nothing of comments, of the order of keys, or of where the file stands.
    """
    behaviour = {name: value for name, value in _fields(plan).items() if name not in WITHOUT_EFFECT}
    behaviour["tasks"] = [_fields(task) for task in plan.tasks]
    behaviour["inputs"] = sorted(
        ({**declared, "description": ""} for declared in plan.inputs),
        key=lambda declared: str(declared["name"]),
    )
    text = dumps(behaviour, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode()).hexdigest()[:LENGTH]


def _fields(data: DagPlan | TaskPlan) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their defaults.

    A field that a later version of this package adds thus leaves the fingerprints of workflows
    that do not use it. Uncopied, since ``asdict`` would take half of the planning.
    """
    return {
        name: value
        for name, default in _DEFAULTS[type(data)]
        if (value := getattr(data, name)) != default
    }
