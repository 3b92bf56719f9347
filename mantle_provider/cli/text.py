"""Text of others, such as error messages and answers, made fit for one line of a terminal."""

from __future__ import annotations

_MAX_LENGTH = 300


def one_line(text: str) -> str:
    """Return ``text`` on one line, without control characters, shortened when it is long."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    line = " ".join(printable.split())
    return line if len(line) <= _MAX_LENGTH else line[: _MAX_LENGTH - 1] + "…"
