"""What the user's own code gets to know of its run: ``WorkflowContext`` and ``current_state()``."""

from __future__ import annotations

import logging
from copy import deepcopy
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from airflow.sdk import Connection, get_current_context

from mantle_provider.errors import ConfigurationError, WorkflowError
from mantle_provider.lifecycle import Phase, WorkflowGraph
from mantle_provider.operators.artifacts import ArtifactStore
from mantle_provider.operators.inputs import input_values
from mantle_provider.operators.judgement import has_callback, state_now
from mantle_provider.operators.notes import Properties
from mantle_provider.operators.run_reader import RunReader
from mantle_provider.operators.values import LazyMap

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping
    from pathlib import Path

    from airflow.sdk.definitions.context import Context

    from mantle_provider.lifecycle import WorkflowState
    from mantle_provider.operators.artifacts import Keep


class WorkflowContext:
    """One run of a workflow, for the functions and callbacks that the workflow names.

    Made for each call; to be used while the call lasts, in the process of the task.

    :param context: Airflow's own, of a task of the workflow.
    :param step: the step that the call is about, by default the one whose task runs; ``None``
        for the workflow's own callback.
    :ivar run_id: Airflow's id of the run.
    :ivar workflow: the workflow's name.
    :ivar version: ``def_version`` of the code that runs.
    :ivar airflow: Airflow's own context.
    """

    def __init__(self, context: Context, step: str | None = None) -> None:
        self.airflow = context
        self._workflow = _workflow_of(context)
        self._ti = context["ti"]
        own = getattr(context["task"], "mantle_step", None)
        self.step = step or (own["name"] if own else None)
        self.run_id: str = self._ti.run_id
        self.workflow: str = self._ti.dag_id
        self.version: str = self._workflow["version"]

    @cached_property
    def inputs(self) -> Mapping[str, Any]:
        """Every declared input, given or default, plus ``trigger``: a copy."""
        conf = self.airflow["dag_run"].conf
        return deepcopy(input_values(self._workflow["inputs"], conf))

    @cached_property
    def outputs(self) -> Mapping[str, Any]:
        """Main step -> its output, by the rules of ``steps['name'].output`` in expressions.

        Each is loaded when first read.
        """
        reader = self._reader
        return LazyMap(
            {node.name: partial(reader.output, node.name) for node in reader.graph.nodes}
        )

    @cached_property
    def properties(self) -> MutableMapping[str, Any]:
        """Notes on the run that its tasks leave for each other, as JSON values by name.

        What is written is stored at once, with the task that runs; other tasks see it when that
        task has ended, and it ends up in ``WorkflowState.properties``.
        """
        return Properties(self._ti, self.airflow["dag"], self._reader)

    @property
    def logger(self) -> logging.Logger:
        """A logger whose lines stand in the log of the task."""
        return logging.getLogger(f"mantle.{self.workflow}")

    @property
    def state(self) -> WorkflowState:
        """How the run stands now, see :func:`current_state`; asked anew each time."""
        return state_now(self.airflow, self._workflow)

    def connection(self, connection_id: str) -> Connection:
        """Return one of Airflow's connections.

        :raises AirflowNotFoundException: when there is none of that id.
        """
        connection: Connection = Connection.get(connection_id)
        return connection

    def keep(self, path: str | Path, name: str, keep: Keep = "always") -> dict[str, Any]:
        """Keep a file as an artifact of the task that runs.

        :param keep: when the file outlives the run: ``always``, ``on_failure`` or ``never``.
        :return: a map of ``name``, ``url`` and ``size``, the latter in bytes.
        :raises WorkflowError: when there is no such file, or nothing at the end of this workflow
            could remove it.
        """
        if keep != "always" and not has_callback(self.airflow["dag"]):
            raise WorkflowError(
                f'artifact "{name}" cannot be kept: with keep="{keep}" it needs a task that '
                "removes it; declare an artifact with this `keep` in the file, or "
                "`callbacks.on_finish`",
                phase=Phase.EXECUTION.value,
                field="keep",
                retryable=False,
            )
        return ArtifactStore(self._ti).keep(path, name, keep)

    @cached_property
    def _reader(self) -> RunReader:
        return RunReader(self._ti, WorkflowGraph.from_data(self._workflow["graph"]))


def current_state(context: Context | WorkflowContext | None = None) -> WorkflowState:
    """Return how the run stands now; for any operator of a workflow, at any time.

    Main steps that have not ended are ``NOT_RUN``, and their reason says so; ``status`` is
    ``running`` until the outcome has judged or a fatal failure has decided.

    :param context: Airflow's context or ours; by default that of the task that runs.
    :raises ConfigurationError: when the task is not one of a workflow's.
    """
    if isinstance(context, WorkflowContext):
        return context.state
    airflow = context or get_current_context()
    return state_now(airflow, _workflow_of(airflow))


def _workflow_of(context: Context) -> Mapping[str, Any]:
    task = context["task"]
    workflow: Mapping[str, Any] | None = getattr(task, "mantle_workflow", None)
    if workflow is None:
        raise ConfigurationError(f'task "{task.task_id}" is no task of a Mantle workflow')
    return workflow
