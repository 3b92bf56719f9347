"""Phrases that diagnostics share: quoting, lists of choices, near matches."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_QUOTED = 80
_MAX_LISTED = 10
_MAX_NEAR = 3
_FEW = 50
"""Up to so many names a slow and thorough comparison is affordable for each mistake."""


def quote(text: str) -> str:
    """Return the user's text in double quotes, on one line, shortened when it is long."""
    if len(text) > _MAX_QUOTED:
        text = text[: _MAX_QUOTED - 1] + "…"
    return '"' + "".join(map(_visible, text)) + '"'


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return {"\n": r"\n", "\t": r"\t", "\r": r"\r"}.get(character, f"\\u{ord(character):04x}")


def describe(value: Any) -> str:  # noqa: ANN401  # any JSON value
    """Return what a value is, for example ``the number 30`` or ``a list``."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the string {quote(value)}"
    return "a list" if isinstance(value, list) else "a mapping"


def join_choices(words: Iterable[str], conjunction: str = "or") -> str:
    """Return ``a``, ``a or b``, ``a, b or c``."""
    *rest, last = words
    return f"{', '.join(rest)} {conjunction} {last}" if rest else last


def suggest(name: str, candidates: Iterable[str], *, none: str = "") -> str:
    """Return the end of a message on an unknown name, beginning with a semicolon.

    Near matches when there are any, else the whole list when it is short.

    :param none: what to say when there are no candidates.
    """
    known = tuple(dict.fromkeys(candidates))
    if not known:
        return f"; {none}" if none else ""
    near = near_matches(name, known)
    if near:
        return f"; did you mean {join_choices(map(quote, near))}?"
    if len(known) <= _MAX_LISTED:
        return f"; known: {', '.join(map(quote, known))}"
    return ""


def near_matches(name: str, known: tuple[str, ...]) -> list[str]:
    """Return the few names that ``name`` may be a misspelling of, nearest first."""
    return _near_of_few(name, known) if len(known) <= _FEW else _near_of_many(name, known)


def _near_of_few(name: str, known: tuple[str, ...]) -> list[str]:
    # Imported here since most files are right, and `mantle validate` should start quickly.
    from difflib import get_close_matches  # noqa: PLC0415

    return get_close_matches(name, known, n=_MAX_NEAR, cutoff=0.6)


def _near_of_many(name: str, known: tuple[str, ...]) -> list[str]:
    """Return names that differ in little; the time does not grow with their number."""
    index = _index(known)
    near = [match for shorter in _shortened(name) for match in index.get(shorter, ())]
    return list(dict.fromkeys(near))[:_MAX_NEAR]


@lru_cache(maxsize=8)
def _index(known: tuple[str, ...]) -> dict[str, list[str]]:
    index: dict[str, list[str]] = {}
    for name in known:
        for shorter in _shortened(name):
            index.setdefault(shorter, []).append(name)
    return index


def _shortened(name: str) -> list[str]:
    """Return a name, and the name without each of its letters.

    Two names that differ by a letter too many, missing, wrong or swapped share one of these, and
    so do a few that differ by two.
    """
    return [
        name,
        *(name[:index] + name[index + 1 :] for index in range(min(len(name), _MAX_QUOTED))),
    ]
