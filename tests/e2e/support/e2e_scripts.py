"""What happens to runs while they run: scripts that act as soon as something has come about.

A script is a generator over one :class:`LiveRun` that yields while it has to wait, and returns what
it has seen. One thread carries all of them on, so that all scenarios happen side by side.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from e2e_suite import Suite
    from typing_extensions import Self

    Script = Callable[["LiveRun"], Generator[None, None, Any]]

POLL_SECONDS = 1.0
RUN_STATES = ("success", "failed")
ENDED = {*RUN_STATES, "skipped", "upstream_failed"}
SCRIPTS: dict[str, Script] = {}
"""Workflow -> what happens to each of its runs; filled by the modules that define scripts."""

Answer = TypeVar("Answer")


def script(*dag_ids: str) -> Callable[[Script], Script]:
    """Make a generator function the script of every run of some workflows."""

    def register(function: Script) -> Script:
        SCRIPTS.update(dict.fromkeys(dag_ids, function))
        return function

    return register


@dataclass(frozen=True)
class LiveRun:
    """One run under way, as a script sees it."""

    suite: Suite
    dag_id: str
    run_id: str
    inputs: Mapping[str, object]

    def tasks(self) -> dict[str, dict[str, Any]]:
        """Return task id -> the task instance as the REST API shows it now."""
        instances = self.suite.client.task_instances(self.dag_id, self.run_id)
        return {instance["task_id"]: instance for instance in instances}

    def states(self) -> dict[str, str | None]:
        """Return task id -> state now."""
        return {task_id: task["state"] for task_id, task in self.tasks().items()}

    def until(self, ask: Callable[[], Answer]) -> Generator[None, None, Answer]:
        """Wait until the answer is true, and return it."""
        while not (answer := ask()):
            yield
        return answer

    def until_state(self, task_id: str, state: str) -> Generator[None, None, None]:
        """Wait until a task is in a state.

        :raises AssertionError: when no task can come into it any more.
        """

        def is_in_state() -> bool:
            states = self.states()
            is_so = states.get(task_id) == state
            assert is_so or not states or not {*states.values()} <= ENDED, f"ended with {states}"
            return is_so

        yield from self.until(is_in_state)

    def until_ended(self) -> Generator[None, None, str]:
        """Wait until the run has ended, and return its state."""

        def ended() -> str | None:
            state = self.suite.client.run_state(self.dag_id, self.run_id)
            return state if state in RUN_STATES else None

        return (yield from self.until(ended))

    def until_older(self, seconds: float) -> Generator[None, None, None]:
        """Wait until the run's start is so long ago."""
        start = self.suite.client.run(self.dag_id, self.run_id)["start_date"]
        end = datetime.fromisoformat(start).timestamp() + seconds
        yield from self.until(lambda: time.time() > end)

    def until_quiet(self, seconds: float) -> Generator[None, None, dict[str, str | None]]:
        """Wait until no task's state has changed for so long, and return the states."""
        states, since = self.states(), time.monotonic()
        while time.monotonic() - since < seconds:
            yield
            seen = self.states()
            if seen != states:
                states, since = seen, time.monotonic()
        return states

    def until_running(self, task_id: str, try_number: int = 1) -> Generator[None, None, int]:
        """Wait until a try of a task runs, and return the id of its process."""

        def pid() -> int | None:
            task = self.tasks()[task_id]
            is_running = (task["state"], task["try_number"]) == ("running", try_number)
            return task["pid"] if is_running else None

        return (yield from self.until(pid))

    def kill(self, task_id: str, try_number: int = 1) -> Generator[None, None, None]:
        """Wait until a try of a task runs, and kill its process by its id."""
        pid = yield from self.until_running(task_id, try_number)
        os.kill(pid, signal.SIGKILL)


class Director:
    """Carries the scripts of all runs on, in a thread of its own."""

    def __init__(self) -> None:
        self._scripts: dict[str, Generator[None, None, Any]] = {}
        self._results: dict[str, Any] = {}
        self._errors: dict[str, Exception] = {}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._carry_on, name="director", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def follow(self, run: LiveRun) -> None:
        """Begin the run's script, if its workflow has one."""
        if run.dag_id in SCRIPTS:
            self._scripts[run.run_id] = SCRIPTS[run.dag_id](run)

    def result(self, run_id: str) -> Any:
        """Return what the run's script has returned, ``None`` where there is none."""
        return self._results.get(run_id)

    def is_done(self, run_id: str) -> bool:
        """Whether the run's script has come to its end.

        :raises Exception: what the script has raised.
        """
        if run_id in self._errors:
            raise self._errors[run_id]
        return run_id not in self._scripts

    def _carry_on(self) -> None:
        while not self._is_over.wait(POLL_SECONDS):
            for run_id in tuple(self._scripts):
                self._step(run_id)

    def _step(self, run_id: str) -> None:
        try:
            next(self._scripts[run_id])
        except StopIteration as end:
            self._results[run_id] = end.value
        except Exception as error:  # noqa: BLE001  # raised again where a test asks
            self._errors[run_id] = error
        else:
            return
        del self._scripts[run_id]
