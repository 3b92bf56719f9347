"""CEL's static types, as far as they are known before anything runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CelType:
    """A type, with its element types where it has them; ``dyn`` is a type known only later."""

    name: str
    parameters: tuple[CelType, ...] = ()

    def __str__(self) -> str:
        if all(parameter == DYN for parameter in self.parameters):
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"


DYN = CelType("dyn")
BOOL = CelType("bool")
INT = CelType("int")
UINT = CelType("uint")
DOUBLE = CelType("double")
STRING = CelType("string")
BYTES = CelType("bytes")
NULL = CelType("null")
TIMESTAMP = CelType("timestamp")
DURATION = CelType("duration")
TYPE = CelType("type")
LIST = CelType("list", (DYN,))
MAP = CelType("map", (DYN, DYN))

ORDERED = frozenset({BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION})


def list_of(element: CelType) -> CelType:
    """Return the type of a list of ``element``."""
    return CelType("list", (element,))


def map_of(key: CelType, value: CelType) -> CelType:
    """Return the type of a map from ``key`` to ``value``."""
    return CelType("map", (key, value))


# The variables of a workflow (LANGUAGE, "Values in expressions"), typed as in Mantle's environment
# (reference 2.1); what else a caller declares is ``dyn``.
WORKFLOW_TYPES = {
    "steps": map_of(STRING, DYN),
    "hooks": map_of(STRING, DYN),
    "inputs": map_of(STRING, DYN),
    "trigger": map_of(STRING, DYN),
    "env": map_of(STRING, STRING),
    "artifacts": map_of(STRING, DYN),
    "execution": map_of(STRING, DYN),
}


def accepts(expected: CelType, actual: CelType) -> bool:
    """Whether a value of static type ``actual`` may turn out to be an ``expected``."""
    if DYN in (expected, actual):
        return True
    if actual == NULL and expected in (TIMESTAMP, DURATION):
        # cel-go: messages, and these are two, may be null.
        return True
    return expected.name == actual.name and all(
        map(accepts, expected.parameters, actual.parameters)
    )


def join(types: list[CelType]) -> CelType:
    """Return the one type of all values, or ``dyn`` for a mixture and for nothing."""
    return types[0] if types and all(found == types[0] for found in types) else DYN
