"""From a workflow's inputs to a Dag's params, which are Airflow's trigger form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import Param

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def dag_params(inputs: Sequence[Mapping[str, Any]], *, is_typed: bool) -> dict[str, Param]:
    """Return one param per input, in the order of the file.

    An input that is not required may be null, and is when it has no default. A required one
    without default has no value either, so that Airflow refuses a run that does not give it.

    :param is_typed: whether Airflow shall check values; see :func:`build_dag` for why not always.
    """
    return {item["name"]: _param(item, is_typed=is_typed) for item in inputs}


def _param(item: Mapping[str, Any], *, is_typed: bool) -> Param:
    if not is_typed:
        return Param(item["default"], description=item["description"] or None)
    schema: dict[str, Any] = {}
    is_nullable = not item["required"]
    if item["type"]:
        schema["type"] = [item["type"], "null"] if is_nullable else item["type"]
    if item["enum"]:
        schema["enum"] = [*item["enum"], *([None] if is_nullable else [])]
    description = item["description"] or None
    if item["required"] and item["default"] is None:
        return Param(description=description, **schema)
    return Param(item["default"], description=description, **schema)
