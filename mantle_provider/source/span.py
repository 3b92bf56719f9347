"""How a place in a YAML file is named: by path in the tree, and by line and column in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Mapping keys and list indexes from the root; the empty path is the whole document."""

Part: TypeAlias = Literal["key", "value"]
"""Which side of a mapping entry is meant."""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class Span(NamedTuple):
    """A stretch of text; lines and columns count from 1, columns in code points, end exclusive.

    A tuple, since every value of every file has one and a frozen dataclass takes twice as long.
    """

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of a string value, for example one expression in a template.

    :param text: the piece as it stands in the value, not as it is written in YAML.
    :param occurrence: how often the same text stands in the value before it.
    """

    text: str
    occurrence: int = 0

    @classmethod
    def at(cls, value: str, start: int, end: int) -> Fragment:
        """Return the piece of ``value`` from index ``start`` up to index ``end``."""
        text = value[start:end]
        return cls(text, value.count(text, 0, start) if text else 0)


def format_path(path: Path) -> str:
    """Return a path as users know it, for example ``steps[0].params['my key']``."""
    text = ""
    for item in path:
        if isinstance(item, int):
            text += f"[{item}]"
        elif _PLAIN_KEY.fullmatch(item):
            text += f".{item}" if text else item
        else:
            text += f"[{item!r}]"
    return text
