"""The order in which dependencies allow steps to run, and what leads to what. Pure."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def topological_order(dependencies: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return the names so that each stands after everything it depends on.

    Among names that are free at the same time the mapping's own order decides, so an order that
    needs no change is kept.

    :param dependencies: name -> the names it depends on, each of them a key as well.
    :raises ValueError: the dependencies have a cycle.
    """
    names = tuple(dependencies)
    dependents: dict[str, list[int]] = {name: [] for name in names}
    waiting_for = [0] * len(names)
    for index, name in enumerate(names):
        for dependency in set(dependencies[name]):
            dependents[dependency].append(index)
            waiting_for[index] += 1

    free = [index for index, count in enumerate(waiting_for) if count == 0]
    heapify(free)
    ordered = []
    while free:
        name = names[heappop(free)]
        ordered.append(name)
        for index in dependents[name]:
            waiting_for[index] -= 1
            if waiting_for[index] == 0:
                heappush(free, index)
    if len(ordered) < len(names):
        raise ValueError("the dependencies have a cycle")
    return tuple(ordered)


def reachable(starts: Iterable[str], edges: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the names to start from, and all that edges lead to from them, at any distance.

    :param edges: name -> the names that it leads to; a name without edges may be absent.
    """
    found: set[str] = set()
    pending = [*starts]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += edges.get(name, ())
    return found
