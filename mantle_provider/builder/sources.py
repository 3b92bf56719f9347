"""Whether files that a stub follows from have changed: by their states, else by what they say."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, TypeAlias

from mantle_provider.source.files import read_file, state_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

State: TypeAlias = list[int] | None
"""What changes with a file, none where there is no file."""


def state_at(path: Path) -> State:
    """Return the state of a file."""
    try:
        return state_of(path.stat())
    except OSError:
        return None


def have_changed(folder: Path, states: Mapping[str, State]) -> bool:
    """Whether a file is in another state now, by its path below the folder."""
    return any(state_at(folder / name) != state for name, state in states.items())


def content_of(folder: Path, states: Mapping[str, State], max_bytes: int) -> str | None:
    """Return a digest of what files say, and to whom.

    :param states: path below the folder -> the state in which the file is to be read.
    :param max_bytes: as many bytes of a file are looked at, and one more.
    :return: ``None`` when a file cannot be read, or changes meanwhile.
    """
    try:
        said = {
            name: None if state is None else _said(folder / name, max_bytes)
            for name, state in states.items()
        }
    except OSError:
        return None
    if have_changed(folder, states):
        return None
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _said(path: Path, max_bytes: int) -> tuple[int, str]:
    return path.stat().st_mode, hashlib.sha256(read_file(path, max_bytes)).hexdigest()
