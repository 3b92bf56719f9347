"""The JSON Schema for editors agrees with the checks as far as a schema can."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from mantle_provider.actions import ACTIONS
from mantle_provider.source.reader import read_document
from mantle_provider.workflow.keys import BLOCKS
from mantle_provider.workflow.schema import file_schema

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
    return Draft7Validator(file_schema())


def value_of(path):
    return read_document(path.read_bytes(), path.name).document.value


@pytest.mark.parametrize("kind", ["workflow", "defaults", "values"])
def test_the_schema_is_a_schema(kind):
    Draft7Validator.check_schema(file_schema(kind))


def test_an_include_may_stand_for_a_mapping_a_list_and_an_entry(validator):
    step = {"name": "a", "action": "bash/run", "params": "params.yaml#echo", "retry": "retry.yml"}
    for steps in ("steps.yaml", ["step.yaml#a"], [step]):
        assert validator.is_valid({"name": "a", "steps": steps, "hooks": "hooks.yaml"})
    assert not validator.is_valid({"name": "a", "steps": "steps"})


@pytest.mark.parametrize("path", sorted((CASES / "projects").rglob("defaults.yaml")), ids=str)
def test_defaults_are_accepted_where_the_check_accepts_them(path):
    expected = path.parent.name not in {"broken-defaults", "not-a-default"}
    assert Draft7Validator(file_schema("defaults")).is_valid(value_of(path)) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"inputs": {"a": 1}, "env": {"A": "x", "b": 5}}, True),
        ({}, True),
        ({"inputs": {"A": 1}}, False),
        ({"steps": []}, False),
    ],
)
def test_values_are_accepted_where_the_check_accepts_them(value, expected):
    assert Draft7Validator(file_schema("values")).is_valid(value) is expected


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
    actions = file_schema()["definitions"]["step"]["properties"]["action"]["enum"]
    assert actions == list(ACTIONS)
