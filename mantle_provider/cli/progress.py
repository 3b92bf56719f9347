"""How far a command is, for who waits for it at a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

T = TypeVar("T")

_FEW = 50
"""So many files are checked before anybody wonders."""
_STEP = 10


def counted(files: Sequence[T]) -> Generator[T, None, None]:
    """Yield the files; on a terminal, show on standard error how many have been checked.

    The line is removed at the end, also when that comes early and the iterator is closed.
    """
    if len(files) < _FEW or not sys.stderr.isatty():
        yield from files
        return
    total = str(len(files))
    line = ""
    try:
        for number, file in enumerate(files):
            if number % _STEP == 0:
                line = f"{number:>{len(total)}} of {total} files checked"
                print(f"\r{line}", end="", file=sys.stderr, flush=True)
            yield file
    finally:
        print(f"\r{' ' * len(line)}\r", end="", file=sys.stderr, flush=True)
