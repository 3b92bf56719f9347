"""The stubs of each version of a bundle, kept so that a run keeps the graph it started with.

The storage may be shared by many machines. What a version says never changes once it is there; a
file that several versions have in common is one file with several names. A version is removed
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

from mantle_provider import __version__, settings
from mantle_provider.builder.paths import IGNORE_FILE, short_digest
from mantle_provider.builder.sync import made_with, mode_of, sync_stubs, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mantle_provider.builder.sync import SyncedStubs

_DAY_SECONDS = 86_400
_SOURCES = "sources"
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
        other stubs after a change of its subfolder or of the limits, so each of these has
        versions of its own.
    """

    def __init__(self, bundle: str, base_folder: Path, inner: Mapping[str, Any] | None) -> None:
        storage = settings.bundle_storage()
        self._root = base_folder / "kept" if storage is None else Path(storage) / bundle
        # Another version of this package makes the stubs of a version anew: a run that it finds
        # half done may have waited for days, and it may not read what the one before has written.
        self._kind = _digest([__version__] if inner is None else [dict(inner), made_with()])

    def folder(self, version: str) -> Path:
        """Return where the stubs of a version are, if they are there."""
        return self._folder(self._kind, version)

    def use(self, version: str) -> bool:
        """Whether the stubs of a version are there, or can be made; it counts as used now."""
        sources = self._folder(_SOURCES, version)
        for folder in (sources, self.folder(version)):
            # A task may run as a user who may only read.
            with suppress(OSError):
                os.utime(folder)
        if not self.folder(version).is_dir() and sources.is_dir():
            self.make(version, sources)
        return self.folder(version).is_dir()

    def keep(self, version: str, stubs: Path, synced: SyncedStubs) -> None:
        """Keep stubs as a version, unless it is there already, and remove what is out of date."""
        if self.use(version):
            return
        self._keep(self.folder(version), stubs, synced.digests)
        self._prune(version)

    def keep_sources(self, version: str, folder: Path, sources: Iterable[str]) -> None:
        """Keep what the stubs of a version follow from, for another version of this package.

        :param sources: paths below ``folder``.
        """
        kept = self._folder(_SOURCES, version)
        if not kept.is_dir():
            ignored = (path.relative_to(folder).as_posix() for path in folder.rglob(IGNORE_FILE))
            self._keep(kept, folder, [*sources, *ignored])

    def make(self, version: str, source: Path) -> None:
        """Make and keep the stubs of a version from its workflows.

        :param source: the folder of workflows as the version has them.
        """
        with tempfile.TemporaryDirectory() as temporary:
            stubs = Path(temporary, "stubs")
            stubs.mkdir()
            synced = sync_stubs(source, stubs, Path(temporary, "index.json"))
            self._keep(self.folder(version), stubs, synced.digests)

    def _folder(self, kind: str, version: str) -> Path:
        return self._root / kind / "versions" / version

    def _keep(self, folder: Path, origin: Path, names: Iterable[str]) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Whole from the first moment that another machine can see it.
        with tempfile.TemporaryDirectory(
            dir=folder.parent, prefix=".", ignore_cleanup_errors=True
        ) as temporary:
            whole = Path(temporary, folder.name)
            whole.mkdir()
            for name in names:
                target = whole / name
                target.parent.mkdir(parents=True, exist_ok=True)
                # A file may go while it is looked at; the next look makes another version.
                with suppress(FileNotFoundError):
                    source = origin / name
                    self._link(source.read_bytes(), target, mode_of(source))
            # Fails where another machine was faster.
            with suppress(OSError):
                whole.rename(folder)

    def _link(self, content: bytes, target: Path, mode: int) -> None:
        """Write a file that shares its place with equal ones of other versions."""
        common = self._root / "files" / hashlib.sha256(content).hexdigest()
        try:
            if not common.exists():
                write_whole(common, content, mode)
            target.hardlink_to(common)
        except OSError:
            # Not every file system has links, and another machine may be removing this one.
            write_whole(target, content, mode)

    def _prune(self, current: str) -> None:
        """Remove versions not used for long, and files that no version has any more."""
        oldest = time.time() - settings.bundle_storage_days() * _DAY_SECONDS
        for folder in _entries(self._root, "*/versions/*"):
            with suppress(OSError):
                if folder.name != current and folder.stat().st_mtime < oldest:
                    shutil.rmtree(folder)
        for file in _entries(self._root, "files/*"):
            with suppress(OSError):
                if file.stat().st_nlink == 1:
                    file.unlink()


def _entries(root: Path, pattern: str) -> Iterator[Path]:
    # A list: what is removed on the way must not disturb the search.
    yield from list(root.glob(pattern))


def _digest(value: object) -> str:
    return short_digest(json.dumps(value, sort_keys=True, default=str))
