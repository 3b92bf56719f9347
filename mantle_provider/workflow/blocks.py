"""Lists and mappings of the language, and what one key of it is.

The tables in :mod:`mantle_provider.workflow.keys` are made of these and of the plain kinds.
"""

# ruff: noqa: D102  # the methods do what Kind says of them

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mantle_provider.diagnostics.wording import quote
from mantle_provider.workflow.kinds import INVALID, Kind, Schema, explain_name

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping

    from mantle_provider.source.span import Path
    from mantle_provider.workflow.decoding import Decoding


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; what is wrong with one entry does not hide the others."""

    item: Kind
    is_nonempty: bool = False
    may_be_empty: bool = True

    @property
    def label(self) -> str:
        return "a list"

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        if not isinstance(value, list):
            cure = "; write it as a list with one entry" if self._is_entry(value) else ""
            return decoding.wrong_type(path, self.label, value, cure)
        if self.is_nonempty and not value:
            message = f"{quote(str(path[-1]))} must have at least one entry"
            decoding.error("empty-list", message, path)
            return INVALID
        entries = [
            self.item.read(item, (*path, index), decoding) for index, item in enumerate(value)
        ]
        return tuple(entry for entry in entries if entry is not INVALID)

    def _is_entry(self, value: Any) -> bool:  # noqa: ANN401
        """Whether what stands in place of the list was likely meant as its only entry."""
        if isinstance(value, dict) and isinstance(self.item, Object):
            return any(key.name in value for key in self.item.block.keys)
        return isinstance(value, str)

    def schema(self) -> Schema:
        schema: Schema = {"type": "array", "items": self.item.schema()}
        return {**schema, "minItems": 1} if self.is_nonempty else schema


@dataclass(frozen=True, slots=True)
class MapOf:
    """A mapping whose keys the user chooses.

    :param key: pattern that keys must match, ``None`` for any; words joined by underscores.
    :param key_label: what a key is, for messages.
    """

    value: Kind
    key: re.Pattern[str] | None = None
    key_label: str = "key"
    label: str = "a mapping"
    may_be_empty: bool = True

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        if not isinstance(value, dict):
            return decoding.wrong_type(path, self.label, value)
        entries = {}
        for name, item in value.items():
            if self.key is not None and not self.key.fullmatch(name):
                message = f"{self.key_label} {quote(name)} {explain_name(name, '_')}"
                decoding.error("invalid-name", message, (*path, name), part="key")
            entry = {} if item is None and self.value.may_be_empty else item
            entries[name] = self.value.read(entry, (*path, name), decoding)
        return {name: entry for name, entry in entries.items() if entry is not INVALID}

    def schema(self) -> Schema:
        value = self.value.schema()
        if self.value.may_be_empty:
            value = {"anyOf": [value, {"type": "null"}]}
        schema: Schema = {"type": "object", "additionalProperties": value}
        if self.key is not None:
            schema["propertyNames"] = {"pattern": f"^{self.key.pattern}$"}
        return schema


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a block.

    :param airflow: what it becomes in Airflow, for the docs.
    :param default: the default in words, for the docs.
    :param is_extension: ours, not Mantle's.
    :param is_planned: read and checked, but refused as ``not-yet-supported``.
    """

    name: str
    kind: Kind
    description: str
    is_required: bool = False
    default: str = ""
    airflow: str = ""
    is_extension: bool = False
    is_planned: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A mapping with the keys of the language.

    :param title: what it is, as in "unknown key ... in step"; also names its builder.
    :param exactly_one: keys of which one must be there, and no two.
    """

    title: str
    description: str
    keys: tuple[Key, ...]
    exactly_one: tuple[str, ...] = ()

    def is_complete(self, values: Mapping[str, Any]) -> bool:
        """Whether decoded values hold every key that the block cannot do without."""
        has_one = not self.exactly_one or any(name in values for name in self.exactly_one)
        return has_one and all(key.name in values for key in self.keys if key.is_required)


@dataclass(frozen=True, slots=True)
class Object:
    """A mapping with the keys of a block, decoded to a value of the model."""

    block: Block
    label: str = "a mapping"
    may_be_empty: bool = True

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        if not isinstance(value, dict):
            return decoding.wrong_type(path, self.label, value)
        return decoding.read_block(self.block, value, path)

    def schema(self) -> Schema:
        return {"$ref": f"#/definitions/{self.block.title.replace(' ', '-')}"}


@dataclass(frozen=True, slots=True)
class Variants:
    """A mapping with the keys of one of several blocks.

    :param select: returns the block for a mapping, or ``None`` after reporting.
    """

    blocks: tuple[Block, ...]
    select: Callable[[dict[str, Any], Path, Decoding], Block | None]
    label: str = "a mapping"
    may_be_empty: bool = True

    def read(self, value: Any, path: Path, decoding: Decoding) -> Any:  # noqa: ANN401
        if not isinstance(value, dict):
            return decoding.wrong_type(path, self.label, value)
        block = self.select(value, path, decoding)
        return INVALID if block is None else decoding.read_block(block, value, path)

    def schema(self) -> Schema:
        return {"anyOf": [Object(block).schema() for block in self.blocks]}
