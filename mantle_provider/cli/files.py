"""Which files a command reads."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mantle_provider.cli.errors import CommandError
from mantle_provider.folder import WorkflowFolder
from mantle_provider.source.files import is_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

STDIN = "-"


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file to check.

    :param path: as the user would write it, or ``-``.
    :param folder: the given folder that it was found in, ``None`` when it was given by itself.
    """

    path: str
    folder: str | None = None

    @property
    def is_named(self) -> bool:
        """Whether the user asked for this very file."""
        return self.folder is None


class Folders:
    """The folders of workflows that the files of a command belong to. Has state: what was read.

    :param root: the one that all of them belong to; ``None`` to tell it from each file.
    """

    def __init__(self, root: str | None) -> None:
        if root is not None and not os.path.isdir(root):  # noqa: PTH112  # as below
            raise CommandError(f"no such folder: {root}")
        self._root = root
        self._folders: dict[str, WorkflowFolder] = {}

    def of(self, file: InputFile) -> WorkflowFolder | None:
        """Return the folder of a file, ``None`` for a text that is in none.

        :raises CommandError: the file is outside the root that was named.
        """
        root = self._root if self._root is not None else file.folder
        if root is None and file.path == STDIN:
            return None
        key = os.path.dirname(file.path) if root is None else root  # noqa: PTH120  # as below
        if key not in self._folders:
            self._folders[key] = (
                WorkflowFolder.of_file(file.path) if root is None else WorkflowFolder(root, root)
            )
        folder = self._folders[key]
        if self._root is not None and file.path != STDIN and not folder.has(file.path):
            raise CommandError(f"{file.path} is not below the root {self._root}")
        return folder


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
                yield InputFile(item, path if is_folder else None)


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
            if is_yaml(name) and not name.startswith("."):
                yield os.path.join(current, name)  # noqa: PTH118  # as above
