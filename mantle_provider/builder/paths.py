"""Which files of a folder may be workflows."""

from __future__ import annotations

from pathlib import Path

from airflow.sdk._shared.module_loading.file_discovery import find_path_from_directory
from airflow.sdk.configuration import conf

SUFFIXES = frozenset({".yaml", ".yml"})


def workflow_paths(folder: Path) -> list[Path]:
    """Return the YAML files below a folder, sorted, without those ``.airflowignore`` names."""
    syntax = conf.get_mandatory_value("core", "dag_ignore_file_syntax", fallback="glob")
    found = find_path_from_directory(folder, ".airflowignore", syntax)
    return sorted(path for path in map(Path, found) if path.suffix in SUFFIXES)
