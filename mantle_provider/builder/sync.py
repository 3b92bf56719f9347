"""Keep a folder of stubs in line with a folder of workflows.

Several processes may do so at once, each worker's task process among them: files are replaced
whole, and what is written does not depend on who writes it.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from mantle_provider import __version__
from mantle_provider.builder.folder import (
    check_options,
    read_workflow_file,
    refuse_duplicate,
    workflow_paths,
)
from mantle_provider.builder.stubs import stub_text

if TYPE_CHECKING:
    from mantle_provider.check import CheckOptions


class _Entry(TypedDict):
    """What is known of a file: its time and size, and the Dag id its stub has taken."""

    mtime_ns: int
    size: int
    dag_id: str | None
    is_stub: bool


class _Index(TypedDict):
    """What the stubs were made with, and from."""

    made_with: dict[str, object]
    files: dict[str, _Entry]


def sync_stubs(folder: Path, stubs: Path, index_path: Path) -> None:
    """Make, renew and remove stubs until there is one for each workflow of the folder.

    A file whose time and size are unchanged is not read again. A new version of this package, or
    other limits, renew every stub.
    """
    options = check_options()
    made_with: dict[str, object] = {"version": __version__, **asdict(options)}
    # A round trip, so that what is compared with the file has its types.
    made_with = json.loads(json.dumps(made_with))
    old = _read_index(index_path)
    known = old["files"] if old["made_with"] == made_with else {}
    files: dict[str, _Entry] = {}
    taken: dict[str, str] = {}
    for path in workflow_paths(folder):
        name = path.relative_to(folder).as_posix()
        entry = _sync_file(path, folder, stubs, known.get(name), options=options, taken=taken)
        if entry is not None:
            files[name] = entry
    for name, entry in old["files"].items():
        if entry["is_stub"] and not files.get(name, entry | {"is_stub": False})["is_stub"]:
            _stub_path(stubs, name).unlink(missing_ok=True)
    if old != {"made_with": made_with, "files": files}:
        _write(index_path, json.dumps({"made_with": made_with, "files": files}))


def _sync_file(  # noqa: PLR0913  # what is known of a file before it is read
    path: Path,
    folder: Path,
    stubs: Path,
    known: _Entry | None,
    *,
    options: CheckOptions,
    taken: dict[str, str],
) -> _Entry | None:
    """Bring one stub into line and return what is now known of its file."""
    name = path.relative_to(folder).as_posix()
    try:
        status = path.stat()
    except OSError:
        return None
    stub_path = _stub_path(stubs, name)
    is_same = known is not None and (known["mtime_ns"], known["size"]) == (
        status.st_mtime_ns,
        status.st_size,
    )
    if known is not None and is_same and (stub_path.exists() or not known["is_stub"]):
        dag_id = known["dag_id"]
        # A file that lost its name to another one must be looked at again: the other may be gone.
        if not known["is_stub"] or (dag_id and taken.setdefault(dag_id, name) == name):
            return known
    file = read_workflow_file(path, folder, options)
    if file is not None and file.workflow is not None:
        first = taken.setdefault(file.workflow.name, name)
        if first != name:
            file = refuse_duplicate(file, first)
    if file is not None:
        _write(stub_path, stub_text(file))
    return _Entry(
        mtime_ns=status.st_mtime_ns,
        size=status.st_size,
        dag_id=file.workflow.name if file and file.workflow else None,
        is_stub=file is not None,
    )


def _stub_path(stubs: Path, name: str) -> Path:
    """Keep the file's own suffix, so that ``a.yaml`` and ``a.yml`` have stubs of their own."""
    return stubs / f"{name}.py"


def _read_index(path: Path) -> _Index:
    with suppress(OSError, ValueError, KeyError, TypeError):
        index = json.loads(path.read_text(encoding="utf-8"))
        return _Index(made_with=index["made_with"], files=index["files"])
    return _Index(made_with={}, files={})


def _write(path: Path, text: str) -> None:
    """Write a file whole, so that no other process reads a part of it.

    Nothing is written when the file says the same already: Airflow looks at its time.
    """
    with suppress(OSError):
        if path.read_bytes() == text.encode():
            return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=".", suffix=".tmp", delete=False
    ) as file:
        file.write(text.encode())
    # Airflow may read the bundle as another user than the one who writes it.
    Path(file.name).chmod(0o644)
    os.replace(file.name, path)  # noqa: PTH105  # the atomic call by its own name
