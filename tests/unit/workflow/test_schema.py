"""The JSON Schema for editors agrees with the checks as far as a schema can."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from mantle_provider.actions import ACTIONS
from mantle_provider.source.reader import read_document
from mantle_provider.workflow.keys import BLOCKS
from mantle_provider.workflow.schema import workflow_schema

CASES = Path(__file__).parents[2] / "cases"
SCHEMA_CODES = (
    "empty-list",
    "empty-value",
    "exclusive-keys",
    "invalid-choice",
    "invalid-dotted-path",
    "invalid-name",
    "missing-credential",
    "missing-key",
    "missing-param",
    "out-of-range",
    "unknown-action",
    "unknown-key",
    "unknown-param",
    "unused-credential",
    "wrong-type",
)
"""Codes of what a schema can see."""

REJECTED = [
    path for path in sorted((CASES / "errors").glob("*.yaml")) if path.stem.startswith(SCHEMA_CODES)
]


@pytest.fixture(scope="module")
def validator():
    return Draft7Validator(workflow_schema())


def value_of(path):
    return read_document(path.read_bytes(), path.name).document.value


def test_the_schema_is_a_schema():
    Draft7Validator.check_schema(workflow_schema())


@pytest.mark.parametrize(
    "path", sorted((CASES / "valid").glob("*.yaml")), ids=lambda path: path.stem
)
def test_valid_cases_are_accepted(path, validator):
    assert [error.message for error in validator.iter_errors(value_of(path))] == []


@pytest.mark.parametrize("path", REJECTED, ids=lambda path: path.stem)
def test_wrong_cases_are_rejected(path, validator):
    assert not validator.is_valid(value_of(path))


@pytest.mark.parametrize("value", [5, "{{ 1 }}", None])
def test_a_parameter_may_be_an_expression(value, validator):
    step = {"name": "a", "action": "text/chunk", "params": {"text": "x", "chunk_size": value}}
    assert validator.is_valid({"name": "a", "steps": [step]})


def test_a_parameter_of_a_wrong_type_is_rejected(validator):
    step = {"name": "a", "action": "text/chunk", "params": {"text": "x", "chunk_size": "5"}}
    assert not validator.is_valid({"name": "a", "steps": [step]})


def test_every_key_has_a_description():
    assert [
        f"{block.title}: {key.name}"
        for block in BLOCKS
        for key in block.keys
        if not key.description.endswith(".")
    ] == []
    assert len({block.title for block in BLOCKS}) == len(BLOCKS)


def test_every_action_is_offered():
    actions = workflow_schema()["definitions"]["step"]["properties"]["action"]["enum"]
    assert actions == list(ACTIONS)
