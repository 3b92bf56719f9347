"""What LANGUAGE's "Failure keys" promise of one step after another, in the words of its tables.

Written apart from ``lifecycle``: it knows how steps ended in words, no state of Airflow's; it keeps
every cause of a cancellation, where the lifecycle keeps one; and it looks anew for what depends on
what at each question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

RAN = frozenset({"ok", "if", "skip", "fail", "stopped"})
FAILED = frozenset({"fail", "stopped"})
UNRUN = frozenset({"cancelled", "not_taken"})


@dataclass(frozen=True)
class ModelStep:
    """The keys of one step.

    :param after: the step above, where that only orders.
    """

    name: str
    depends_on: tuple[str, ...] = ()
    is_tolerant: bool = False
    is_strict: bool = True
    transitions: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    after: str | None = None


class BranchModel:
    """Follows the main steps of one run.

    Steps may end in any order in which each one ends after all that it waits for.

    :ivar ends: step -> ``ok``, ``if`` (false), ``skip`` (by its action), ``fail``, ``stopped``
        (by the deadline or ``fail_fast``), ``cancelled`` or ``not_taken``.
    :ivar ways: failed step -> the step that it recovers with; router -> the case it chose.
    :ivar causes: cancelled step -> every failure because of which it is.
    """

    def __init__(self, steps):
        self.steps = {step.name: step for step in steps}
        self.ends = {}
        self.ways = {}
        self.causes = {}

    def with_keys(self, name, **keys):
        """Return the model of the same workflow with other keys of one step, before it runs."""
        steps = self.steps | {name: replace(self.steps[name], **keys)}
        return BranchModel(steps.values())

    def waits_for(self, name):
        step = self.steps[name]
        above = {step.after} if step.after else set()
        return {*step.depends_on, *above, *self.sources(name)}

    def sources(self, name):
        return {s.name for s in self.steps.values() if name in (*s.transitions, *s.cases)}

    def dependents(self, name):
        """Return all that depend on a step, at any distance."""
        found = set()
        while more := {
            step.name
            for step in self.steps.values()
            if step.name not in found and {name, *found} & {*step.depends_on}
        }:
            found |= more
        return found

    def end(self, name, how, way=None):
        """Take how a step that runs has ended."""
        self.ends[name] = how
        if way is not None:
            self.ways[name] = way

    def decide(self, name):
        """Return what becomes of a step whose turn it is: ``runs``, or why it does not."""
        step = self.steps[name]
        causes = {f for f in self._further_up(name) if self.effect(f) == "fatal"}
        takers = self._chain_to(name)
        if not takers and not causes and not self._has_reason(step):
            causes = self._undecided(name)
            if not causes:
                self.ends[name] = "not_taken"
                return "not_taken"
        if not causes and (takers or self._has_reason(step)):
            causes = {f for above in step.depends_on for f in self._keeping(above, name)} - takers
        if causes:
            self.ends[name], self.causes[name] = "cancelled", causes
            return "cancelled"
        return "runs"

    def effect(self, name):
        """Return what a failed step does to the run, as far as is known (rows 2, 7 to 10)."""
        if self.ends[name] == "stopped":
            return "fatal"
        target = self.ways.get(name)
        end = self.ends.get(target)
        if end in FAILED:
            return self.effect(target)
        if target is not None and end != "cancelled":
            return "recovered"
        if target is None and self.steps[name].is_tolerant:
            return "tolerated"
        below = self.dependents(name)
        is_contained = below and not any(self.steps[step].is_strict for step in below)
        return "contained" if is_contained else "fatal"

    @property
    def failed(self):
        return {name for name, end in self.ends.items() if end in FAILED}

    @property
    def is_completed(self):
        """Whether a run whose steps have all ended is completed."""
        return all(self.effect(name) != "fatal" for name in self.failed)

    def _further_up(self, name):
        """Return the failures above in the list."""
        above = self.steps[name].after
        found = set()
        while above is not None:
            found |= {above} & self.failed
            above = self.steps[above].after
        return found

    def _chain_to(self, name):
        """Return the steps that went to one, also by way of others."""
        sources = {source for source, way in self.ways.items() if way == name}
        return sources.union(*(self._chain_to(source) for source in sources))

    def _has_reason(self, step):
        """Whether a step runs although none goes to it (row 3)."""
        sources = self.sources(step.name)
        own = [above for above in step.depends_on if above not in sources]
        if own:
            return any(self.ends[above] != "not_taken" for above in own)
        return not sources

    def _undecided(self, name):
        """Return the fatal failures because of which a router has not chosen."""
        routers = [step.name for step in self.steps.values() if name in step.cases]
        return {f for router in routers for f in self._roots(router) if self._is_final(f)}

    def _roots(self, name):
        return {name} if self.ends[name] in FAILED else self.causes.get(name, set())

    def _is_final(self, name):
        """Whether a failure is fatal whatever else happens."""
        return name not in self.ways and self.effect(name) == "fatal"

    def _keeping(self, above, name):
        """Return the failures that keep a step from running ("Dependency ended as")."""
        if self.ends[above] not in FAILED:
            return self.causes.get(above, set())
        if above in self.ways:
            is_resolved = any(
                name == way or name in self.dependents(way) for way in self._chain_from(above)
            )
        else:
            is_resolved = self.effect(above) == "tolerated"
        return set() if is_resolved else {above}

    def _chain_from(self, name):
        way = self.ways.get(name)
        return [] if way is None else [way, *self._chain_from(way)]
