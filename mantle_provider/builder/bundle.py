"""A Dag bundle over a folder of workflows: no Python file is needed."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

from airflow import settings as airflow_settings
from airflow.dag_processing.bundles.base import BaseDagBundle

_INDEX = "index.json"


class MantleDagBundle(BaseDagBundle):
    """Serves the workflows of a local folder, one generated stub for each.

    The stubs live in the bundle's storage below ``[dag_processor] dag_bundle_storage_path`` and
    follow the folder: a changed, added or removed file changes, adds or removes its stub. Each
    machine makes its own.

    :param path: the folder; by default ``[core] dags_folder``. It is put on ``sys.path``, so
        that workflows can name Python code beside them.
    """

    supports_versioning = False

    def __init__(self, *, path: str | None = None, **kwargs: Any) -> None:  # noqa: ANN401  # BaseDagBundle's arguments
        super().__init__(**kwargs)
        self._folder = Path(path or airflow_settings.DAGS_FOLDER)

    @property
    def path(self) -> Path:
        """Where the stubs are."""
        # Airflow's default storage is shared by every Airflow of a machine, whose bundles may
        # well have the same name.
        folder = hashlib.sha256(str(self._folder.absolute()).encode()).hexdigest()[:12]
        return Path(self.base_dir) / folder / "stubs"

    def get_current_version(self) -> None:
        """Return nothing: a local folder keeps no versions."""

    def initialize(self) -> None:
        """Make the stubs and let workflows import Python code beside them."""
        folder = str(self._folder)
        if folder not in sys.path:
            sys.path.append(folder)
        self.refresh()
        super().initialize()

    def refresh(self) -> None:
        """Bring the stubs into line with the folder."""
        self.path.mkdir(parents=True, exist_ok=True)
        # Imported when needed: Airflow loads this module to read its configuration.
        from mantle_provider.builder.sync import sync_stubs  # noqa: PLC0415

        sync_stubs(self._folder, self.path, self.path.parent / _INDEX)
