"""``cancel_branch`` contains no failure, since another step or key decides first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mantle_provider.rules.subject import Subject
    from mantle_provider.workflow.model import Step


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for steps that say ``cancel_branch`` although no failure above them stays in its branch.

    A failure does so only when every step that depends on the failed one, at any distance, says
    the same (LANGUAGE, "Failure keys", row 9). That the step itself is a leaf is no mistake.
    """
    if not any(step.on_dep_failure == "cancel_branch" for _, step in subject.decoded):
        return
    branches = _Branches(subject)
    for placed, step in subject.decoded:
        if placed.section != "steps" or step.on_dep_failure != "cancel_branch":
            continue
        reason = branches.reason(step.name)
        if reason:
            path = (*placed.path, "on_dep_failure")
            message = f'"cancel_branch" has no effect here: {reason}'
            yield Diagnostic("ineffective-policy", message, path, "warning")


class _Branches:
    """Who depends on whom among the main steps, at any distance."""

    def __init__(self, subject: Subject) -> None:
        self._order = [*subject.main_names]
        self._above = {
            source: [*dict.fromkeys(edge.target for edge in edges)]
            for source, edges in subject.edges.items()
        }
        self._below: dict[str, list[str]] = {name: [] for name in self._order}
        for source, targets in self._above.items():
            for target in targets:
                self._below[target].append(source)
        self._steps: dict[str, Step | None] = {
            name: placed.step for name, placed in subject.main_names.items()
        }
        self._strict_below: dict[str, str | None] = {}

    def reason(self, name: str) -> str | None:
        """Return why no failure above a step stays in its branch, ``None`` if one does."""
        above = _reached(name, self._above)
        if not above:
            return None  # policy-without-dependency says so
        strict = self._strict(name)
        if strict is not None:
            return (
                f"step {quote(strict)}, which depends on this one, does not say it, so that a"
                " failed dependency fails the run"
            )
        contained = [step for step in self._order if step in above and not self._strict(step)]
        direct = self._above[name][0]
        beside = self._strict(direct)
        if not contained and beside is not None:
            return (
                f"step {quote(beside)}, which depends on {quote(direct)} as well, does not say it,"
                f" so that a failure of {quote(direct)} fails the run"
            )
        if all(self._is_tolerated(step) for step in contained):
            names = " and ".join(quote(step) for step in contained)
            return f'"continue_on_error" decides first about the failure of {names}'
        return None

    def _strict(self, name: str) -> str | None:
        """Return the first step below one for which a failed dependency fails the run."""
        if name not in self._strict_below:
            below = _reached(name, self._below)
            strict = (step for step in self._order if step in below and self._is_strict(step))
            self._strict_below[name] = next(strict, None)
        return self._strict_below[name]

    def _is_strict(self, name: str) -> bool:
        step = self._steps[name]
        return step is not None and step.on_dep_failure == "fail_run"

    def _is_tolerated(self, name: str) -> bool:
        step = self._steps[name]
        return step is not None and step.continue_on_error


def _reached(name: str, edges: Mapping[str, list[str]]) -> set[str]:
    found: set[str] = set()
    pending = [*edges[name]]
    while pending:
        step = pending.pop()
        if step not in found:
            found.add(step)
            pending += edges[step]
    return found
