"""The kinds of plain value that keys take: each reads one, and describes it as JSON Schema.

Mappings and lists are in :mod:`mantle_provider.workflow.blocks`. A kind's ``read`` returns the
decoded value, or :data:`INVALID` once it has reported why there is none.
"""

# ruff: noqa: D102  # the methods do what Kind says of them

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

from mantle_provider.diagnostics.wording import describe, join_choices, quote
from mantle_provider.workflow.durations import DurationError, parse_duration

if TYPE_CHECKING:
    from mantle_provider.source.span import Path
    from mantle_provider.workflow.decoding import Decoding

Schema: TypeAlias = dict[str, Any]

INVALID: Final = object()
"""In place of a value that could not be decoded; the reason has been reported."""

NAME = re.compile(r"[a-z][a-z0-9-]*")
_DOTTED_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", re.ASCII)
_START = re.compile(
    r"\d{4}-\d\d-\d\d(?P<time>[T ]\d\d:\d\d(:\d\d(\.\d{3}|\.\d{6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII
)
"""What Python 3.10 reads of ISO 8601; later versions read more."""

_YAML_1_1_BOOLEANS = {
    **dict.fromkeys(("yes", "on", "y"), "true"),
    **dict.fromkeys(("no", "off", "n"), "false"),
}


class Kind(Protocol):
    """What a key may hold."""

    @property
    def label(self) -> str:
        """What is expected, in words that follow "must be"."""

    @property
    def may_be_empty(self) -> bool:
        """Whether a key without a value, ``key:``, is as good as absent, as in Mantle."""

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401  # each kind has its own type
        """Return the decoded value, or :data:`INVALID` after reporting."""

    def schema(self) -> Schema:
        """Return the JSON Schema of the value."""


@dataclass(frozen=True, slots=True)
class Text:
    """Any string without an expression."""

    label: str = "a string"
    may_be_empty: bool = False
    is_nonempty: bool = False

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        if not isinstance(value, str):
            return decoding.wrong_type(path, self.label, value)
        if self.is_nonempty and not value:
            decoding.error("empty-value", f"{quote(str(path[-1]))} must not be empty", path)
            return INVALID
        return value if refuse_templates(value, path, decoding) else INVALID

    def schema(self) -> Schema:
        schema: Schema = {"type": "string"}
        return {**schema, "minLength": 1} if self.is_nonempty else schema


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a workflow or of a step."""

    label: str = "a name"
    may_be_empty: bool = False

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        if not isinstance(value, str):
            return decoding.wrong_type(path, self.label, value)
        if NAME.fullmatch(value):
            return value
        decoding.error("invalid-name", f"name {quote(value)} {explain_name(value, '-')}", path)
        return INVALID

    def schema(self) -> Schema:
        return {"type": "string", "pattern": f"^{NAME.pattern}$"}


@dataclass(frozen=True, slots=True)
class DottedPath:
    """The dotted path of something in Python, for example ``my_package.callbacks.notify``."""

    label: str = "a dotted path"
    may_be_empty: bool = False

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        if not isinstance(value, str):
            return decoding.wrong_type(path, self.label, value)
        if _DOTTED_PATH.fullmatch(value):
            return value
        message = f'{quote(value)} is not a dotted path such as "my_package.module.name"'
        decoding.error("invalid-dotted-path", message, path)
        return INVALID

    def schema(self) -> Schema:
        return {"type": "string", "pattern": r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$"}


@dataclass(frozen=True, slots=True)
class Expression:
    """Bare CEL, without braces; the rules compile it."""

    label: str = "a CEL expression"
    may_be_empty: bool = False

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        if isinstance(value, bool):
            # `if: false` switches a step off; YAML reads a boolean where CEL is meant.
            return str(value).lower()
        if not isinstance(value, str):
            return decoding.wrong_type(path, self.label, value)
        return value

    def schema(self) -> Schema:
        return {"type": ["string", "boolean"]}


@dataclass(frozen=True, slots=True)
class Duration:
    """A positive Go duration."""

    label: str = 'a duration such as "90s" or "1h30m"'
    may_be_empty: bool = False

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        if isinstance(value, int | float) and not isinstance(value, bool):
            key = quote(str(path[-1]))
            message = f'{key} needs a unit, for example "{value}s", got {describe(value)}'
            decoding.error("invalid-duration", message, path)
            return INVALID
        if not isinstance(value, str):
            return decoding.wrong_type(path, self.label, value)
        try:
            return parse_duration(value)
        except DurationError as error:
            decoding.error("invalid-duration", f"duration {quote(value)} {error}", path)
            return INVALID

    def schema(self) -> Schema:
        pattern = r"^\+?(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$"
        return {"type": "string", "pattern": pattern}


@dataclass(frozen=True, slots=True)
class StartDate:
    """A date or a time in ISO 8601."""

    label: str = 'a date such as "2026-01-31"'
    may_be_empty: bool = False

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        if not isinstance(value, str):
            return decoding.wrong_type(path, self.label, value)
        try:
            return _parse_start(value)
        except ValueError:
            message = (
                f'{quote(value)} is neither a date such as "2026-01-31"'
                ' nor a time such as "2026-01-31T08:00:00+01:00"'
            )
            decoding.error("invalid-start-date", message, path)
            return INVALID

    def schema(self) -> Schema:
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few strings."""

    values: tuple[str, ...]
    may_be_empty: bool = False

    @property
    def label(self) -> str:
        return join_choices(map(quote, self.values))

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        if value in self.values:
            return value
        if not isinstance(value, str):
            return decoding.wrong_type(path, self.label, value)
        message = f"{quote(str(path[-1]))} must be {self.label}, got {quote(value)}"
        decoding.error("invalid-choice", message, path)
        return INVALID

    def schema(self) -> Schema:
        return {"enum": list(self.values)}


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number within bounds, both inclusive."""

    minimum: int
    maximum: int | None = None
    label: str = "an integer"
    may_be_empty: bool = False

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        if not isinstance(value, int) or isinstance(value, bool):
            return decoding.wrong_type(path, self.label, value)
        if value >= self.minimum and (self.maximum is None or value <= self.maximum):
            return value
        bounds = (
            f"at least {self.minimum}"
            if self.maximum is None
            else f"from {self.minimum} to {self.maximum}"
        )
        message = f"{quote(str(path[-1]))} must be {bounds}, got {value}"
        decoding.error("out-of-range", message, path)
        return INVALID

    def schema(self) -> Schema:
        schema: Schema = {"type": "integer", "minimum": self.minimum}
        return schema if self.maximum is None else {**schema, "maximum": self.maximum}


@dataclass(frozen=True, slots=True)
class Boolean:
    """``true`` or ``false``; with ``only`` that one alone."""

    only: bool | None = None
    may_be_empty: bool = False

    @property
    def label(self) -> str:
        return "true or false" if self.only is None else str(self.only).lower()

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        if isinstance(value, bool) and self.only in (None, value):
            return value
        meant = _YAML_1_1_BOOLEANS.get(value.lower()) if isinstance(value, str) else None
        cure = f"; in YAML 1.2 that is a string, write {meant}" if meant else ""
        return decoding.wrong_type(path, self.label, value, cure)

    def schema(self) -> Schema:
        return {"type": "boolean"} if self.only is None else {"const": self.only}


@dataclass(frozen=True, slots=True)
class AnyValue:
    """Any JSON value; strings hold no expressions."""

    label: str = "any value"
    may_be_empty: bool = True

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        return value if refuse_templates(value, path, decoding) else INVALID

    def schema(self) -> Schema:
        return {}


@dataclass(frozen=True, slots=True)
class Params:
    """A mapping of any JSON values, whose strings may hold ``{{ CEL }}`` at any depth."""

    label: str = "a mapping"
    may_be_empty: bool = True

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        return value if isinstance(value, dict) else decoding.wrong_type(path, self.label, value)

    def schema(self) -> Schema:
        return {"type": "object"}


def _parse_start(text: str) -> date | datetime:
    match = _START.fullmatch(text)
    if match is None:
        raise ValueError(text)
    if match["time"] is None:
        return date.fromisoformat(text)
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def explain_name(text: str, joint: Literal["-", "_"]) -> str:
    """Return what is wrong with a name, completing ``name "..." ...``.

    :param joint: what joins the words of such a name.
    """
    valid = re.sub(r"[^a-z0-9]+", joint, text.lower()).strip(joint)
    cure = f"; for example {quote(valid)}" if re.fullmatch(r"[a-z].*", valid) else ""
    joints = "hyphens" if joint == "-" else "underscores"
    return (
        "must begin with a lower-case letter, followed by lower-case letters, digits and"
        f" {joints}{cure}"
    )


def refuse_templates(value: Any, path: Path, decoding: Decoding) -> bool:  # noqa: ANN401  # any JSON value
    """Report each string with ``{{`` at or below a value; return whether there is none."""
    if isinstance(value, str):
        if "{{" not in value:
            return True
        message = 'an expression cannot stand here, only under "params" of a step'
        decoding.error("template-not-allowed", message, path)
        return False
    if isinstance(value, dict):
        entries = [refuse_templates(item, (*path, key), decoding) for key, item in value.items()]
        return all(entries)
    if isinstance(value, list):
        items = [refuse_templates(item, (*path, i), decoding) for i, item in enumerate(value)]
        return all(items)
    return True
