"""What the failure of each step would do, told from the graph alone, before anything runs. Pure.

It foresees what :class:`~mantle_provider.lifecycle.standing.Judge` would judge if the step were the
only one to fail for good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from mantle_provider.lifecycle.order import reachable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mantle_provider.lifecycle.graph import WorkflowGraph

Prospect: TypeAlias = Literal["fatal", "contained", "tolerated", "recoverable"]


@dataclass(frozen=True, slots=True)
class Impact:
    """What the final failure of one step would do to a run in which nothing else fails.

    :param effect: ``recoverable`` where the step may go to another one instead.
    :param otherwise: what the failure is when no way is taken; ``effect`` itself where there is
        none to take.
    :param cancels: the steps that would be cancelled when no way is taken, in the order of the
        file. With ``fail_fast`` a step that runs is stopped instead, and one that has ended stays
        as it is.
    :param recoveries: target -> the steps that would be cancelled, without harm to the run, when
        the step goes to it.

    Where the choice of a router decides whether a step is cancelled, it is counted.
    """

    effect: Prospect
    otherwise: Literal["fatal", "contained", "tolerated"]
    cancels: tuple[str, ...]
    recoveries: Mapping[str, tuple[str, ...]]

    def to_data(self) -> dict[str, Any]:
        """Return the impact as JSON data."""
        return {
            "effect": self.effect,
            "otherwise": self.otherwise,
            "cancels": list(self.cancels),
            "recoveries": {target: list(steps) for target, steps in self.recoveries.items()},
        }


def failure_impacts(graph: WorkflowGraph, *, fail_fast: bool = False) -> dict[str, Impact]:
    """Return step -> what its failure would do, in the order of the file.

    :raises ValueError: the graph has a cycle.
    """
    forecast = _Forecast(graph, fail_fast=fail_fast)
    return {node.name: forecast.impact(node.name) for node in graph.nodes}


class _Forecast:
    """Answers for one graph; what several answers share is found once."""

    def __init__(self, graph: WorkflowGraph, *, fail_fast: bool) -> None:
        self._graph = graph
        self._fail_fast = fail_fast
        self._idle_sets: dict[str | None, frozenset[str]] = {}

    def impact(self, name: str) -> Impact:
        node = self._graph.by_name[name]
        otherwise = self._otherwise(name)
        recoveries = {
            target: self._in_order(self._left_by(name, target)) for target in node.transitions
        }
        return Impact(
            effect="recoverable" if recoveries else otherwise,
            otherwise=otherwise,
            cancels=self._in_order(self._cancelled(name, otherwise)),
            recoveries=recoveries,
        )

    def _otherwise(self, name: str) -> Literal["fatal", "contained", "tolerated"]:
        if self._graph.by_name[name].continue_on_error:
            return "tolerated"
        return "contained" if name in self._graph.containable else "fatal"

    def _cancelled(self, name: str, effect: str) -> set[str]:
        if effect == "tolerated":
            return set()
        if effect == "fatal" and self._fail_fast:
            ended = self._ancestors(name) | self._idle(None) | {name}
            return {*self._graph.by_name} - ended
        return self._cancelled_below(name, is_fatal=effect == "fatal")

    def _cancelled_below(self, name: str, *, is_fatal: bool) -> set[str]:
        """Return what depends on a step and, if fatal, what waits for it in any other way.

        In topological order, so that one look at each step is enough.
        """
        idle = self._idle(None)
        ended = {name}
        listed: set[str] = set()
        for step in self._graph.upstream:
            node = self._graph.by_name[step]
            if (
                is_fatal
                and node.after is not None
                and (node.after in ended or node.after in listed)
            ):
                listed.add(step)
            # Of the steps that could go to an idle one, none does.
            above = self._own(step) if step in idle else node.dependencies
            is_undecided = is_fatal and self._is_undecided(step, ended)
            if step in listed or is_undecided or not ended.isdisjoint(above):
                ended.add(step)
        return ended - {name}

    def _is_undecided(self, name: str, ended: set[str]) -> bool:
        """Whether nothing but a router that could not choose gives a step reason to run."""
        routers = (
            source
            for source in self._graph.sources[name]
            if name in self._graph.by_name[source].cases
        )
        is_waiting = all(step in self._idle(None) for step in self._own(name))
        return is_waiting and any(router in ended for router in routers)

    def _left_by(self, name: str, target: str) -> set[str]:
        """Return what stays cancelled when a step goes to one that recovers for it."""
        idle = self._idle(target)
        led_to = {target} | self._graph.all_dependents(target)
        left: set[str] = set()
        for step in self._graph.upstream:
            above = self._own(step) if step in idle else self._graph.by_name[step].dependencies
            is_first = name in above and step not in led_to
            if step != target and (is_first or not left.isdisjoint(above)):
                left.add(step)
        return left

    def _idle(self, taken: str | None) -> frozenset[str]:
        """Return the steps that do not run, since only recoveries go to them.

        :param taken: the one that a recovery does go to.
        """
        if taken not in self._idle_sets:
            idle: set[str] = set()
            for name in self._graph.upstream:
                sources = self._graph.sources[name]
                is_case = any(name in self._graph.by_name[source].cases for source in sources)
                own = self._own(name)
                is_waiting = all(step in idle for step in own) if own else bool(sources)
                if is_waiting and not is_case and name != taken:
                    idle.add(name)
            self._idle_sets[taken] = frozenset(idle)
        return self._idle_sets[taken]

    def _own(self, name: str) -> list[str]:
        """Return the dependencies of a step that do not go to it by themselves."""
        sources = self._graph.sources[name]
        return [step for step in self._graph.by_name[name].dependencies if step not in sources]

    def _ancestors(self, name: str) -> set[str]:
        """Return what must have ended before a step starts."""
        return reachable(self._graph.upstream[name], self._graph.upstream)

    def _in_order(self, names: set[str]) -> tuple[str, ...]:
        return tuple(node.name for node in self._graph.nodes if node.name in names)
