"""Keep a folder of stubs in line with a folder of workflows.

Several processes may do so at once, each worker's task process among them: files are replaced
whole, and what is written does not depend on who writes it. What needs the checking side is
imported when a file has to be checked, since a task process finds all stubs made as a rule.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from mantle_provider import __version__, settings
from mantle_provider.builder.paths import workflow_paths
from mantle_provider.builder.stubs import broken_stub_text, stub_text

if TYPE_CHECKING:
    from mantle_provider.builder.folder import WorkflowFile


class _Entry(TypedDict):
    """What is known of a file.

    ``sources`` are the files that its stub follows from, by their paths below the folder, with
    time and size, and none for one that was looked for and is not there. ``digest`` is the stub's
    SHA-256, none for a file that is no workflow. ``dag_id`` is the id it asks for, none when it
    is broken or no workflow; ``taken_by`` names the file that has that id.
    """

    sources: dict[str, list[int] | None]
    digest: str | None
    dag_id: str | None
    taken_by: str | None


class _Index(TypedDict):
    """What the stubs were made with, and from."""

    made_with: list[object]
    files: dict[str, _Entry]


def made_with() -> list[object]:
    """Return what a stub follows from beside its sources: this package and the limits."""
    return [__version__, list(settings.allowed_actions()), settings.max_file_bytes()]


def sync_stubs(folder: Path, stubs: Path, index_path: Path) -> dict[str, str]:
    """Make, renew and remove stubs until there is one for each workflow of the folder.

    A file whose time and size are unchanged is not read again. A new version of this package, or
    other limits, renew every stub.

    :return: path of each stub below ``stubs`` -> SHA-256 of what it says.
    """
    old = _read_index(index_path)
    known = old["files"] if old["made_with"] == made_with() else {}
    files: dict[str, _Entry] = {}
    taken: dict[str, str] = {}
    for path in workflow_paths(folder):
        name = path.relative_to(folder).as_posix()
        entry = _sync_file(path, folder, stubs / _stub_name(name), known.get(name), taken)
        if entry is not None:
            files[name] = entry
    digests = {
        _stub_name(name): entry["digest"]
        for name, entry in files.items()
        if entry["digest"] is not None
    }
    for stub_name in {_stub_name(name) for name in old["files"]} - digests.keys():
        (stubs / stub_name).unlink(missing_ok=True)
    new = _Index(made_with=made_with(), files=files)
    if old != new:
        write_whole(index_path, json.dumps(new))
    return digests


def is_in_line(dag_id: str, folder: Path, stubs: Path, index_path: Path) -> bool:
    """Whether the stub of one Dag is as :func:`sync_stubs` would leave it.

    Looks at no other workflow, so that a task starts as fast in a large folder as in a small one.
    """
    index = _read_index(index_path)
    if index["made_with"] != made_with():
        return False
    return any(
        entry["dag_id"] == dag_id
        and entry["taken_by"] == name
        and _is_same(entry, folder)
        and (stubs / _stub_name(name)).exists()
        for name, entry in index["files"].items()
    )


def _sync_file(
    path: Path, folder: Path, stub: Path, known: _Entry | None, taken: dict[str, str]
) -> _Entry | None:
    """Bring one stub into line and return what is now known of its file.

    :param taken: Dag id -> the file that has it; this file takes its own, if it is free.
    """
    name = path.relative_to(folder).as_posix()
    if known is not None and _is_same(known, folder):
        is_made = stub.exists() == (known["digest"] is not None)
        dag_id = known["dag_id"]
        # A file whose id another one had is looked at again once that one is gone.
        if is_made and (dag_id is None or taken.setdefault(dag_id, name) == known["taken_by"]):
            return known
    from mantle_provider.builder.folder import (  # noqa: PLC0415  # see the module's docstring
        check_options,
        read_workflow_file,
    )

    # Before the file is read: a change in between is then found the next time.
    sources = {name: _state(path)}
    if sources[name] is None:
        return None
    file = read_workflow_file(path, folder, check_options())
    if file is None:
        return _Entry(sources=sources, digest=None, dag_id=None, taken_by=None)
    sources.update({source: _state(folder / source) for source in file.sources})
    dag_id = file.workflow.name if file.workflow else None
    taken_by = taken.setdefault(dag_id, name) if dag_id else None
    text = _stub_source(file, taken_by)
    write_whole(stub, text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return _Entry(sources=sources, digest=digest, dag_id=dag_id, taken_by=taken_by)


def _stub_name(name: str) -> str:
    # It keeps the file's suffix, so that "a.yaml" and "a.yml" both have one.
    return f"{name}.py"


def _is_same(entry: _Entry, folder: Path) -> bool:
    return all(_state(folder / name) == state for name, state in entry["sources"].items())


def _state(path: Path) -> list[int] | None:
    """Return a file's time in nanoseconds and its size, none when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size]


def _stub_source(file: WorkflowFile, taken_by: str | None) -> str:
    from mantle_provider.builder.folder import refuse_duplicate  # noqa: PLC0415
    from mantle_provider.diagnostics import render_text  # noqa: PLC0415
    from mantle_provider.plan import plan_workflow  # noqa: PLC0415

    if taken_by is not None and taken_by != file.name:
        file = refuse_duplicate(file, taken_by)
    if file.workflow is None:
        return broken_stub_text(file.name, file.text, render_text(file.report))
    return stub_text(file.name, file.text, plan_workflow(file.workflow))


def _read_index(path: Path) -> _Index:
    with suppress(OSError, ValueError, KeyError, TypeError):
        index = json.loads(path.read_text(encoding="utf-8"))
        return _Index(made_with=index["made_with"], files=index["files"])
    return _Index(made_with=[], files={})


def write_whole(path: Path, text: str) -> None:
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
