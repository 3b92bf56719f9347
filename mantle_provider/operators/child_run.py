"""What a task process reads of a run that it has started: how it ended, and what its steps say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mantle_provider.errors import ResultNotCompletedError
from mantle_provider.lifecycle import OUTCOME, WorkflowGraph
from mantle_provider.operators.run_reader import RunReader

if TYPE_CHECKING:
    from airflow.sdk.types import RuntimeTaskInstanceProtocol

_NO_CAUSE = "no step says why: its run was marked failed, or its outcome was lost"
_NO_RECORD = "failed without saying why: killed, lost, marked failed, or no step of a workflow"
_OUR_CHARACTERS = frozenset("_.")


@dataclass(kw_only=True)
class ChildReader(RunReader):
    """Reads a run of another Dag by the rules for our own run.

    A Dag that is no workflow has no records and no verdict, but states and return values.
    """

    dag_id: str
    run_id: str

    @property
    def states(self) -> dict[str, str | None]:
        """Task id -> Airflow state, of the whole run."""
        if self._states is None:
            answer = self.ti.get_task_states(dag_id=self.dag_id, run_ids=[self.run_id])
            self._states = answer.get(self.run_id, {})
        return self._states

    def xcom(self, task_id: str, key: str) -> Any:  # noqa: ANN401  # any JSON value
        """Return one XCom of the run, ``None`` when it is missing."""
        if (task_id, key) not in self._xcoms:
            self._xcoms[task_id, key] = self.ti.xcom_pull(
                dag_id=self.dag_id, run_id=self.run_id, task_ids=task_id, key=key, map_indexes=-1
            )
        return self._xcoms[task_id, key]

    def steps(self) -> dict[str, dict[str, Any]]:
        """Return step name -> ``{"output": ...}``, for a failed step with ``"error"``."""
        return {name: self._step(name) for name in self._step_names()}

    def _step(self, name: str) -> dict[str, Any]:
        step = {"output": self.output(name)}
        if self.state(name) == "failed":
            record = self.record(name)
            step["error"] = record.message if record else _NO_RECORD
        return step

    def _step_names(self) -> list[str]:
        """Return the names of the main steps.

        Hooks and our own tasks, whose ids no step can have, come together with an outcome only;
        without one every task is a step, or the Dag is no workflow.
        """
        has_outcome = OUTCOME in self.states
        return sorted(
            task_id
            for task_id in self.states
            if not has_outcome or not _OUR_CHARACTERS.intersection(task_id)
        )

    def result(self) -> Any:  # noqa: ANN401  # any JSON value
        """Return the output of the step that the workflow names as its result.

        :raises ResultNotCompletedError: when that step did not complete, there is none, or no
            verdict on the run.
        """
        verdict = self.workflow_state()
        if verdict is None:
            raise ResultNotCompletedError(None, None, reason="there is no verdict on the run")
        step = verdict.result_step
        output = None if step is None else self.output(step)
        return replace(verdict, result_output=output).result

    def failed_status(self) -> str:
        """Return which of the two ways to fail a failed run took: ``failed`` or ``timed_out``."""
        verdict = self.workflow_state()
        return "timed_out" if verdict and verdict.status == "timed_out" else "failed"

    def cause(self) -> str:
        """Return why a failed run failed, in words: its verdict's, or its first failed step's."""
        verdict = self.workflow_state()
        if verdict is not None and verdict.error is not None:
            return verdict.error
        failed = [name for name in self._step_names() if self.state(name) == "failed"]
        records = self.records(failed)
        # Beside an outcome without a verdict, a record may be that of a tolerated failure.
        if records and OUTCOME not in self.states:
            return min(records.values(), key=lambda record: record.at).message
        silent = [name for name in failed if name not in records]
        return f'"{silent[0]}" {_NO_RECORD}' if silent else _NO_CAUSE


def child_reader(ti: RuntimeTaskInstanceProtocol, dag_id: str, run_id: str) -> ChildReader:
    """Return a reader of another Dag's run; its graph is not known here, nor needed."""
    return ChildReader(ti, WorkflowGraph(()), dag_id=dag_id, run_id=run_id)
