"""What the example workflows promise, read from the comments at the head of each file.

``# Ends: success`` or ``# Ends: failed`` tells the colour of a run started without inputs, and
``# Runs: on_failure, on_finish`` the hook blocks that run, absent when none does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

BLOCKS = ("on_success", "on_failure", "on_finish")


@dataclass(frozen=True)
class Example:
    """One example file; its name is the Dag's id.

    :param ends: the run's final state, ``success`` or ``failed``.
    :param runs: the hook blocks that run, in the order in which they do.
    """

    path: Path
    ends: str
    runs: tuple[str, ...]

    @property
    def dag_id(self) -> str:
        """The id of the Dag that the file becomes."""
        return self.path.stem


def read_example(path: Path) -> Example:
    """Read what one file promises.

    :raises ValueError: when the file does not say how it ends.
    """
    promises: dict[str, str] = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        key, colon, value = line.lstrip("# ").partition(":")
        if colon:
            promises[key] = value.strip()
    if promises.get("Ends") not in ("success", "failed"):
        raise ValueError(f'{path}: the head comment lacks "# Ends: success" or "# Ends: failed"')
    runs = tuple(name.strip() for name in promises.get("Runs", "").split(",") if name.strip())
    return Example(path=path, ends=promises["Ends"], runs=runs)


def read_examples(folder: Path) -> list[Example]:
    """Read all workflows of a folder, in the order of their names."""
    return [read_example(path) for path in sorted(folder.glob("*.yaml"))]


def blocks_that_ran(task_states: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the hook blocks of a finished run in which a task did something.

    :param task_states: task id -> state, of the whole run; hook tasks are named ``block.hook``.
    """
    return tuple(
        block
        for block in BLOCKS
        if any(
            state in ("success", "failed")
            for task_id, state in task_states.items()
            # An underscore after the block marks a task that only orders the hooks.
            if task_id.startswith(f"{block}.") and "_" not in task_id.removeprefix(f"{block}.")
        )
    )
