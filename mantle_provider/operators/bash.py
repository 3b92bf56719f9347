"""Actions on the worker's shell."""

from __future__ import annotations

import os
import shutil
import signal
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import psutil  # comes with Airflow
from airflow.providers.standard.hooks.subprocess import SubprocessHook

from mantle_provider.errors import ActionError, ConfigurationError
from mantle_provider.expressions import text_form
from mantle_provider.operators.base import StepOperator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airflow.sdk.definitions.context import Context


# Airflow 3: a task's standard input is its channel to the supervisor. A command that read it, as
# ssh does, would wait for ever, and bash takes a socket there for rshd and reads ~/.bashrc. So sh,
# which takes no notice, starts bash with nothing to read.
_WITHOUT_INPUT = ("/bin/sh", "-c", 'exec "$0" -c "$1" </dev/null')


class BashRunOperator(StepOperator):
    """``bash/run``: run a command in the worker's shell."""

    @cached_property
    def _subprocess(self) -> SubprocessHook:
        return SubprocessHook()

    def execute(self, context: Context) -> dict[str, Any]:
        """Run the command; the folder it works in lasts until its artifacts are kept."""
        with TemporaryDirectory(prefix="mantle-", ignore_cleanup_errors=True) as folder:
            self._attempt.folder = Path(self.parameters.get("cwd") or folder)
            return super().execute(context)

    def act(self, context: Context, parameters: Mapping[str, Any]) -> str:  # noqa: ARG002  # nothing of the run is needed
        """Return the last line of the command's output.

        :raises ActionError: when the command exits with another code than 0; its ``exit_code``
            and last line stay readable.
        """
        bash = shutil.which("bash")
        if bash is None:
            raise ConfigurationError("bash/run: there is no bash on this worker")
        cwd = self._attempt.folder
        if not cwd.is_dir():
            raise ActionError(
                f'bash/run: the working directory "{cwd}" does not exist', action="bash/run"
            )
        given = parameters.get("env") or {}
        env = {name: "" if value is None else text_form(value) for name, value in given.items()}
        result = self._subprocess.run_command(
            [*_WITHOUT_INPUT, bash, parameters["command"]],
            env={**os.environ, **env},
            cwd=str(cwd),
        )
        if result.exit_code != 0:
            raise ActionError(
                f"bash/run: the command exited with code {result.exit_code}",
                action="bash/run",
                result={"result": result.output, "exit_code": result.exit_code},
            )
        return str(result.output)

    def _stop(self) -> None:
        """Stop the command and what it has started."""
        if self._subprocess.sub_process is not None:
            self._subprocess.send_sigterm()  # type: ignore[no-untyped-call]
            return
        # The cut may have come while the command was being started: then it is a child of this
        # process that leads a group of its own, of which the hook does not know yet.
        for child in psutil.Process().children():
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)
