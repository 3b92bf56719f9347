"""The JSON Schema that editors complete and check workflow files with.

As strict as a schema can be: what needs more than one value at a time is left to the rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mantle_provider.actions import ACTIONS
from mantle_provider.workflow.decoding import FREE_PREFIX
from mantle_provider.workflow.defaults import DEFAULTS, DEFAULTS_BLOCKS
from mantle_provider.workflow.environments import VALUES
from mantle_provider.workflow.keys import BLOCKS, WORKFLOW
from mantle_provider.workflow.step_keys import STEP

if TYPE_CHECKING:
    from mantle_provider.actions import ActionSpec, ParamSpec, ParamType
    from mantle_provider.workflow.blocks import Block, Key
    from mantle_provider.workflow.kinds import Schema

SCHEMA_DIALECT = "http://json-schema.org/draft-07/schema#"
"""Draft 7: what the YAML language server, and so most editors, read in full."""

_PARAM_TYPES: dict[ParamType, str] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "map": "object",
    "list": "array",
    "duration": "string",
    "timestamp": "string",
}


FileKind: TypeAlias = Literal["workflow", "defaults", "values"]

_INCLUDE = {
    "type": "string",
    "pattern": r"\.ya?ml(#.+)?$",
    "description": "With the tag `!include`: the value of another file, or of a part of it.",
}
"""How editors see ``!include``: as its text, for they do not read the other file."""


def file_schema(kind: FileKind = "workflow") -> Schema:
    """Return the schema of a whole file, as JSON data.

    :param kind: a workflow, a ``defaults.yaml``, or a file of values for one environment.
    """
    roots = {"workflow": WORKFLOW, "defaults": DEFAULTS, "values": VALUES}
    root = roots[kind]
    schema = {"$schema": SCHEMA_DIALECT, "title": f"Mantle {root.title}", **_block_schema(root)}
    if kind == "values":
        # It may hold secrets, whose lines are not shown, so it does not lead to other files.
        return {**schema, "definitions": {"include": False}}
    blocks = [*BLOCKS, *(DEFAULTS_BLOCKS if kind == "defaults" else ())]
    definitions = {_definition(block): _block_schema(block) for block in blocks if block != root}
    return {**schema, "definitions": {**definitions, "include": _INCLUDE}}


def _definition(block: Block) -> str:
    return block.title.replace(" ", "-")


def _block_schema(block: Block) -> Schema:
    schema: Schema = {
        "type": "object",
        "description": block.description,
        "properties": {key.name: _key_schema(key) for key in block.keys},
        "patternProperties": {f"^{FREE_PREFIX}": True},
        "additionalProperties": False,
    }
    required = [key.name for key in block.keys if key.is_required]
    if required:
        schema["required"] = required
    if block.exactly_one:
        schema["oneOf"] = [{"required": [name]} for name in block.exactly_one]
    if block is STEP:
        schema["properties"]["action"]["enum"] = list(ACTIONS)
        schema["allOf"] = [_action_schema(spec) for spec in ACTIONS.values()]
    return schema


def _key_schema(key: Key) -> Schema:
    schema = _with_include(key.kind.schema())
    if key.kind.may_be_empty and not key.is_required:
        schema = {"anyOf": [*_choices(schema), {"type": "null"}]}
    ending = " Not supported by this version yet." if key.is_planned else ""
    return {"description": key.description + ending, **schema}


def _with_include(schema: Schema) -> Schema:
    """Return a schema that accepts an include for each mapping, each list and its entries."""
    if "anyOf" in schema:
        choices = [item for choice in schema["anyOf"] for item in _choices(_with_include(choice))]
        return {"anyOf": [item for n, item in enumerate(choices) if item not in choices[:n]]}
    if schema.get("type") == "array":
        schema = {**schema, "items": _with_include(schema["items"])}
    if "$ref" in schema or schema.get("type") in ("array", "object"):
        return {"anyOf": [schema, {"$ref": "#/definitions/include"}]}
    return schema


def _choices(schema: Schema) -> list[Schema]:
    return list(schema.get("anyOf", [schema]))


def _action_schema(spec: ActionSpec) -> Schema:
    """Return the schema of the parameters that apply when a step has this action."""
    required = [param.name for param in spec.params if param.required]
    params: Schema = {
        "type": "object",
        "properties": {param.name: _param_schema(param) for param in spec.params},
        "required": required,
        "additionalProperties": spec.has_free_params,
    }
    properties: Schema = {"params": _with_include(params)}
    if spec.credential == "none":
        properties["credential"] = False
    step_keys = ["params"] if required or spec.exactly_one else []
    step_keys += ["credential"] if spec.credential == "required" else []
    if spec.exactly_one:
        properties["params"]["oneOf"] = [{"required": [name]} for name in spec.exactly_one]
    return {
        "if": {"properties": {"action": {"const": spec.name}}, "required": ["action"]},
        "then": {"properties": properties, "required": step_keys},
    }


def _param_schema(param: ParamSpec) -> Schema:
    """Return the schema of one parameter, which an expression may stand for."""
    schema: dict[str, Any] = {"description": param.description}
    if "any" in param.types:
        return schema
    literal: Schema = {"type": [_PARAM_TYPES[kind] for kind in param.types]}
    if param.enum:
        literal = {"enum": list(param.enum)}
    bounds = {} if param.minimum is None else {"minimum": param.minimum}
    choices = [{**literal, **bounds}]
    if param.allows_expressions and ("string" not in param.types or param.enum):
        choices.append({"type": "string", "pattern": r"\{\{"})
    if not param.required:
        choices.append({"type": "null"})
    return {**schema, "anyOf": choices}
