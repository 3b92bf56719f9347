"""Keep a folder of stubs in line with a folder of workflows.

Several processes may do so at once, each worker's task process among them: files are replaced
whole, and what is written does not depend on who writes it. What needs the checking side is
imported when a file has to be checked, since a task process finds all stubs made as a rule.
"""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from mantle_provider import __version__, settings
from mantle_provider.builder.paths import workflow_paths
from mantle_provider.builder.stubs import broken_stub_text, env_name, env_text, stub_text

if TYPE_CHECKING:
    from mantle_provider.builder.folder import WorkflowFile
    from mantle_provider.check import CheckOptions
    from mantle_provider.folder import WorkflowFolder


log = logging.getLogger(__name__)

PUBLIC_MODE = 0o644
"""Airflow may read the bundle as another user than the one who writes it."""
_PRIVATE_MODE = 0o600

_NAME_ERRORS = (errno.EEXIST, errno.EISDIR, errno.ENAMETOOLONG, errno.ENOTDIR)
"""What the operating system says of a stub that is too long, or that a folder is called like."""


class _Entry(TypedDict):
    """What is known of a file.

    ``sources`` are the files that its stub follows from, by their paths below the folder, with
    time and size, and none for one that was looked for and is not there. ``digests`` are the
    SHA-256 of the stub and of the values beside it, by their paths below the stubs; none for a
    file that is no workflow. ``dag_id`` is the id it asks for, none when it
    is broken or no workflow; ``taken_by`` names the file that has that id.
    """

    sources: dict[str, list[int] | None]
    digests: dict[str, str]
    dag_id: str | None
    taken_by: str | None


class _Index(TypedDict):
    """What the stubs were made with, and from."""

    made_with: list[object]
    files: dict[str, _Entry]


@dataclass(frozen=True)
class SyncedStubs:
    """What a folder of stubs holds once it is in line.

    :param digests: path of each file below the stubs -> SHA-256 of what it says.
    :param sources: the files that the stubs follow from, by their paths below the workflows.
    """

    digests: dict[str, str]
    sources: frozenset[str]


def made_with() -> list[object]:
    """Return what a stub follows from beside its sources: this package and the settings."""
    limits = [list(settings.allowed_actions()), settings.max_file_bytes()]
    return [__version__, *limits, settings.environment()]


def sync_stubs(folder: Path, stubs: Path, index_path: Path) -> SyncedStubs:
    """Make, renew and remove stubs until there is one for each workflow of the folder.

    A file whose time and size are unchanged is not read again. A new version of this package, or
    other limits, renew every stub.
    """
    old = _read_index(index_path)
    known = old["files"] if old["made_with"] == made_with() else {}
    files: dict[str, _Entry] = {}
    run = _Sync(folder, stubs)
    for path in workflow_paths(folder):
        name = path.relative_to(folder).as_posix()
        entry = run.file(path, known.get(name))
        if entry is not None:
            files[name] = entry
    digests = _digests(files)
    for name in _written(old, stubs) - digests.keys():
        (stubs / name).unlink(missing_ok=True)
    new = _Index(made_with=made_with(), files=files)
    if old != new:
        write_whole(index_path, json.dumps(new).encode())
    sources = (entry["sources"].items() for entry in files.values() if entry["digests"])
    found = frozenset(name for source in sources for name, state in source if state is not None)
    return SyncedStubs(digests, found)


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
        and _is_made(entry, stubs)
        for name, entry in index["files"].items()
    )


class _Sync:
    """One pass over a folder. Has state: the Dag ids that are taken, and what files share."""

    def __init__(self, folder: Path, stubs: Path) -> None:
        self._folder = folder
        self._stubs = stubs
        self._taken: dict[str, str] = {}
        self._shared: WorkflowFolder | None = None
        self._options: CheckOptions | None = None

    def file(self, path: Path, known: _Entry | None) -> _Entry | None:
        """Bring the stub of one file into line and return what is now known of the file."""
        name = path.relative_to(self._folder).as_posix()
        if known is not None and _is_same(known, self._folder):
            dag_id = known["dag_id"]
            # A file whose id another one had is looked at again once that one is gone.
            if _is_made(known, self._stubs) and (
                dag_id is None or self._taken.setdefault(dag_id, name) == known["taken_by"]
            ):
                return known
        from mantle_provider.builder.folder import (  # noqa: PLC0415  # see the module's docstring
            check_options,
            read_workflow_file,
            shared_folder,
        )

        # Once for all files: each look into Airflow's configuration takes its time.
        self._options = options = self._options or check_options()
        self._shared = self._shared or shared_folder(self._folder, options)
        # Before the file is read: a change in between is then found the next time.
        sources = {name: _state(path)}
        if sources[name] is None:
            return None
        file = read_workflow_file(path, self._folder, options, self._shared)
        if file is None:
            return _Entry(sources=sources, digests={}, dag_id=None, taken_by=None)
        sources |= {source: self._shared.states.get(source) for source in file.sources}
        dag_id = file.workflow.name if file.workflow else None
        taken_by = self._taken.setdefault(dag_id, name) if dag_id else None
        texts = _stub_texts(file, taken_by)
        if not self._write(name, texts):
            return _Entry(sources=sources, digests={}, dag_id=None, taken_by=None)
        digests = {item: hashlib.sha256(text.encode()).hexdigest() for item, text in texts.items()}
        return _Entry(sources=sources, digests=digests, dag_id=dag_id, taken_by=taken_by)

    def _values_mode(self) -> int:
        """Return who may read the values of the environment, and so what is taken from them."""
        from mantle_provider.workflow.environments import (  # noqa: PLC0415  # as above
            VALUES_FOLDER,
        )

        try:
            return mode_of(self._folder / VALUES_FOLDER / f"{settings.environment()}.yaml")
        except OSError:
            return _PRIVATE_MODE

    def _write(self, name: str, texts: dict[str, str]) -> bool:
        """Write what stands for one file; the others go on where its name makes that impossible."""
        try:
            for written, text in texts.items():
                mode = self._values_mode() if written == env_name(f"{name}.py") else PUBLIC_MODE
                write_whole(self._stubs / written, text.encode(), mode)
        except OSError as error:
            if error.errno not in _NAME_ERRORS:
                raise
            log.warning("%r is not loaded: no stub can have its name: %s", name, error.strerror)
            return False
        return True


def _written(old: _Index, stubs: Path) -> set[str]:
    """Return the names of all files that an earlier pass has written."""
    if old["files"]:
        return set(_digests(old["files"]))
    # A lost index must not leave stubs behind, which would be Dags for ever.
    found = (path for path in stubs.rglob("*") if path.suffix in (".py", ".json"))
    return {path.relative_to(stubs).as_posix() for path in found if path.is_file()}


def _digests(files: dict[str, _Entry]) -> dict[str, str]:
    return {name: digest for entry in files.values() for name, digest in entry["digests"].items()}


def _is_made(entry: _Entry, stubs: Path) -> bool:
    return all((stubs / name).exists() for name in entry["digests"])


def _is_same(entry: _Entry, folder: Path) -> bool:
    return all(_state(folder / name) == state for name, state in entry["sources"].items())


def _state(path: Path) -> list[int] | None:
    """Return a file's time in nanoseconds and its size, none when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size]


def _stub_texts(file: WorkflowFile, taken_by: str | None) -> dict[str, str]:
    """Return the stub, and where it needs them the values beside it, by path below the stubs."""
    from mantle_provider.builder.folder import merged_workflow, refuse_duplicate  # noqa: PLC0415
    from mantle_provider.diagnostics import render_text  # noqa: PLC0415
    from mantle_provider.plan import plan_workflow  # noqa: PLC0415

    # It keeps the file's suffix, so that "a.yaml" and "a.yml" both have one.
    stub = f"{file.name}.py"
    if taken_by is not None and taken_by != file.name:
        file = refuse_duplicate(file, taken_by)
    if file.workflow is None:
        return {stub: broken_stub_text(file.name, file.text, render_text(file.report))}
    plan = plan_workflow(file.workflow)
    texts = {stub: stub_text(file.name, file.text, plan, merged_workflow(file, plan))}
    if env := env_text(plan):
        # First: who loads a new stub then finds its values.
        texts = {env_name(stub): env, **texts}
    return texts


def _read_index(path: Path) -> _Index:
    """Return what is known, nothing where the file is damaged or has another form."""
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        index = json.loads(path.read_text(encoding="utf-8"))
        if all(map(_is_entry, index["files"].values())):
            return _Index(made_with=index["made_with"], files=index["files"])
    return _Index(made_with=[], files={})


def _is_entry(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == _Entry.__required_keys__
        and isinstance(value["sources"], dict)
        and isinstance(value["digests"], dict)
        and isinstance(value["dag_id"], str | None)
    )


def mode_of(path: Path) -> int:
    """Return who may read and write a file; nobody is to run ours.

    :raises OSError: it cannot be looked at.
    """
    return path.stat().st_mode & 0o666


def write_whole(path: Path, content: bytes, mode: int = PUBLIC_MODE) -> None:
    """Write a file whole, so that no other process reads a part of it.

    Nothing is written when the file says the same already: Airflow looks at its time.
    """
    with suppress(OSError):
        if path.read_bytes() == content:
            if mode_of(path) != mode:
                path.chmod(mode)
            return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=".", suffix=".tmp", delete=False
    ) as file:
        file.write(content)
    Path(file.name).chmod(mode)
    os.replace(file.name, path)  # noqa: PTH105  # the atomic call by its own name
