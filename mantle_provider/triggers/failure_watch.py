"""Looking, from a step or from its wait, whether another step has failed for good."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from airflow.sdk.execution_time.xcom import XCom

from mantle_provider.lifecycle import (
    ENDED_STATES,
    ERROR,
    ErrorRecord,
    WorkflowGraph,
    first_fatal,
    ways_taken,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class FailureWatch:
    """Looks whether a fatal failure has happened, cheaply as long as none has.

    Counting failed tasks costs little; the states of the whole run are read only when there are
    more of them than when last looked (AIRFLOW 22k), and while a step recovers from one: if it is
    cancelled the failure is fatal without a further one.

    :param ti: anything with Airflow's ``get_ti_count`` and ``get_task_states``.
    """

    ti: Any
    dag_id: str
    run_id: str
    graph: WorkflowGraph
    _seen: int = field(default=0, init=False)

    def look(self) -> str | None:
        """Return a step whose failure is fatal, ``None`` while there is none."""
        count = self.ti.get_ti_count(dag_id=self.dag_id, run_ids=[self.run_id], states=["failed"])
        if count <= self._seen:
            return None
        answer = self.ti.get_task_states(dag_id=self.dag_id, run_ids=[self.run_id])
        states = answer.get(self.run_id, {})
        taken = self._ways_taken(states)
        if all(states.get(target) in ENDED_STATES for target in taken.values()):
            self._seen = count
        return first_fatal(self.graph, states, taken)

    def _ways_taken(self, states: Mapping[str, str | None]) -> dict[str, str]:
        """Return where failed steps went to recover; only these are no reason to stop."""
        records = {}
        for node in self.graph.nodes:
            if node.transitions and states.get(node.name) == "failed":
                data = XCom.get_one(
                    key=ERROR, dag_id=self.dag_id, run_id=self.run_id, task_id=node.name
                )
                if data:
                    records[node.name] = ErrorRecord.from_data(data)
        return ways_taken(records)

    def to_data(self, interval_seconds: float) -> dict[str, Any]:
        """Return what makes the same watch elsewhere, as JSON data."""
        return {
            "dag_id": self.dag_id,
            "run_id": self.run_id,
            "graph": self.graph.to_data(),
            "interval_seconds": interval_seconds,
        }

    @classmethod
    def from_data(cls, ti: Any, data: Mapping[str, Any]) -> FailureWatch:  # noqa: ANN401  # see above
        """Read what :meth:`to_data` wrote."""
        graph = WorkflowGraph.from_data(data["graph"])
        return cls(ti, data["dag_id"], data["run_id"], graph)
