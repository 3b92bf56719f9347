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
        self._causes: dict[str, tuple[str, ...]] = {}
        self._led_to: dict[str, frozenset[str]] = {}
        self._last_failures: dict[str, str] = {}
        self.standings: dict[str, Standing] = {}
        for name in graph.upstream:
            node = graph.by_name[name]
            self._list_blockers[name] = self._list_blocker(node)
            self.standings[name] = self._standing(node)

    def effect(self, name: str) -> Effect:
        """Return what a step's failure does to the run (LANGUAGE, "Failure keys", rows 7 to 10).

        A failure whose recovery has not ended counts as recovered.
        """
        last = self.last_failure(name)
        target = self._way(last)
        if last in self._cut:
            return "fatal"
        if target is not None:
            # What stands further down in a list has not ended for a step in between.
            if target not in self.standings or not self._is_cancelled(target):
                return "recovered"
        elif self._graph.by_name[last].continue_on_error:
            return "tolerated"
        return "contained" if last in self._graph.containable else "fatal"

    def last_failure(self, name: str) -> str:
        """Return the failure that decides: a failed step's own, or the last of its recoveries'."""
        followed = []
        # A chain of recoveries ends: each target stands after the step that goes to it.
        while name not in self._last_failures:
            followed.append(name)
            target = self._way(name)
            if target not in self.standings or self._states.get(target) != "failed":
                break
            name = target
        last = self._last_failures.get(name, name)
        if len(self.standings) == len(self._graph.nodes):
            # Until then what stands further down has not been judged. Kept, a chain stays linear.
            self._last_failures |= dict.fromkeys(followed, last)
        return last

    def _is_cancelled(self, name: str) -> bool:
        state = self._states.get(name)
        if state == "skipped":
            return not self.standings[name].may_run
        return state == "upstream_failed"

    def _standing(self, node: GraphNode) -> Standing:
        takers = self._takers(node)
        if takers or not self._is_passed_by(node):
            causes = self._obstacles(node, takers)
            is_not_taken = False
        else:
            causes = self._undecided_for(node)
            is_not_taken = not causes
        above = self._list_blockers[node.name]
        if above is not None:
            causes, is_not_taken = (above,), False
        self._causes[node.name] = causes
        return Standing(causes[0] if causes else None, is_not_taken)

    def _takers(self, node: GraphNode) -> tuple[str, ...]:
        """Return the steps that went to this one."""
        sources = self._graph.sources[node.name]
        return tuple(source for source in sources if self._way(source) == node.name)

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

    def _undecided_for(self, node: GraphNode) -> tuple[str, ...]:
        """Return the fatal failures because of which a router could not choose this step.

        Steps that wait for its choice must not run because of that, as they do beside a case
        that was not chosen.
        """
        return tuple(
            cause
            for source in self._graph.sources[node.name]
            if node.name in self._graph.by_name[source].cases
            for cause in self._causes_of(source)
            if self._is_final(cause)
        )

    def _obstacles(self, node: GraphNode, takers: tuple[str, ...]) -> tuple[str, ...]:
        """Return the failures that keep a step from running, by way of its dependencies.

        What is fatal whatever else happens comes first, so that the first one decides for what
        waits for the step.
        """
        found = [self._obstacles_by(dependency, node.name) for dependency in node.dependencies]
        found = [causes for causes in found if causes]
        if not found:
            return ()
        if len(found) == 1 and not takers:
            # The same tuple, so that a long branch below many failures stays linear.
            return found[0]
        # What the step itself recovers from cancels nothing for it, so that it may also be a step
        # further down.
        recovered = self._all_led_to(takers)
        merged = dict.fromkeys(cause for causes in found for cause in causes)
        left = (cause for cause in merged if cause not in recovered)
        return tuple(sorted(left, key=lambda cause: not self._is_final(cause)))

    def _obstacles_by(self, dependency: str, name: str) -> tuple[str, ...]:
        """Return the failures that keep step ``name`` from running because of ``dependency``."""
        causes = self._causes_of(dependency)
        if self._states.get(dependency) != "failed":
            return causes
        target = self._way(dependency)
        if target is not None:
            return () if name in self._steps_led_to(target) else causes
        return () if self.effect(dependency) == "tolerated" else causes

    def _causes_of(self, name: str) -> tuple[str, ...]:
        """Return the failures that a step ended with or was cancelled by."""
        state = self._states.get(name)
        if state == "failed":
            return (name,)
        if state == "upstream_failed":
            return self._causes[name] or (name,)
        return self._causes[name] if state == "skipped" else ()

    def _is_final(self, cause: str) -> bool:
        """Whether a failure is fatal, whatever else happens."""
        # A step that is upstream_failed without a failure above it was marked by hand.
        is_marked = self._states.get(cause) != "failed"
        return is_marked or (self._way(cause) is None and self.effect(cause) == "fatal")

    def _all_led_to(self, takers: tuple[str, ...]) -> set[str]:
        """Return the steps that went to one, also by way of others."""
        found: set[str] = set()
        pending = [*takers]
        while pending:
            step = pending.pop()
            if step not in found:
                found.add(step)
                pending += self._takers(self._graph.by_name[step])
        return found

    def _steps_led_to(self, target: str) -> frozenset[str]:
        """Return the steps for which a failure is resolved by going to a target.

        They are the target and what depends on it, and the same for the target's own way.
        """
        if target not in self._led_to:
            found: frozenset[str] = frozenset()
            step: str | None = target
            while step is not None:
                found |= {step} | self._graph.all_dependents(step)
                step = self._way(step)
            self._led_to[target] = found
        return self._led_to[target]

    def _list_blocker(self, node: GraphNode) -> str | None:
        """Return the fatal failure further up in the list.

        An edge that only orders passes on nothing else. The failures that the step above was to
        recover have become fatal where it did.
        """
        above = node.after
        if above is None:
            return None
        if self._list_blockers[above] is not None:
            return self._list_blockers[above]
        for step in (above, *self._takers(self._graph.by_name[above])):
            state = self._states.get(step)
            is_marked = state == "upstream_failed" and not self._causes[step]
            if is_marked or (state == "failed" and self.effect(step) == "fatal"):
                return step
        return None
