"""Which files of a folder may be workflows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from airflow.sdk._shared.module_loading.file_discovery import find_path_from_directory
from airflow.sdk.configuration import conf

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIXES = frozenset({".yaml", ".yml"})
IGNORE_FILE = ".airflowignore"


def workflow_paths(folder: Path) -> list[Path]:
    """Return the YAML files below a folder, sorted, without those ``.airflowignore`` names."""
    return [Path(path) for path in workflow_path_texts(folder)]


def workflow_path_texts(folder: Path) -> list[str]:
    """Return the same as text, which takes a third of the time in a folder of a thousand."""
    yaml = (path for path in _file_texts(folder) if os.path.splitext(path)[1] in SUFFIXES)  # noqa: PTH122  # text, see above
    # In the order of paths, which compare part by part.
    return sorted(yaml, key=lambda path: path.split(os.sep))  # noqa: PTH206  # the same


def _file_texts(folder: Path) -> Iterable[str]:
    """Return the files that Airflow would find, faster where nothing is ignored or linked."""
    found: list[str] = []
    for root, folders, files in os.walk(folder):
        is_linked = any(os.path.islink(os.path.join(root, name)) for name in folders)  # noqa: PTH114, PTH118  # text
        if is_linked or IGNORE_FILE in files:
            syntax = conf.get_mandatory_value("core", "dag_ignore_file_syntax", fallback="glob")
            return find_path_from_directory(folder, IGNORE_FILE, syntax)
        found += [os.path.join(root, name) for name in files]  # noqa: PTH118  # text
    return found
