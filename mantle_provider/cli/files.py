"""Which files a command reads."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

STDIN = "-"
SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file to check.

    :param path: as the user would write it, or ``-``.
    :param is_named: given by itself, and not found in a folder.
    """

    path: str
    is_named: bool


def find_files(paths: list[str]) -> Iterator[InputFile]:
    """Yield the given files, and in folders every YAML file at any depth, each once, sorted.

    Hidden files and folders are passed over, symbolic links to folders are not followed.
    """
    seen: set[str] = set()
    for path in paths:
        is_folder = path != STDIN and os.path.isdir(path)  # noqa: PTH112  # pathlib costs a tenth of the start-up
        found = _walk(path) if is_folder else [path]
        for item in found:
            identity = item if item == STDIN else os.path.realpath(item)
            if identity not in seen:
                seen.add(identity)
                yield InputFile(item, not is_folder)


def missing_paths(paths: list[str]) -> list[str]:
    """Return the paths that do not exist."""
    return [path for path in paths if path != STDIN and not os.path.exists(path)]  # noqa: PTH110  # as above


def read_stdin() -> bytes:
    """Return all of standard input."""
    return sys.stdin.buffer.read()


def _walk(folder: str) -> Iterator[str]:
    for current, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.endswith(SUFFIXES) and not name.startswith("."):
                yield os.path.join(current, name)  # noqa: PTH118  # as above
