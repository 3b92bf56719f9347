"""The description of an action: its parameters, output and needs, as data.

Pure: the operator that carries an action out is named here by its dotted path only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

ParamType: TypeAlias = Literal[
    "string", "integer", "number", "boolean", "map", "list", "any", "duration", "timestamp"
]
"""``duration`` is a string in Go's form and ``timestamp`` one in RFC 3339, or what an expression
yields for it; ``map`` is string-keyed; ``any`` is any JSON value."""


@dataclass(frozen=True, slots=True)
class ParamSpec:
    """One parameter of an action.

    :param types: the types a literal value may have; a template is checked when the step runs.
    :param default: shown in the docs; the operator applies it.
    :param enum: the strings allowed, empty when any is.
    :param words: strings that may stand in place of a value of the types.
    :param minimum: smallest number allowed, inclusive.
    :param allows_expressions: whether strings at any depth may hold ``{{ CEL }}``.
    """

    name: str
    types: tuple[ParamType, ...]
    description: str
    required: bool = False
    default: Any = None
    enum: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    minimum: int | None = None
    allows_expressions: bool = True


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """What a step can do.

    :param name: ``family/verb``.
    :param operator: dotted path of the operator class that carries it out.
    :param output: field of the output -> its description; empty when the callable decides.
    :param credential: whether the step's key ``credential`` is refused, allowed or required.
    :param connection_type: Airflow's connection type that ``credential`` names.
    :param extra: the extra of our distribution that brings the provider, ``None`` when built in.
    :param has_free_params: whether parameters beyond ``params`` are accepted, as for an
        Airflow operator's own arguments.
    :param wraps_result: whether a result that is no JSON object becomes ``{"result": value}``
        and none becomes ``{}`` (DESIGN 4, ``RESULT_VALIDATION``).
    :param can_wait: whether the action may give its process back and come again later.
    :param exactly_one: parameters of which one must be there, and no two.
    """

    name: str
    summary: str
    operator: str
    params: tuple[ParamSpec, ...]
    output: tuple[tuple[str, str], ...] = ()
    credential: Literal["none", "optional", "required"] = "none"
    connection_type: str | None = None
    extra: str | None = None
    has_free_params: bool = False
    wraps_result: bool = False
    can_wait: bool = False
    exactly_one: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """The part before the slash, which names the operator's module."""
        return self.name.partition("/")[0]
