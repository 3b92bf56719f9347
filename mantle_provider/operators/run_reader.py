"""What a task process reads of its own run: states, records and outputs of the other tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mantle_provider.lifecycle import (
    ADMISSION,
    CALLBACK,
    DEPENDENCY,
    ENDED_STATES,
    ERROR,
    OUTCOME,
    OUTPUT,
    STATE,
    ErrorRecord,
    Judge,
    WorkflowGraph,
    WorkflowState,
    fits_outcome,
    stopped_early,
    verdict,
    ways_taken,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from airflow.sdk.definitions.context import Context
    from airflow.sdk.types import RuntimeTaskInstanceProtocol

    from mantle_provider.lifecycle import WorkflowNodeState

ROUTE = "to"
"""Field of a router's output: the step that it chose."""

FAILED_OUTPUT = "mantle_failed_output"
"""XCom: what a step had produced before it failed. Its own key, so that a step marked failed
after it succeeded does not pass its output off as one."""

ARTIFACTS = "mantle_artifacts"
"""XCom: the files that a task has kept, name -> map of ``name``, ``url`` and ``size``."""

STARTED_AT = "mantle_started_at"
"""XCom: when the current try started and under which version, as :class:`Start`."""

CHILD_RUN = "mantle_child_run"
"""XCom of a ``workflow/run`` step: the id of the run that its current try has started."""

HOOKS_BEGAN_AT = "mantle_hooks_began_at"
"""XCom of a hook: when the first hook of the run started, in seconds since the epoch."""

JUDGED_AT = "mantle_judged_at"
"""XCom of the outcome: when it judged, in seconds since the epoch; of a hook: when the verdict was
made that it runs for."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a try notes when it starts.

    :param at: seconds since the epoch.
    :param version: ``def_version`` of the workflow at that time.
    """

    at: float
    version: str | None = None


_HOOK_PREFIXES = ("on_success.", "on_failure.", "on_finish.")


@dataclass
class RunReader:
    """Reads one run through its supervisor; each answer is fetched once and kept.

    Values survive the clearing of a task in XCom, so that each is read only while the state of
    its task says that it counts (DESIGN 3.6).
    """

    ti: RuntimeTaskInstanceProtocol
    graph: WorkflowGraph
    _states: dict[str, str | None] | None = field(default=None, init=False)
    _xcoms: dict[tuple[str, str], Any] = field(default_factory=dict, init=False)

    @property
    def states(self) -> dict[str, str | None]:
        """Task id -> Airflow state, of the whole run: naming the tasks would limit their number."""
        if self._states is None:
            answer = self.ti.get_task_states(dag_id=self.ti.dag_id, run_ids=[self.ti.run_id])
            self._states = answer.get(self.ti.run_id, {})
        return self._states

    def state(self, task_id: str) -> str | None:
        """Return the state of one task, ``None`` when it has none."""
        state = self.states.get(task_id)
        return None if state is None else str(state)

    def step_states(self) -> dict[str, str | None]:
        """Return the state of each main step."""
        return {node.name: self.state(node.name) for node in self.graph.nodes}

    def xcom(self, task_id: str, key: str) -> Any:  # noqa: ANN401  # any JSON value
        """Return one XCom of this run, ``None`` when it is missing."""
        if (task_id, key) not in self._xcoms:
            self._xcoms[task_id, key] = self.ti.xcom_pull(task_ids=task_id, key=key)
        return self._xcoms[task_id, key]

    def output(self, task_id: str) -> Any:  # noqa: ANN401  # any JSON value
        """Return a step's output as expressions see it: ``{}`` when it was skipped.

        Not when it was cancelled, nor when it says nothing, since a mark of the run skipped it.
        """
        state = self.state(task_id)
        if state == "success":
            return self.xcom(task_id, OUTPUT)
        if state == "failed":
            return self.xcom(task_id, FAILED_OUTPUT)
        if state == "skipped":
            record = self.record(task_id)
            return {} if record and record.type != DEPENDENCY else None
        return None

    def artifact(self, task_id: str, name: str) -> dict[str, Any]:
        """Return a file that a task has kept, with nulls in it when it has not."""
        nothing = {"name": name, "url": None, "size": None}
        if self.state(task_id) not in {"success", "failed"} or self.is_outdated(task_id):
            return nothing
        kept = self.xcom(task_id, ARTIFACTS) or {}
        return kept.get(name, nothing)  # type: ignore[no-any-return]  # as it was pushed

    def record(self, task_id: str) -> ErrorRecord | None:
        """Return why a task failed or skipped itself, ``None`` when it did not or left no word."""
        if self.state(task_id) not in {"failed", "skipped"}:
            return None
        data = self.xcom(task_id, ERROR)
        return ErrorRecord.from_data(data) if data else None

    def records(self, task_ids: Iterable[str]) -> dict[str, ErrorRecord]:
        """Return the records of the failed and skipped ones among ``task_ids``."""
        found = ((task_id, self.record(task_id)) for task_id in task_ids)
        return {task_id: record for task_id, record in found if record is not None}

    def node_state(self, name: str) -> WorkflowNodeState:
        """Return how a main step has ended, as far as it has."""
        record = self.record(name)
        records = self._records_of_ways() | ({} if record is None else {name: record})
        states = self.step_states()
        return verdict(self.graph, states, records, routes=self.routes()).nodes[name]

    def ways_taken(self) -> dict[str, str]:
        """Return where failed steps and routers went, as far as they have ended: step -> step."""
        return ways_taken(self._records_of_ways(), self.routes())

    def judge(self) -> Judge:
        """Return the judge of this moment."""
        tolerant = (node.name for node in self.graph.nodes if node.continue_on_error)
        cut = stopped_early(self.records(tolerant))
        return Judge(self.graph, self.step_states(), self.ways_taken(), cut)

    def _records_of_ways(self) -> dict[str, ErrorRecord]:
        return self.records(node.name for node in self.graph.nodes if node.transitions)

    def routes(self) -> dict[str, str]:
        """Return the case that each router chose: step -> step."""
        routes = {}
        for node in self.graph.nodes:
            if node.cases and self.state(node.name) == "success":
                # A router that a user marked success has chosen nothing.
                output = self.xcom(node.name, OUTPUT) or {}
                routes[node.name] = output.get(ROUTE, "")
        return routes

    def ended_at(self) -> dict[str, float]:
        """Return when each task of the run ended, where both start and duration are known."""
        ends = {}
        for crumb in self.ti.get_task_breadcrumbs(  # type: ignore[attr-defined]  # missing in the protocol
            self.ti.dag_id, self.ti.run_id
        ):
            duration = crumb.get("duration")
            if crumb.get("state") == "failed" and duration is not None:
                start = self.start(crumb["task_id"])
                if start is not None:
                    ends[crumb["task_id"]] = start.at + float(duration)
        return ends

    def start(self, task_id: str) -> Start | None:
        """Return what the current try of a task noted at its start, ``None`` for nothing."""
        noted = self.xcom(task_id, STARTED_AT)
        if noted is None:
            return None
        # A number is what version 0.1 of this provider noted.
        return Start(**noted) if isinstance(noted, dict) else Start(float(noted))

    def is_judged(self) -> bool:
        """Whether the outcome has ended; a step that runs then was cleared without it."""
        return self.state(OUTCOME) in ENDED_STATES

    def ended_hooks(self) -> list[str]:
        """Return the hook steps, and the callback, that have run or were passed over."""
        return [
            task_id
            for task_id in sorted(self.states)
            if (task_id == CALLBACK or _is_hook(task_id)) and self.state(task_id) in ENDED_STATES
        ]

    def rejection(self) -> str | None:
        """Return why this run was refused at its start, ``None`` when it was not."""
        if self.state(ADMISSION) != "failed":
            return None
        record = self.record(ADMISSION)
        return record.message if record else "rejected: the check of the limit was lost"

    def workflow_state(self) -> WorkflowState | None:
        """Return the outcome's verdict, ``None`` when it is missing or no longer fits its state."""
        data = self.xcom(OUTCOME, STATE)
        if not data or not fits_outcome(data["status"], self.state(OUTCOME)):
            return None
        return WorkflowState.from_data(data)

    def is_outdated(self, task_id: str) -> bool:
        """Whether a hook has run for an earlier verdict, since a clear has not reached it.

        One that was killed before it could tell is not: a new try takes away what the one before
        had told.
        """
        if self.state(task_id) not in {"success", "failed"}:
            return False
        judged_at = self.xcom(task_id, JUDGED_AT)
        return judged_at is not None and judged_at != self.judged_at()

    def judged_at(self) -> float | None:
        """Return when the outcome judged, in seconds since the epoch."""
        judged_at = self.xcom(OUTCOME, JUDGED_AT)
        return None if judged_at is None else float(judged_at)


def _is_hook(task_id: str) -> bool:
    """Whether a task is a hook step; what is ours between the hooks has an underscore."""
    return task_id.startswith(_HOOK_PREFIXES) and "_" not in task_id.partition(".")[2]


def run_started_at(context: Context) -> float:
    """Return when the run started, in seconds since the epoch.

    Stable over retries and deferrals, new after a finished run is cleared (AIRFLOW 22i).
    """
    # A run that was only queued has no start, but then no task of it runs either.
    started_at = context["dag_run"].start_date or context["ti"].start_date
    return float(started_at.timestamp())
