"""Which files of a folder may be workflows."""

from __future__ import annotations

import os
from pathlib import Path

from airflow.sdk._shared.module_loading.file_discovery import find_path_from_directory
from airflow.sdk.configuration import conf

SUFFIXES = frozenset({".yaml", ".yml"})


def workflow_paths(folder: Path) -> list[Path]:
    """Return the YAML files below a folder, sorted, without those ``.airflowignore`` names."""
    return [Path(path) for path in workflow_path_texts(folder)]


def workflow_path_texts(folder: Path) -> list[str]:
    """Return the same as text, which takes a third of the time in a folder of a thousand."""
    syntax = conf.get_mandatory_value("core", "dag_ignore_file_syntax", fallback="glob")
    found = find_path_from_directory(folder, ".airflowignore", syntax)
    yaml = (path for path in found if os.path.splitext(path)[1] in SUFFIXES)  # noqa: PTH122  # text, see above
    # In the order of paths, which compare part by part.
    return sorted(yaml, key=lambda path: path.split(os.sep))  # noqa: PTH206  # the same
