"""What one decoding remembers: findings, decoded blocks, planned keys. Has state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mantle_provider.diagnostics.findings import Findings
from mantle_provider.diagnostics.wording import (
    describe,
    join_choices,
    near_matches,
    quote,
    suggest,
)
from mantle_provider.workflow.kinds import INVALID

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mantle_provider.source.span import Path
    from mantle_provider.workflow.blocks import Block, Key

_TEXTS = frozenset({"a string", "a name", "a CEL expression"})
"""What a number becomes in quotes."""

FREE_PREFIX = "x-"
"""Keys that begin so are the user's own: notes, and places for anchors."""


class Decoding(Findings):
    """Findings, and what the kinds need to decode blocks.

    :param builders: title of a block -> function from its decoded keys and its path to a value
        of the model; a block without one stays a dict.
    """

    def __init__(self, builders: Mapping[str, Callable[[dict[str, Any], Path], Any]]) -> None:
        super().__init__()
        self._builders = builders
        self.built: dict[Path, Any] = {}
        self.planned: list[Path] = []

    def wrong_type(self, path: Path, expected: str, value: Any, cure: str = "") -> Any:  # noqa: ANN401  # returns INVALID
        """Report a value of a wrong type; return :data:`INVALID`.

        :param cure: the end of the message, beginning with a semicolon.
        """
        if not cure and isinstance(value, int | float) and expected in _TEXTS:
            cure = "; put it in quotes"
        elif not cure and isinstance(value, str) and _is_number(value):
            cure = "; remove the quotes"
        message = f"{name_of(path)} must be {expected}, got {describe(value)}{cure}"
        self.error("wrong-type", message, path)
        return INVALID

    def read_block(self, block: Block, value: dict[str, Any], path: Path) -> Any:  # noqa: ANN401  # what the builder gives
        """Decode the keys of a block and build its value.

        Unknown keys are reported, but do not make the block invalid: what is known can still be
        checked, unless the misspelt key is one that the block cannot do without.
        """
        before = len(self.diagnostics)
        values = self.read_keys(block, value, path)
        is_wrong = any(item.code != "unknown-key" for item in self.diagnostics[before:])
        if is_wrong or not block.is_complete(values):
            return INVALID
        builder = self._builders.get(block.title)
        built = values if builder is None else builder(values, path)
        self.built[path] = built
        return built

    def read_keys(self, block: Block, value: dict[str, Any], path: Path) -> dict[str, Any]:
        """Return the decoded values of the keys that are there and right."""
        misspelt = self._refuse_unknown(block, value, path)
        values = {}
        for key in block.keys:
            if key.name in value:
                decoded = self._read_key(key, value[key.name], (*path, key.name))
                if decoded is not None:
                    values[key.name] = decoded
            elif key.is_required and key.name not in misspelt:
                self.error("missing-key", f"{block.title} lacks the key {quote(key.name)}", path)
        given = [name for name in block.exactly_one if name in value]
        if block.exactly_one and not given and misspelt.isdisjoint(block.exactly_one):
            choices = join_choices(map(quote, block.exactly_one))
            message = f"{block.title} needs one of the keys {choices}"
            self.error("missing-key", message, path)
        elif len(given) > 1:
            self._refuse_together(block, given, path)
        return values

    def _read_key(self, key: Key, value: Any, path: Path) -> Any:  # noqa: ANN401  # decoded or None
        if value is None and not (key.kind.may_be_empty and not key.is_required):
            message = f"{quote(key.name)} has no value; give it {key.kind.label} or remove the key"
            if key.is_required:
                message = f"{quote(key.name)} has no value; it must be {key.kind.label}"
            self.error("empty-value", message, path, part="key")
            return None
        if value is None:
            return None
        if key.is_planned:
            self.planned.append(path)
        decoded = key.kind.read(value, path, self)
        return None if decoded is INVALID else decoded

    def _refuse_together(self, block: Block, given: list[str], path: Path) -> None:
        names = join_choices(map(quote, given), "and")
        message = f"{block.title} has {names}, of which only one can be given"
        self.error("exclusive-keys", message, (*path, given[-1]), part="key")

    def _refuse_unknown(self, block: Block, value: dict[str, Any], path: Path) -> set[str]:
        """Report the unknown keys; return those they are likely to be misspellings of."""
        known = tuple(key.name for key in block.keys)
        misspelt: set[str] = set()
        for name in value:
            if name not in known and not name.startswith(FREE_PREFIX):
                message = f"unknown key {quote(name)} in {block.title}{suggest(name, known)}"
                self.error("unknown-key", message, (*path, name), part="key")
                misspelt.update(near_matches(name, known))
        return misspelt


def name_of(path: Path) -> str:
    """Return how a message calls a value: its key in quotes, or the entry of a list."""
    last = path[-1]
    if isinstance(last, str):
        return quote(last)
    *_, name = [item for item in path if isinstance(item, str)]
    return f"an entry of {quote(name)}"


def _is_number(text: str) -> bool:
    return text.lstrip("+-").replace("_", "").isdecimal()
