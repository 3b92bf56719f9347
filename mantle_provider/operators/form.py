"""The form of a request to a person: its fields as Airflow shows them, and what was filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import Param
from airflow.sdk.exceptions import ParamValidationError
from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]  # no stubs
from jsonschema.validators import validator_for  # type: ignore[import-untyped]  # no stubs

if TYPE_CHECKING:
    from collections.abc import Mapping

_RESERVED = "_options"
"""Airflow's UI keeps the chosen options under this name."""


class FieldError(ValueError):
    """A field is wrong, or what was filled in does not fit it; the text never holds a value.

    :param name: the field.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def form_fields(form: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return field -> what Airflow stores of it, ``{"value", "description", "schema", "source"}``.

    :param form: field to its default value, or to a JSON Schema with ``default``.
    :raises FieldError: for a reserved name, a schema that is none, a default that does not fit.
    """
    return {name: _field(name, field) for name, field in form.items()}


def _field(name: str, field: Any) -> dict[str, Any]:  # noqa: ANN401  # any JSON value
    if name == _RESERVED:
        raise FieldError(name, f'the field name "{name}" is reserved')
    schema = dict(field) if isinstance(field, dict) else {"default": field}
    default, description = schema.pop("default", None), schema.pop("description", None)
    try:
        validator_for(schema).check_schema(schema)
    except SchemaError:
        raise FieldError(name, f'field "{name}" has no valid JSON Schema') from None
    param = Param(default, description=description, schema=schema, source="task")
    if default is not None:
        _resolve(name, param, default, "the default")
    return param.serialize()


def answered_form(
    fields: Mapping[str, Mapping[str, Any]], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return field -> value, with the defaults of those that were not filled in.

    :param fields: from :func:`form_fields`.
    :raises FieldError: for an unknown field or a value that does not fit its field.
    """
    for name in given:
        if name not in fields:
            raise FieldError(name, f'the request has no field "{name}"')
    values = {}
    for name, field in fields.items():
        param = Param(schema=field["schema"])
        values[name] = _resolve(name, param, given.get(name, field["value"]), "the value")
    return values


def _resolve(name: str, param: Param, value: object, subject: str) -> Any:  # noqa: ANN401  # any JSON value
    try:
        return param.resolve(value)
    except ParamValidationError:
        raise FieldError(name, f'{subject} of field "{name}" does not fit its schema') from None
