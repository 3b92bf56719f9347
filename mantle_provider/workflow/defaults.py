"""``defaults.yaml``: what the workflows of a folder have unless they say otherwise. Pure.

Which keys may have a default, why the others may not, and how defaults are laid under a workflow.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mantle_provider.diagnostics.wording import quote
from mantle_provider.source.files import is_yaml_called
from mantle_provider.source.overlay import change, overlay, without
from mantle_provider.workflow.blocks import Block, Key, Object
from mantle_provider.workflow.decoding import Decoding
from mantle_provider.workflow.keys import WORKFLOW, WORKFLOW_AIRFLOW
from mantle_provider.workflow.model import HOOK_BLOCKS
from mantle_provider.workflow.step_keys import STEP

if TYPE_CHECKING:
    from mantle_provider.diagnostics.diagnostic import Diagnostic
    from mantle_provider.source.document import Node, SourceDocument
    from mantle_provider.source.span import Path

DEFAULTS_NAME = "defaults.yaml"

_ONE_WORKFLOW = "every workflow has its own"
_ONE_STEP = "every step has its own"
_OF_STEPS = "it names steps of one workflow"

_NO_WORKFLOW_DEFAULT = {
    "name": _ONE_WORKFLOW,
    "description": _ONE_WORKFLOW,
    "triggers": "what starts a workflow is said in its own file",
    "steps": _ONE_WORKFLOW,
    "before_start": _ONE_WORKFLOW,
    "result": _OF_STEPS,
}
_NO_AIRFLOW_DEFAULT = {"assets": "what starts a workflow is said in its own file"}
_NO_STEP_DEFAULT = {
    "name": _ONE_STEP,
    "action": _ONE_STEP,
    "params": "they belong to the step's action",
    "switch": _OF_STEPS,
    "for_each": _ONE_STEP,
    "if": _ONE_STEP,
    "depends_on": _OF_STEPS,
    "credential": "it belongs to the step's action",
    "continue_on_error": "which failures do not matter is said at the step",
    "artifacts": _ONE_STEP,
    "outputs": _ONE_STEP,
}
_MAIN_ONLY = "on_dep_failure"
_NO_HOOK_STEP_DEFAULT = {**_NO_STEP_DEFAULT, _MAIN_ONLY: "only main steps have it"}

_BY_KEY = ("airflow", "callbacks", "hooks", "inputs", "retry")
"""Keys whose mappings are merged key by key; the others are taken or left whole."""


def _part_of(block: Block, title: str, description: str, refused: dict[str, str]) -> Block:
    keys = tuple(replace(key, is_required=False) for key in block.keys if key.name not in refused)
    return Block(title, description, keys)


_AIRFLOW = _part_of(
    WORKFLOW_AIRFLOW, "airflow defaults", WORKFLOW_AIRFLOW.description, _NO_AIRFLOW_DEFAULT
)
_WORKFLOW = _part_of(
    WORKFLOW, "workflow defaults", "What every workflow has by default.", _NO_WORKFLOW_DEFAULT
)
WORKFLOW_DEFAULTS = replace(
    _WORKFLOW,
    keys=tuple(
        replace(key, kind=Object(_AIRFLOW)) if key.name == "airflow" else key
        for key in _WORKFLOW.keys
    ),
)
STEP_DEFAULTS = _part_of(
    STEP, "step defaults", "What every main step has by default.", _NO_STEP_DEFAULT
)
HOOK_STEP_DEFAULTS = _part_of(
    STEP, "hook step defaults", "What every hook has by default.", _NO_HOOK_STEP_DEFAULT
)
DEFAULTS = Block(
    "defaults",
    "What the workflows beside and below a `defaults.yaml` have unless they say otherwise.",
    (
        Key("workflow", Object(WORKFLOW_DEFAULTS), "Defaults of workflows."),
        Key("step", Object(STEP_DEFAULTS), "Defaults of main steps and steps of `before_start`."),
        Key("hook_step", Object(HOOK_STEP_DEFAULTS), "Defaults of hooks."),
    ),
)

DEFAULTS_BLOCKS = (DEFAULTS, WORKFLOW_DEFAULTS, _AIRFLOW, STEP_DEFAULTS, HOOK_STEP_DEFAULTS)
"""The blocks that only a file of defaults has."""

_REFUSED: dict[Path, dict[str, str]] = {
    ("workflow",): _NO_WORKFLOW_DEFAULT,
    ("workflow", "airflow"): _NO_AIRFLOW_DEFAULT,
    ("step",): _NO_STEP_DEFAULT,
    ("hook_step",): _NO_HOOK_STEP_DEFAULT,
}


def is_defaults(path: str) -> bool:
    """Whether a path is that of a file of defaults, which is never a workflow."""
    return _file_name(path) == DEFAULTS_NAME


def is_misnamed_defaults(path: str, value: object) -> bool:
    """Whether a file has the form of defaults and all but their name, as ``defaults.yml`` has.

    :param value: what the file says.
    """
    if is_defaults(path) or not is_yaml_called("defaults", _file_name(path)):
        return False
    known = {key.name for key in DEFAULTS.keys}
    return isinstance(value, dict) and bool(value) and value.keys() <= known


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def defaults_problems(value: dict[str, Any]) -> list[Diagnostic]:
    """Return what is wrong with the root mapping of a ``defaults.yaml``."""
    decoding = Decoding({})
    for path, refused in _REFUSED.items():
        section = _at(value, path)
        wrong = [key for key in section if key in refused] if isinstance(section, dict) else []
        for key in wrong:
            message = f"{quote(key)} cannot have a default: {refused[key]}"
            decoding.error("not-a-default", message, (*path, key), part="key")
        if wrong:
            value = _without(value, path, wrong)
    decoding.read_keys(DEFAULTS, value, ())
    return decoding.diagnostics


def _at(value: Any, path: Path) -> Any:  # noqa: ANN401  # any JSON value
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _without(value: dict[str, Any], path: Path, keys: list[str]) -> dict[str, Any]:
    if not path:
        return {key: item for key, item in value.items() if key not in keys}
    first = str(path[0])
    return {**value, first: _without(value[first], path[1:], keys)}


def apply_defaults(root: Node, defaults: SourceDocument) -> Node:
    """Return a workflow's tree over the valid defaults of one file; what the tree says wins."""
    if defaults.root is None:
        return root
    sections = defaults.root.children
    if "workflow" in sections:
        section = sections["workflow"]
        if _has_trigger_timezone(root.value):
            # Of two time zones the workflow's own counts, and the language takes only one.
            section = change(section, ("airflow",), lambda node: without(node, "timezone"))
        root = overlay(root, section, _source(section, defaults), by_key=_BY_KEY)
    if "step" in sections:
        section = sections["step"]
        root = _apply_to_steps(root, ("steps",), section, defaults)
        root = _apply_to_steps(root, ("before_start",), without(section, _MAIN_ONLY), defaults)
    if "hook_step" in sections:
        for block in HOOK_BLOCKS:
            root = _apply_to_steps(root, ("hooks", block), sections["hook_step"], defaults)
    return root


def _apply_to_steps(root: Node, path: Path, section: Node, defaults: SourceDocument) -> Node:
    source = _source(section, defaults)

    def apply(steps: Node) -> Node:
        if not isinstance(steps.value, list):
            return steps
        children = {
            index: overlay(step, section, source, by_key=_BY_KEY)
            for index, step in steps.children.items()
        }
        values = [step.value for step in children.values()]
        return replace(steps, value=values, children=children)

    return change(root, path, apply)


def _source(section: Node, defaults: SourceDocument) -> SourceDocument:
    root = defaults.root
    return section.source or (root.source if root else None) or defaults


def _has_trigger_timezone(value: Any) -> bool:  # noqa: ANN401  # any JSON value
    triggers = value.get("triggers") if isinstance(value, dict) else None
    entries = triggers if isinstance(triggers, list) else []
    return any(isinstance(entry, dict) and "timezone" in entry for entry in entries)
