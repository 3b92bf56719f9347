"""Which files are YAML, what they hold, and what tells that one has changed.

Light: every task process needs it.
"""

from __future__ import annotations

import os

SUFFIXES = (".yaml", ".yml")

# Windows has no pipes among its files, and the others no files of text.
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CHUNK_BYTES = 16_384
"""Most workflows are smaller; for more, Python would set aside more."""


def is_yaml(path: str) -> bool:
    """Whether a file is YAML by its name, in upper or lower case as for Airflow's importers."""
    return path.lower().endswith(SUFFIXES)


def is_yaml_called(stem: str, name: str) -> bool:
    """Whether a file's name is a stem in lower case with a suffix of YAML, whatever its case."""
    return name.lower() in {stem + suffix for suffix in SUFFIXES}


def state_of(status: os.stat_result) -> list[int]:
    """Return what changes with a file's content: its times in nanoseconds and its size.

    The time of the last change of status is among them, which no tool can set back.
    """
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_size]


def read_file(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """Return a file's content, at most one byte more than ``max_bytes``.

    One byte more tells a file that is too large from one that just fits. Nothing is waited for: a
    pipe or a device among the workflows must not stop the process that reads the folder.

    :raises OSError: the file cannot be read.
    """
    # Python's own files take twice as long, and a task process may look into a thousand.
    handle = os.open(path, _READ_FLAGS)
    try:
        left = max_bytes + 1
        parts = []
        while left and (part := os.read(handle, min(left, _CHUNK_BYTES))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
    finally:
        os.close(handle)
