"""Files of a run, kept in a store that every machine reaches (``[mantle] artifacts_path``).

A file stands under ``<workflow>/<run>/<task>/<name>``. What is not to outlive the run has a marker
besides it, an empty file under ``<workflow>/<run>/.<keep>/<task>/<name>``: it tells at the end of
the run what to remove, also of attempts that were killed and could tell nothing.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from airflow.sdk import ObjectStoragePath

from mantle_provider import settings
from mantle_provider.errors import ConfigurationError, WorkflowError
from mantle_provider.lifecycle import Phase
from mantle_provider.operators.interrupt import Interrupted, interrupted_after, interruptible
from mantle_provider.operators.run_reader import ARTIFACTS
from mantle_provider.triggers.step import TIME_IS_UP

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

log = logging.getLogger(__name__)

Keep: TypeAlias = Literal["always", "on_failure", "never"]
TEMPORARY: tuple[Keep, ...] = ("on_failure", "never")
"""The values of ``keep`` under which something is removed at the end of a run."""

MIN_SECONDS = 30.0
"""How long files may take to be stored after a failure, however little time the step has left."""

_CHUNK_BYTES = 1_048_576
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_MAX_CHARACTERS = 200


class ArtifactStore:
    """Stores the files of one task of a run.

    :param ti: Airflow's task instance in a worker.
    """

    def __init__(self, ti: Any) -> None:  # noqa: ANN401  # Airflow's task instance
        self._ti = ti

    def keep(self, path: str | Path, name: str, keep: Keep = "always") -> dict[str, Any]:
        """Store a file under a name, in place of one that the task has stored under it before.

        :return: what expressions read: a map of ``name``, ``url`` and ``size``, the latter in
            bytes.
        :raises WorkflowError: when there is no such file, or no file of that kind is kept.
        """
        if keep not in ("always", *TEMPORARY):
            raise _refused(name, f"keep must be always, on_failure or never, not {keep!r}")
        target = self._run_path() / safe_name(self._ti.task_id) / safe_name(name)
        # Airflow clears a task's XComs when its next try starts: these are of this one.
        earlier = self._ti.xcom_pull(task_ids=self._ti.task_id, key=ARTIFACTS) or {}
        with _open_file(Path(path), name) as source:
            size = os.fstat(source.fileno()).st_size
            self._mark(name, keep, may_be_marked=name in earlier or self._has_tries_before())
            _copy(source, target)
        kept = {"name": name, "url": str(target), "size": size}
        self._ti.xcom_push(key=ARTIFACTS, value={**earlier, name: kept})
        log.info("kept %s as artifact %r, %s bytes: %s", path, name, size, target)
        return kept

    def keep_all(self, artifacts: Sequence[Mapping[str, Any]], folder: Path) -> None:
        """Store what a step that has succeeded has declared.

        :param artifacts: maps of ``path``, ``name`` and ``keep``.
        :param folder: where relative paths begin.
        :raises WorkflowError: in phase ``RESULT_VALIDATION``, when one of them is missing.
        """
        for artifact in artifacts:
            self.keep(folder / artifact["path"], artifact["name"], artifact["keep"])

    def keep_found(
        self, artifacts: Sequence[Mapping[str, Any]], folder: Path, seconds: float | None
    ) -> None:
        """Store what there is of the files that a step which has failed had declared.

        What goes wrong is only logged: the step's own failure is the one to tell of.

        :param seconds: what the step has left of its time, ``None`` for no limit.
        """
        limit = None if seconds is None else max(seconds, MIN_SECONDS)
        try:
            with (
                interruptible() as interrupter,
                interrupted_after(interrupter, limit, TIME_IS_UP),
            ):
                for artifact in artifacts:
                    self._keep_if_found(artifact, folder)
        except Interrupted:
            log.warning("Storing the step's artifacts took longer than %s s and was ended", limit)

    def _keep_if_found(self, artifact: Mapping[str, Any], folder: Path) -> None:
        name, path = artifact["name"], folder / artifact["path"]
        try:
            if path.exists():
                self.keep(path, name, artifact["keep"])
                return
            log.warning("artifact %r is not kept: %s does not exist", name, path)
            if self._has_tries_before():
                _discard(self._run_path() / safe_name(self._ti.task_id) / safe_name(name))
        except Exception:
            log.exception("Artifact %r is not kept", name)

    def _mark(self, name: str, keep: Keep, *, may_be_marked: bool) -> None:
        """Note what must be done about a file at the end of the run."""
        run = self._run_path()
        for value in TEMPORARY:
            marker = _marker(run, value, self._ti.task_id, name)
            if value == keep:
                with _create(marker):
                    pass
            elif may_be_marked:
                # An edited file, or another call of the same function, may have changed its mind.
                _discard(marker)

    def _has_tries_before(self) -> bool:
        return bool(self._ti.try_number > 1)

    def _run_path(self) -> ObjectStoragePath:
        return run_path(self._ti.dag_id, self._ti.run_id)


def remove_artifacts(dag_id: str, run_id: str, *, completed: bool) -> list[str]:
    """Remove, at the end of a run, the files that are not to outlive it.

    :param completed: whether the workflow completed, so that nothing is left to look into.
    :return: what could not be removed, one message for each; it is logged, too.
    """
    values = TEMPORARY if completed else ("never",)
    return [problem for value in values for problem in _remove_marked(dag_id, run_id, value)]


def run_path(dag_id: str, run_id: str) -> ObjectStoragePath:
    """Return where the files of a run are kept.

    :raises ConfigurationError: for an unfit setting, or one that needs a provider which is not
        installed.
    """
    try:
        root = ObjectStoragePath(settings.artifacts_path())
        log.debug("artifacts are kept with %s", type(root.fs).__name__)
    except ValueError as error:
        raise ConfigurationError(f"[mantle] artifacts_path: {error}") from error
    return root / safe_name(dag_id) / safe_name(run_id)


def safe_name(text: str) -> str:
    """Return a name that is one plain part of a path in any store; different for different texts.

    Letters, digits, ``.``, ``_`` and ``-`` stay, all else becomes ``=`` and two hex digits for each
    byte of UTF-8. A dot at the beginning does too, so that no name leads out of its folder or looks
    like a marker. The end of a long name gives way to a checksum.
    """
    encoded = _UNSAFE.sub(_encode, text)
    if encoded.startswith("."):
        encoded = f"=2E{encoded[1:]}"
    if len(encoded) <= _MAX_CHARACTERS:
        return encoded or "="
    checksum = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"{encoded[: _MAX_CHARACTERS - len(checksum) - 1]}={checksum}"


def _encode(match: re.Match[str]) -> str:
    return "".join(f"={byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))


def _open_file(path: Path, name: str) -> Any:  # noqa: ANN401  # a binary file
    """Open a file to be kept.

    :raises WorkflowError: in phase ``RESULT_VALIDATION``.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise _refused(name, f"{path} does not exist") from None
    if stat.S_ISDIR(mode):
        raise _refused(name, f"{path} is a folder; pack it into one file, for example with tar")
    if not stat.S_ISREG(mode):
        raise _refused(name, f"{path} is no regular file")
    return path.open("rb")


def _copy(source: Any, target: ObjectStoragePath) -> None:  # noqa: ANN401  # a binary file
    """Copy a file piece by piece; what was interrupted leaves nothing behind."""
    try:
        with _create(target) as sink:
            shutil.copyfileobj(source, sink, _CHUNK_BYTES)
    except BaseException:
        # A store takes what has arrived for the whole file when it is closed.
        with suppress(Exception):
            _discard(target)
        raise


def _create(target: ObjectStoragePath) -> Any:  # noqa: ANN401  # a binary file
    try:
        return target.open("wb")  # type: ignore[no-untyped-call]  # Airflow says no types
    except FileNotFoundError:
        # Only stores with real folders need them; others may not even let us ask.
        target.parent.mkdir(parents=True, exist_ok=True)
        return target.open("wb")  # type: ignore[no-untyped-call]  # Airflow says no types


def _discard(path: ObjectStoragePath) -> None:
    with suppress(FileNotFoundError):
        path.unlink()


def _marker(run: ObjectStoragePath, keep: str, task_id: str, name: str) -> ObjectStoragePath:
    return run / f".{keep}" / safe_name(task_id) / safe_name(name)


def _marked(run: ObjectStoragePath, keep: str) -> Iterator[tuple[str, str]]:
    """Yield the task and the name of each marked file, both as they stand in the store."""
    root = run / f".{keep}"
    # The listing may be one from before another machine's last file.
    root.fs.invalidate_cache()
    for found in sorted(root.fs.find(root.path)):
        *_, task, name = str(found).split("/")
        yield task, name


def _remove_marked(dag_id: str, run_id: str, keep: Keep) -> list[str]:
    try:
        run = run_path(dag_id, run_id)
        marked = [*_marked(run, keep)]
    except Exception as error:
        log.exception("Could not look for the artifacts with keep: %s", keep)
        return [f"artifacts with keep: {keep}: {error}"]
    return [problem for task, name in marked for problem in _remove(run, keep, task, name)]


def _remove(run: ObjectStoragePath, keep: str, task: str, name: str) -> list[str]:
    target, marker = run / task / name, run / f".{keep}" / task / name
    try:
        _discard(target)
        # Last, so that another attempt finds what this one could not remove.
        _discard(marker)
    except Exception as error:
        log.exception("Could not remove %s", target)
        return [f"artifact {target}: {error}"]
    log.info("removed %s (keep: %s)", target, keep)
    if target.protocol == "file":
        _remove_empty_folders(target.parent, marker.parent, marker.parent.parent, run)
    return []


def _remove_empty_folders(*folders: ObjectStoragePath) -> None:
    for folder in folders:
        with suppress(OSError):
            Path(folder.path).rmdir()


def _refused(name: str, problem: str) -> WorkflowError:
    return WorkflowError(
        f'artifact "{name}" cannot be kept: {problem}',
        phase=Phase.RESULT_VALIDATION.value,
        field="artifacts",
        type="InvalidArtifact",
    )
