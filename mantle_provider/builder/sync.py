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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from mantle_provider import __version__, settings
from mantle_provider.builder.paths import workflow_paths
from mantle_provider.builder.sources import content_of, have_changed, state_at
from mantle_provider.builder.stubs import (
    broken_stub_name,
    broken_stub_text,
    env_name,
    env_text,
    stub_name,
    stub_text,
)

if TYPE_CHECKING:
    from mantle_provider.builder.folder import WorkflowFile
    from mantle_provider.builder.sources import State
    from mantle_provider.check import CheckOptions
    from mantle_provider.folder import WorkflowFolder

PUBLIC_MODE = 0o644
"""Airflow may read the bundle as another user than the one who writes it."""
_PRIVATE_MODE = 0o600


class _Entry(TypedDict):
    """What is known of a file.

    ``sources`` are the files that its stub follows from, by their paths below the folder, with
    their states, and none for one that was looked for and is not there; ``content`` is the digest
    of what they say, none for a broken file. ``digests`` are the SHA-256 of the stub and of the
    values beside it, by their paths below the stubs; none for a file that is no workflow.
    ``dag_id`` is the id it asks for, none when it is broken or no workflow; ``taken_by`` names the
    file that has that id.
    """

    sources: dict[str, State]
    content: str | None
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

    A file whose times and size are unchanged is not read again, and one that says the same, as
    after a new checkout, is not checked again. A new version of this package, or other limits,
    renew every stub.
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
    for name in _files_below(stubs) - digests.keys():
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
    limit = settings.max_file_bytes()
    return any(
        entry["dag_id"] == dag_id
        and entry["taken_by"] == name
        and _confirmed(entry, folder, limit) is not None
        and _is_made(entry, stubs)
        for name, entry in index["files"].items()
    )


class _Sync:
    """One pass over a folder. Has state: the Dag ids that are taken, and what files share."""

    def __init__(self, folder: Path, stubs: Path) -> None:
        self._folder = folder
        self._stubs = stubs
        self._max_bytes = settings.max_file_bytes()
        self._taken: dict[str, str] = {}
        self._shared: WorkflowFolder | None = None
        self._options: CheckOptions | None = None

    def file(self, path: Path, known: _Entry | None) -> _Entry | None:
        """Bring the stub of one file into line and return what is now known of the file."""
        name = path.relative_to(self._folder).as_posix()
        if known is not None and (known := _confirmed(known, self._folder, self._max_bytes)):
            dag_id = known["dag_id"]
            # A file whose id another one had is looked at again once that one is gone.
            if _is_made(known, self._stubs) and (
                dag_id is None or self._taken.setdefault(dag_id, name) == known["taken_by"]
            ):
                return known
        return self._check(path, name)

    def _check(self, path: Path, name: str) -> _Entry | None:
        """Write what stands for a file and return what is known of it, none if it is gone."""
        from mantle_provider.builder.folder import (  # noqa: PLC0415  # see the module's docstring
            check_options,
            read_workflow_file,
            refuse_duplicate,
            shared_folder,
        )

        # Once for all files: each look into Airflow's configuration takes its time.
        self._options = options = self._options or check_options()
        self._shared = self._shared or shared_folder(self._folder, options)
        # Before the file is read: a change in between is then found the next time.
        sources = {name: state_at(path)}
        if sources[name] is None:
            return None
        dag_id = taken_by = None
        digests: dict[str, str] = {}
        file = read_workflow_file(path, self._folder, options, self._shared)
        if file is not None:
            sources |= {source: self._shared.states.get(source) for source in file.sources}
            if file.workflow:
                dag_id = file.workflow.name
                taken_by = self._taken.setdefault(dag_id, name)
                file = file if taken_by == name else refuse_duplicate(file, taken_by)
            digests = self._write(_stub_texts(file))
        # A broken file is checked again whenever it is touched: a link that led out of the folder
        # may lead to the same text inside.
        is_broken = file is not None and file.workflow is None
        return _Entry(
            sources=sources,
            content=None if is_broken else content_of(self._folder, sources, self._max_bytes),
            digests=digests,
            dag_id=dag_id,
            taken_by=taken_by,
        )

    def _values_mode(self) -> int:
        """Return who may read the values of the environment, and so what is taken from them."""
        from mantle_provider.workflow.environments import (  # noqa: PLC0415  # as above
            VALUES_FOLDER,
        )

        try:
            return mode_of(self._folder / VALUES_FOLDER / f"{settings.environment()}.yaml")
        except OSError:
            return _PRIVATE_MODE

    def _write(self, texts: dict[str, str]) -> dict[str, str]:
        """Write what stands for one file and return the digests."""
        for written, text in texts.items():
            mode = PUBLIC_MODE if written.endswith(".py") else self._values_mode()
            write_whole(self._stubs / written, text.encode(), mode)
        return {item: hashlib.sha256(text.encode()).hexdigest() for item, text in texts.items()}


def _files_below(stubs: Path) -> set[str]:
    """Return the paths of all stubs and values that are there.

    The index may be lost, or older than what is there: whatever has no file any more has to go, or
    it would be a Dag for ever.
    """
    return {
        Path(folder, name).relative_to(stubs).as_posix()
        for folder, _, names in os.walk(stubs)
        for name in names
        if name.endswith((".py", ".json"))
    }


def _digests(files: dict[str, _Entry]) -> dict[str, str]:
    return {name: digest for entry in files.values() for name, digest in entry["digests"].items()}


def _is_made(entry: _Entry, stubs: Path) -> bool:
    return all((stubs / name).exists() for name in entry["digests"])


def _confirmed(entry: _Entry, folder: Path, max_bytes: int) -> _Entry | None:
    """Return what is known of a file, with the states of now; none when it may not hold."""
    if not have_changed(folder, entry["sources"]):
        return entry
    now = {name: state_at(folder / name) for name in entry["sources"]}
    content = content_of(folder, now, max_bytes)
    if content is None or content != entry["content"]:
        return None
    return {**entry, "sources": now}


def _stub_texts(file: WorkflowFile) -> dict[str, str]:
    """Return the stub, and where it needs them the values beside it, by path below the stubs."""
    from mantle_provider.builder.folder import merged_workflow  # noqa: PLC0415
    from mantle_provider.diagnostics import render_text  # noqa: PLC0415
    from mantle_provider.plan.planner import plan_workflow  # noqa: PLC0415

    if file.workflow is None:
        text = broken_stub_text(file.name, file.text, render_text(file.report))
        return {broken_stub_name(file.name): text}
    plan = plan_workflow(file.workflow)
    stub = stub_name(plan.dag_id)
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
        and isinstance(value["content"], str | None)
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
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(mode)
        os.replace(temporary, path)  # noqa: PTH105  # the atomic call by its own name
    except OSError:
        Path(temporary).unlink()
        raise
