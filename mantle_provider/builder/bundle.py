"""A Dag bundle over a folder of workflows: no Python file is needed."""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow import settings as airflow_settings
from airflow.dag_processing.bundles.base import (
    BaseDagBundle,
    BundleVersion,
    unpack_bundle_version,
)

from mantle_provider.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mantle_provider.builder.sync import SyncedStubs
    from mantle_provider.builder.versions import Versions

log = logging.getLogger(__name__)

_INDEX = "index.json"


class MantleDagBundle(BaseDagBundle):
    """Serves the workflows of a folder, or of another bundle, one generated stub for each.

    The stubs live in the bundle's storage below ``[dag_processor] dag_bundle_storage_path`` and
    follow the folder: a changed, added or removed file changes, adds or removes its stub. Each
    machine makes its own. The stubs of each version are kept in ``[mantle] bundle_storage``.

    :param path: a local folder; by default ``[core] dags_folder``. Its versions are told apart by
        what its stubs say. It is put on ``sys.path``, so that workflows can name Python code
        beside them; that code has no versions.
    :param inner: another bundle that brings the workflows in place of ``path``: its
        ``classpath`` and ``kwargs``, as in ``dag_bundle_config_list``. Its versions, its locks
        and its links are this bundle's own, and Python code beside the workflows is that of the
        version asked for.
    :raises ConfigurationError: when ``inner`` is no such thing or stands beside ``path``.
    """

    supports_versioning = True

    def __init__(
        self,
        *,
        path: str | None = None,
        inner: Mapping[str, Any] | None = None,
        **kwargs: Any,  # noqa: ANN401  # BaseDagBundle's arguments
    ) -> None:
        super().__init__(**kwargs)
        if path is not None and inner is not None:
            raise ConfigurationError(f'bundle "{self.name}" has both a path and an inner bundle')
        self._local_folder = Path(path or airflow_settings.DAGS_FOLDER)
        self._inner_config = inner
        self._inner = None if inner is None else self._make_inner(inner)
        if self._inner is not None:
            self.supports_versioning = self._inner.supports_versioning
        self._is_pinned = self.version is not None and self.supports_versioning
        self._current_version: str | None = None
        self._has_lost_version = False

    def _make_inner(self, config: Mapping[str, Any]) -> BaseDagBundle:
        # Airflow loads this module to read its configuration; what it imports must be little.
        from airflow.sdk._shared.module_loading import import_string  # noqa: PLC0415

        match config:
            case {"classpath": str(classpath), **others} if others.keys() <= {"kwargs"}:
                bundle_class = import_string(classpath)
                # Under this bundle's name: Airflow removes old versions of a bundle by its name.
                inner: BaseDagBundle = bundle_class(
                    name=self.name, version=self.version, **(others.get("kwargs") or {})
                )
                return inner
        raise ConfigurationError(
            f'inner of bundle "{self.name}" must have a "classpath" and may have "kwargs"'
        )

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever the inner bundle has
        """Lend the inner bundle's attributes, which Airflow puts into links to versions."""
        inner = self.__dict__.get("_inner")
        if inner is None or name.startswith("_"):
            raise AttributeError(f'"{type(self).__name__}" has no attribute "{name}"')
        return getattr(inner, name)

    @property
    def path(self) -> Path:
        """Where the stubs are: those of the version asked for, or those that follow the folder."""
        if self._is_pinned and not self._has_lost_version:
            return self._versions.folder(str(self.version))
        from mantle_provider.builder.paths import short_digest  # noqa: PLC0415  # as above

        # Airflow's default storage is shared by every Airflow of a machine, whose bundles may
        # well have the same name.
        return Path(self.base_dir) / short_digest(str(self._folder.absolute())) / "stubs"

    @property
    def _folder(self) -> Path:
        return self._local_folder if self._inner is None else Path(self._inner.path)

    @property
    def _versions(self) -> Versions:
        from mantle_provider.builder.versions import Versions  # noqa: PLC0415

        return Versions(self.name, Path(self.base_dir), self._inner_config)

    def get_current_version(self) -> BundleVersion | str | None:
        """Return the inner bundle's version, else the digest of all stubs."""
        if self._inner is not None:
            return self._inner.get_current_version()
        if self.version is not None:
            return BundleVersion(self.version)
        if self._current_version is None:
            self._sync_all()
        return BundleVersion(str(self._current_version))

    def initialize(self) -> None:
        """Make the stubs and let workflows import Python code beside them."""
        if self._inner is not None:
            self._inner.initialize()
        folder = str(self._folder)
        if folder not in sys.path:
            sys.path.append(folder)
        if self._is_pinned:
            self._use_version(str(self.version))
        else:
            self._follow_folder()
        super().initialize()

    def refresh(self) -> None:
        """Bring the stubs into line with the folder."""
        if self._inner is not None:
            self._inner.refresh()
        self._follow_folder()

    def view_url(self, version: str | None = None) -> str | None:
        """Return the inner bundle's link to a version."""
        return None if self._inner is None else self._inner.view_url(version)

    def view_url_template(self) -> str | None:
        """Return the link of the configuration, else the inner bundle's."""
        template: str | None = super().view_url_template()
        if template is None and self._inner is not None:
            template = self._inner.view_url_template()
        return template

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes of this machine out, those that use the inner bundle too."""
        with super().lock() if self._inner is None else self._inner.lock():
            yield

    def _follow_folder(self) -> None:
        """Bring the stubs into line; in a task process, that of its Dag where that is enough."""
        from airflow.sdk.definitions.context import get_parsing_context  # noqa: PLC0415

        from mantle_provider.builder.sync import is_in_line  # noqa: PLC0415

        asked = get_parsing_context().dag_id
        if asked is not None and is_in_line(asked, self._folder, self.path, self._index_path):
            return
        self._sync_all()

    def _sync_all(self) -> None:
        with self.lock():
            synced = self._sync()
            if self.supports_versioning:
                self._current_version = self._version_now(synced)
                self._keep(self._current_version, synced)

    def _use_version(self, version: str) -> None:
        """Find or make the stubs of a version.

        Without an inner bundle they cannot be made from what the folder says by now, unless it
        says the same: the current stubs then stand in.
        """
        # Airflow's scheduler ends when it cannot remove this folder of a version not used lately
        # (3.3.2, BundleUsageTrackingManager). What a run may need is not in it.
        Path(self.versions_dir, version).mkdir(parents=True, exist_ok=True)
        if self._versions.use(version):
            return
        with self.lock():
            # Another process may have been as far.
            if self._versions.use(version):
                return
            if self._inner is not None:
                self._versions.make(version, self._folder)
                return
            self._has_lost_version = True
            synced = self._sync()
            found = self._version_now(synced)
            if found == version:
                self._keep(version, synced)
                self._has_lost_version = False
                return
        log.warning(
            "The workflows of bundle %s at version %s are not in [mantle] bundle_storage;"
            " taking those that are there now, version %s",
            self.name,
            version,
            found,
        )

    def _keep(self, version: str, synced: SyncedStubs) -> None:
        self._versions.keep(version, self.path, synced)
        if self._inner is None:
            self._versions.keep_sources(version, self._folder, synced.sources)

    def _sync(self) -> SyncedStubs:
        # Imported when needed: Airflow loads this module to read its configuration.
        from mantle_provider.builder.sync import sync_stubs  # noqa: PLC0415

        if not self._folder.is_dir():
            # Not the same as an empty one: a lost mount must not remove every Dag.
            raise ConfigurationError(
                f'bundle "{self.name}" has no folder of workflows: {self._folder} does not exist'
            )
        self.path.mkdir(parents=True, exist_ok=True)
        return sync_stubs(self._folder, self.path, self._index_path)

    def _version_now(self, synced: SyncedStubs) -> str:
        from mantle_provider.builder.versions import content_version  # noqa: PLC0415

        if self._inner is None:
            return content_version(synced.digests)
        version, _ = unpack_bundle_version(self._inner.get_current_version(), self._inner)
        return str(version)

    @property
    def _index_path(self) -> Path:
        return self.path.parent / _INDEX
