"""The stubs of each version of a bundle, kept so that a run keeps the graph it started with.

The storage may be shared by many machines. What a version says never changes once it is there; a
stub that several versions have in common is one file with several names. A version is removed
when nothing has used it for ``[mantle] bundle_storage_days``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mantle_provider import settings
from mantle_provider.builder.sync import made_with, sync_stubs, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DAY_SECONDS = 86_400
_CONTENT = "content"
_SHORT_DIGEST = 12
_VERSION_LENGTH = 40


def content_version(digests: Mapping[str, str]) -> str:
    """Return the name of the version whose stubs have these digests, by their paths."""
    text = json.dumps(sorted(digests.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:_VERSION_LENGTH]


class Versions:
    """The versions of one bundle.

    :param base_folder: the bundle's own storage, for where ``[mantle] bundle_storage`` names no
        other.
    :param inner: the configuration of the bundle that names the versions. One version of it has
        other stubs after a change of its subfolder, of this package or of the limits, so each of
        these has versions of its own.
    """

    def __init__(self, bundle: str, base_folder: Path, inner: Mapping[str, Any] | None) -> None:
        storage = settings.bundle_storage()
        self._root = base_folder / "kept" if storage is None else Path(storage) / bundle
        self._kind = _CONTENT if inner is None else _digest([dict(inner), made_with()])

    def folder(self, version: str) -> Path:
        """Return where the stubs of a version are, if they are there."""
        return self._root / self._kind / "versions" / version

    def use(self, version: str) -> bool:
        """Whether the version is there; if so, it counts as used now."""
        folder = self.folder(version)
        if not folder.is_dir():
            return False
        # A task may run as a user who may only read.
        with suppress(OSError):
            os.utime(folder)
        return True

    def keep(self, version: str, stubs: Path, digests: Mapping[str, str]) -> None:
        """Keep stubs as a version, unless it is there already, and remove what is out of date.

        :param digests: path of a stub below ``stubs`` -> SHA-256 of what it says.
        """
        if self.use(version):
            return
        versions = self.folder(version).parent
        versions.mkdir(parents=True, exist_ok=True)
        # Whole from the first moment that another machine can see it.
        with tempfile.TemporaryDirectory(
            dir=versions, prefix=".", ignore_cleanup_errors=True
        ) as temporary:
            folder = Path(temporary, version)
            folder.mkdir()
            for name, digest in digests.items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                self._link(stubs / name, digest, target)
            # Fails where another machine was faster.
            with suppress(OSError):
                folder.rename(self.folder(version))
        self._prune(version)

    def make(self, version: str, source: Path) -> None:
        """Make and keep the stubs of a version from its workflows.

        :param source: the folder of workflows as the version has them.
        """
        with tempfile.TemporaryDirectory() as temporary:
            stubs = Path(temporary, "stubs")
            stubs.mkdir()
            self.keep(version, stubs, sync_stubs(source, stubs, Path(temporary, "index.json")))

    def _link(self, stub: Path, digest: str, target: Path) -> None:
        common = self._root / self._kind / "stubs" / f"{digest}.py"
        try:
            if not common.exists():
                write_whole(common, stub.read_text(encoding="utf-8"))
            target.hardlink_to(common)
        except OSError:
            # Not every file system has links, and another machine may be removing this one.
            shutil.copyfile(stub, target)

    def _prune(self, current: str) -> None:
        """Remove versions not used for long, and stubs that no version has any more."""
        oldest = time.time() - settings.bundle_storage_days() * _DAY_SECONDS
        for folder in _entries(self._root, "*/versions/*"):
            with suppress(OSError):
                if folder.name != current and folder.stat().st_mtime < oldest:
                    shutil.rmtree(folder)
        for stub in _entries(self._root, "*/stubs/*.py"):
            with suppress(OSError):
                if stub.stat().st_nlink == 1:
                    stub.unlink()


def _entries(root: Path, pattern: str) -> Iterator[Path]:
    # A list: what is removed on the way must not disturb the search.
    yield from list(root.glob(pattern))


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_SHORT_DIGEST]
