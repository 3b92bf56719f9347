"""The folder that workflows and what they share stand in. Has state: what it has read.

Reads files, so that the checking side need not.
"""

# pathlib costs a tenth of the start-up of `mantle validate`:
# ruff: noqa: PTH100, PTH110, PTH116, PTH118, PTH120, PTH208

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mantle_provider.source.files import read_file, state_of
from mantle_provider.source.inclusion import Unread
from mantle_provider.source.reader import DEFAULT_MAX_FILE_BYTES
from mantle_provider.workflow.defaults import DEFAULTS_NAME
from mantle_provider.workflow.environments import VALUES_FOLDER

if TYPE_CHECKING:
    from collections.abc import Hashable

_MARKS = (DEFAULTS_NAME, VALUES_FOLDER)
"""What tells a folder of workflows from those above it."""


class WorkflowFolder:
    """Reads files below one folder, and none outside it.

    Made for one pass over the folder: what was read once for many workflows is kept.

    :param root: the folder.
    :param shown_as: how messages call it; empty to name its files by their paths below it.
    :param max_file_bytes: the largest file that is read.

    ``states`` holds, for each file that was looked for, what tells whether it has changed since
    before it was first read, ``None`` for one that was not there.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        shown_as: str = "",
        max_file_bytes: int = DEFAULT_MAX_FILE_BYTES,
    ) -> None:
        self._root = os.path.realpath(root)
        self._shown_as = shown_as
        self.max_file_bytes = max_file_bytes
        self.kept: dict[Hashable, object] = {}
        self.states: dict[str, list[int] | None] = {}
        self._below: dict[str, str] = {}

    @classmethod
    def of_file(
        cls, path: str | os.PathLike[str], max_file_bytes: int = DEFAULT_MAX_FILE_BYTES
    ) -> WorkflowFolder:
        """Return the folder that a file given by itself belongs to.

        That is the highest one that holds defaults or values, from the file's own up to the
        working directory; a file outside that has only its own.
        """
        root = found = os.path.dirname(path)
        here = os.path.abspath(os.curdir)
        while _is_below(os.path.abspath(found), here):
            if any(os.path.exists(os.path.join(found, name)) for name in _MARKS):
                root = found
            if os.path.abspath(found) == here:
                break
            found = os.path.dirname(found)
        return cls(root, root, max_file_bytes)

    def path_of(self, path: str | os.PathLike[str]) -> str:
        """Return the path of a file below the folder.

        :raises ValueError: the file is outside.
        """
        folder, name = os.path.split(path)
        below = self._below.get(folder)
        if below is None:
            actual = os.path.realpath(folder)
            if not _is_below(actual, self._root):
                raise ValueError(f"{os.fspath(path)} is not below {self._root}")
            below = os.path.relpath(actual, self._root).replace(os.sep, "/")
            self._below[folder] = below
        return name if below == os.curdir else f"{below}/{name}"

    def has(self, path: str | os.PathLike[str]) -> bool:
        """Whether a file's place is below the folder."""
        return _is_below(os.path.realpath(os.path.dirname(path)), self._root)

    def read(self, path: str) -> bytes | Unread:
        """Return a file's content, at most one byte more than the largest file has."""
        name = os.path.join(self._root, path)
        try:
            # Looked at before links are followed: most files that are looked for are not there.
            status = os.stat(name)
            self.states.setdefault(path, state_of(status))
            actual = os.path.realpath(name)
            if not _is_below(actual, self._root):
                return Unread("outside")
            return read_file(actual, self.max_file_bytes)
        except (FileNotFoundError, NotADirectoryError):
            self.states.setdefault(path, None)
            return Unread("missing")
        except OSError as error:
            return Unread("unreadable", error.strerror or type(error).__name__)

    def names(self, folder: str) -> list[str]:
        """Return the names of what is in a folder, sorted; none when there is no such folder."""
        try:
            return sorted(os.listdir(os.path.join(self._root, folder)))
        except OSError:
            return []

    def shown(self, path: str) -> str:
        """Return how messages call a file."""
        return os.path.join(self._shown_as, *path.split("/"))

    def is_private(self, path: str) -> bool:
        """Whether a file is one of an environment's values, under whatever name."""
        values = os.path.realpath(os.path.join(self._root, VALUES_FOLDER))
        return _is_below(os.path.realpath(os.path.join(self._root, path)), values)


def _is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder or in it, by their absolute names."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
