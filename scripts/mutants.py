"""Damaged texts: made from real ones, at random, the same for the same seed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("dags/workflows", "tests/cases", "tests/e2e/workflows")

_PIECES = (
    *(
        "{{",
        "}}",
        "\n",
        "\r\n",
        ": ",
        "- ",
        "? ",
        "*a",
        "&a ",
        "<<: ",
        "!x ",
        "!include ",
        "\t",
        '"',
    ),
    *(
        "'",
        "|\n",
        ">-\n",
        "[",
        "]",
        "{",
        "}",
        "# ",
        "---\n",
        "...\n",
        "\0",
        "\u2028",
        "\ufeff",
        "\U0001f600",
    ),
    *("0o17", "1e999", "-9223372036854775809", ".nan", "1h30m", "yes", "null", "~"),
    *(
        "steps['a'].output",
        "default(",
        "has(",
        "inputs.x",
        "&&",
        "? :",
        "[0]",
        ".map(x, ",
        "u'",
        "b'\\x",
    ),
)
_MOST_REPEATS = 400
_LONGEST = 200_000


def corpus() -> list[str]:
    """Return the text of every workflow of the repository, valid or not."""
    files = (file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.y*ml")))
    return [file.read_bytes().decode("utf-8", "replace") for file in files]


def mutants(texts: list[str], random: Random) -> Iterator[str]:
    """Yield damaged texts without end."""
    while True:
        text = random.choice(texts)
        for _ in range(random.randint(1, 4)):
            text = random.choice(_DAMAGES)(text, texts, random)[:_LONGEST]
        yield text


def _slice(text: str, random: Random, longest: int = 60) -> tuple[int, int]:
    start = random.randint(0, len(text))
    return start, min(len(text), start + random.randint(0, longest))


def _delete(text: str, _: list[str], random: Random) -> str:
    start, end = _slice(text, random)
    return text[:start] + text[end:]


def _insert(text: str, _: list[str], random: Random) -> str:
    start, _end = _slice(text, random)
    return text[:start] + random.choice(_PIECES) + text[start:]


def _repeat(text: str, _: list[str], random: Random) -> str:
    start, end = _slice(text, random)
    return text[:end] + text[start:end] * random.randint(1, _MOST_REPEATS) + text[end:]


def _splice(text: str, texts: list[str], random: Random) -> str:
    other = random.choice(texts)
    start, end = _slice(other, random, 300)
    place = random.randint(0, len(text))
    return text[:place] + other[start:end] + text[place:]


def _swap_lines(text: str, _: list[str], random: Random) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) > 1:
        first, second = random.sample(range(len(lines)), 2)
        lines[first], lines[second] = lines[second], lines[first]
    return "".join(lines)


def _indent(text: str, _: list[str], random: Random) -> str:
    lines = text.splitlines(keepends=True)
    start, end = sorted(random.randint(0, len(lines)) for _ in range(2))
    return "".join([*lines[:start], *(f"  {line}" for line in lines[start:end]), *lines[end:]])


def _change_character(text: str, _: list[str], random: Random) -> str:
    start, _end = _slice(text, random)
    return (
        text[:start]
        + chr(random.choice([random.randint(1, 127), random.randint(128, 0xD7FF)]))
        + text[start + 1 :]
    )


_DAMAGES: tuple[Callable[[str, list[str], Random], str], ...] = (
    _delete,
    _insert,
    _repeat,
    _splice,
    _swap_lines,
    _indent,
    _change_character,
)
