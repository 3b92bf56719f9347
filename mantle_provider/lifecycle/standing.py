"""Which step may run, given how the steps before it ended (LANGUAGE, "Failure keys", rows 3, 4).

States and the ways taken decide; of the records only the way that a failed step took counts. The
gate of a step and the verdict on a run ask the same function. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mantle_provider.lifecycle.model import TRANSITION

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mantle_provider.lifecycle.graph import GraphNode, WorkflowGraph
    from mantle_provider.lifecycle.model import Effect, ErrorRecord


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether one step may run.

    :param blocker: the step because of which it may not: not the cancelled dependency, but what
        cancelled it.
    :param is_not_taken: whether it may not because no step went to it, nor to any of the steps
        that it depends on.
    """

    blocker: str | None = None
    is_not_taken: bool = False

    @property
    def may_run(self) -> bool:
        """Whether the step may run, as far as the steps before it decide."""
        return self.blocker is None and not self.is_not_taken


def ways_taken(
    records: Mapping[str, ErrorRecord], routes: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return where failed steps and routers went: step -> step.

    :param routes: router -> the case it chose.
    """
    taken = dict(routes or {})
    for name, record in records.items():
        if record.resolution == TRANSITION and record.target is not None:
            taken[name] = record.target
    return taken


class Judge:
    """Answers for one moment of a run, from the states that its steps have at that moment.

    A step that has not ended keeps no other from running.

    :param states: step -> Airflow task state; ``None`` or absent where there is none.
    :param taken: see :func:`ways_taken`.
    :param cut: the failed steps that the deadline or ``fail_fast`` ended; no key of theirs counts
        (LANGUAGE, "Failure keys", row 2).
    :ivar standings: step -> how it stands, in topological order.
    """

    def __init__(
        self,
        graph: WorkflowGraph,
        states: Mapping[str, str | None],
        taken: Mapping[str, str] | None = None,
        cut: Collection[str] = (),
    ) -> None:
        self._graph = graph
        self._states = states
        self._taken = taken or {}
        self._cut = cut
        self._list_blockers: dict[str, str | None] = {}
        self._led_to: dict[str, frozenset[str]] = {}
        self.standings: dict[str, Standing] = {}
        for name in graph.upstream:
            node = graph.by_name[name]
            self._list_blockers[name] = self._list_blocker(node)
            self.standings[name] = self._standing(node)

    def effect(self, name: str) -> Effect:
        """Return what a step's failure does to the run (LANGUAGE, "Failure keys", rows 7 to 10).

        A failure whose recovery has not ended counts as recovered.
        """
        node = self._graph.by_name[name]
        target = self._way(name)
        # A chain of recoveries ends: each target stands after the step that goes to it.
        while target is not None and self._states.get(target) == "failed":
            node = self._graph.by_name[target]
            target = self._way(target)
        if node.name in self._cut:
            return "fatal"
        if target is not None:
            if not self._is_cancelled(target):
                return "recovered"
        elif node.continue_on_error:
            return "tolerated"
        return "contained" if node.name in self._graph.containable else "fatal"

    def _is_cancelled(self, name: str) -> bool:
        state = self._states.get(name)
        if state != "skipped":
            return state == "upstream_failed"
        # In a list a step may ask for one that stands further down; it has not ended then.
        return not self.standings.get(name, Standing()).may_run

    def _standing(self, node: GraphNode) -> Standing:
        takers = self._takers(node)
        obstacles = (
            self._obstacle(dependency, node.name)
            for dependency in node.dependencies
            if dependency not in takers
        )
        # What the step itself recovers from cancels nothing for it, so that it may also be a step
        # further down.
        blocker = next((step for step in obstacles if step and step not in takers), None)
        blocker = self._list_blockers[node.name] or blocker
        if takers:
            return Standing(blocker)
        if self._is_passed_by(node):
            blocker = self._list_blockers[node.name] or self._undecided_for(node)
            return Standing(blocker, is_not_taken=blocker is None)
        return Standing(blocker)

    def _takers(self, node: GraphNode) -> frozenset[str]:
        """Return the steps that went to this one."""
        sources = self._graph.sources[node.name]
        return frozenset(source for source in sources if self._way(source) == node.name)

    def _way(self, name: str) -> str | None:
        """Return where a step went; what it took counts only while its state still says so."""
        way = self._taken.get(name)
        if way is None or name in self._cut:
            return None
        node, state = self._graph.by_name[name], self._states.get(name)
        is_way = (state == "failed" and way in node.transitions) or (
            state == "success" and way in node.cases
        )
        return way if is_way else None

    def _is_passed_by(self, node: GraphNode) -> bool:
        """Whether a step that no other went to has no reason of its own to run."""
        sources = self._graph.sources[node.name]
        own = [step for step in node.dependencies if step not in sources]
        if own:
            return all(self._is_not_taken(step) for step in own)
        return bool(sources)

    def _is_not_taken(self, name: str) -> bool:
        return self._states.get(name) == "skipped" and self.standings[name].is_not_taken

    def _undecided_for(self, node: GraphNode) -> str | None:
        """Return the fatal failure because of which a router could not choose this step.

        Steps that wait for its choice must not run because of that, as they do beside a case
        that was not chosen.
        """
        for source in self._graph.sources[node.name]:
            is_router = node.name in self._graph.by_name[source].cases
            if is_router and (root := self._if_fatal(self._root(source))):
                return root
        return None

    def _obstacle(self, dependency: str, name: str) -> str | None:
        """Return the failure that keeps step ``name`` from running, by way of ``dependency``."""
        root = self._root(dependency)
        if root != dependency or self._states.get(root) != "failed":
            return root
        if self._way(root) is None:
            return None if self._graph.by_name[root].continue_on_error else root
        return None if name in self._steps_led_to(root) else root

    def _root(self, name: str) -> str | None:
        """Return the failure that a step ended with or was cancelled by, ``None`` for neither."""
        state = self._states.get(name)
        if state == "failed":
            return name
        if state == "upstream_failed":
            return self.standings[name].blocker or name
        return self.standings[name].blocker if state == "skipped" else None

    def _steps_led_to(self, name: str) -> frozenset[str]:
        """Return the steps for which a failed step is resolved by its way.

        They are the target and what depends on it, and the same for the target's own way.
        """
        if name not in self._led_to:
            target = self._way(name)
            found: frozenset[str] = frozenset()
            while target is not None:
                found |= {target} | self._graph.all_dependents(target)
                target = self._way(target)
            self._led_to[name] = found
        return self._led_to[name]

    def _list_blocker(self, node: GraphNode) -> str | None:
        """Return the fatal failure further up in the list.

        An edge that only orders passes on nothing else.
        """
        if node.after is None:
            return None
        return self._list_blockers[node.after] or self._if_fatal(self._root(node.after))

    def _if_fatal(self, root: str | None) -> str | None:
        if root is None:
            return None
        # A step that is upstream_failed without a failure above it was marked by hand.
        is_harmless = self._states.get(root) == "failed" and self.effect(root) != "fatal"
        return None if is_harmless else root
