"""``cancel_branch`` contains no failure, since another step or key decides first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote
from mantle_provider.lifecycle import topological_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.workflow.model import Step


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Look for steps that say ``cancel_branch`` although no failure above them stays in its branch.

    A failure does so only when every step that depends on the failed one, at any distance, says
    the same (LANGUAGE, "Failure keys", row 9). That the step itself is a leaf is no mistake.
    """
    names = [
        (step.name, (*placed.path, "on_dep_failure"))
        for placed, step in subject.decoded
        if placed.section == "steps" and step.on_dep_failure == "cancel_branch"
    ]
    try:
        branches = _Branches(subject) if names else None
    except ValueError:
        return  # dependency-cycle says so
    for name, path in names:
        reason = branches.reason(name) if branches else None
        if reason:
            message = f'"cancel_branch" has no effect here: {reason}'
            yield Diagnostic("ineffective-policy", message, path, "warning")


class _Branches:
    """Who depends on whom among the main steps, at any distance.

    :raises ValueError: the dependencies have a cycle.
    """

    def __init__(self, subject: Subject) -> None:
        self._above = {
            source: [*dict.fromkeys(edge.target for edge in edges)]
            for source, edges in subject.edges.items()
        }
        self._order = topological_order(self._above)
        self._steps: dict[str, Step | None] = {
            name: placed.step for name, placed in subject.main_names.items()
        }
        self._strict = self._first_strict()
        self._has_effect: dict[str, bool] = {}
        for name in self._order:
            self._has_effect[name] = any(
                self._has_effect[above] or self._is_contained(above) for above in self._above[name]
            )

    def _first_strict(self) -> dict[str, str]:
        """Return step -> a step below it that a failed dependency makes fail the run."""
        strict: dict[str, str] = {}
        for name in reversed(self._order):
            step = self._steps[name]
            if step is not None and step.on_dep_failure == "fail_run":
                strict.update(dict.fromkeys(self._above[name], name))
            elif name in strict:
                strict.update(dict.fromkeys(self._above[name], strict[name]))
        return strict

    def _is_contained(self, name: str) -> bool:
        step = self._steps[name]
        is_tolerated = step is not None and step.continue_on_error
        return name not in self._strict and not is_tolerated

    def reason(self, name: str) -> str | None:
        """Return why no failure above a step stays in its branch, ``None`` if one does."""
        if not self._above[name] or self._has_effect[name]:
            return None  # policy-without-dependency says so of a step without one
        if name in self._strict:
            return (
                f"step {quote(self._strict[name])}, which depends on this one, does not say it, so"
                " that a failed dependency fails the run"
            )
        tolerated = [above for above in self._above[name] if above not in self._strict]
        if tolerated:
            names = " and ".join(quote(step) for step in tolerated)
            return f'"continue_on_error" decides first about the failure of {names}'
        above = self._above[name][0]
        return (
            f"step {quote(self._strict[above])}, which depends on {quote(above)} as well, does not"
            f" say it, so that a failure of {quote(above)} fails the run"
        )
