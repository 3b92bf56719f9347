"""What the rules look at: the draft of one workflow, its names, and its compiled expressions.

Built once for a file and shared by all rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mantle_provider.errors import ExpressionError
from mantle_provider.rules.edges import find_edges
from mantle_provider.rules.ways import find_backward, find_ways, passed_by
from mantle_provider.source.span import Fragment
from mantle_provider.workflow.model import CronTrigger
from mantle_provider.workflow.references import (
    ExpressionSite,
    compile_site,
    hyphenated,
    iterate_expressions,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.expressions import Program
    from mantle_provider.expressions.references import Reference
    from mantle_provider.rules.edges import Edge
    from mantle_provider.rules.ways import Way
    from mantle_provider.source.span import Path
    from mantle_provider.workflow.decode import Draft, PlacedStep
    from mantle_provider.workflow.model import StartEvent, Step, Workflow
    from mantle_provider.workflow.references import Names


_DOTTED_NAME = re.compile(
    r"\b(?P<root>steps|hooks|artifacts)\.(?P<name>[a-z][a-z0-9]*(?:-[a-z0-9]+)+)"
)


@dataclass(frozen=True, slots=True)
class MisspeltName:
    """A hyphenated name after a dot that is not declared."""

    root: str
    name: str
    fragment: Fragment


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of the file; either ``program`` or ``error`` is there."""

    site: ExpressionSite
    placed: PlacedStep
    program: Program | None = None
    error: ExpressionError | None = None

    @property
    def path(self) -> Path:
        """Where the string stands in the file."""
        return (*self.placed.path, *self.site.path)

    @property
    def misspelt(self) -> MisspeltName | None:
        """The name in dotted form because of which the expression is wrong.

        CEL reads an undeclared ``steps.fetch-dta`` as ``steps.fetch`` minus ``dta``, and so finds
        fault with ``dta``.
        """
        if self.error is None:
            return None
        text = self.site.text
        index = index_at(text, self.error.line, self.error.column)
        for match in _DOTTED_NAME.finditer(text):
            if match.start() <= index < match.end():
                fragment = Fragment.at(text, *match.span("name"))
                return MisspeltName(match["root"], match["name"], fragment)
        return None


@dataclass(frozen=True, slots=True)
class PlacedReference:
    """Something that an expression reads, with the expression."""

    reference: Reference
    expression: Expression

    @property
    def placed(self) -> PlacedStep:
        """The step that reads."""
        return self.expression.placed

    @property
    def name(self) -> str | None:
        """The name below the root, for example of the step; ``None`` when it is computed."""
        path = self.reference.path
        return path[0] if path and isinstance(path[0], str) else None

    @property
    def fragment(self) -> Fragment:
        """The reference in the text of the expression."""
        reference = self.reference
        start = index_at(self.expression.site.text, reference.line, reference.column)
        end = start + reference.end_column - reference.column
        return Fragment.at(self.expression.site.text, start, end)


class Subject:
    """One workflow under check.

    :param allowed_actions: shell patterns of the actions that may be used.
    """

    def __init__(self, draft: Draft, allowed_actions: tuple[str, ...] = ("*",)) -> None:
        self.draft = draft
        self.allowed_actions = allowed_actions

    @property
    def workflow(self) -> Workflow:
        """What could be decoded."""
        return self.draft.workflow

    @cached_property
    def main_steps(self) -> list[PlacedStep]:
        """The steps under ``steps``."""
        return [placed for placed in self.draft.steps if placed.section == "steps"]

    @cached_property
    def main_names(self) -> dict[str, PlacedStep]:
        """Name -> main step, the first of each name."""
        return _first_by_name(self.main_steps)

    @cached_property
    def before_names(self) -> dict[str, PlacedStep]:
        """Name -> step of ``before_start``."""
        placed = [step for step in self.draft.steps if step.section == "before_start"]
        return _first_by_name(placed)

    @cached_property
    def hooks(self) -> list[PlacedStep]:
        """The steps of all lifecycle blocks."""
        return [placed for placed in self.draft.steps if placed.is_hook]

    @cached_property
    def hook_names(self) -> list[str]:
        """The names of all hooks, each once."""
        return list(_first_by_name(self.hooks))

    @cached_property
    def artifact_makers(self) -> dict[str, PlacedStep]:
        """Name of an artifact -> the step, among those that could be decoded, that leaves it."""
        found: dict[str, PlacedStep] = {}
        for placed, step in self.decoded:
            for artifact in step.artifacts:
                found.setdefault(artifact.name, placed)
        return found

    @property
    def artifact_names(self) -> list[str]:
        """The names of all artifacts of steps that could be decoded."""
        return list(self.artifact_makers)

    @cached_property
    def decoded(self) -> list[tuple[PlacedStep, Step]]:
        """The steps and hooks that could be decoded."""
        return [(placed, placed.step) for placed in self.draft.steps if placed.step is not None]

    @cached_property
    def expressions(self) -> list[Expression]:
        """Every expression of the file, compiled."""
        names = hyphenated(
            steps=[*self.before_names, *self.main_names],
            hooks=self.hook_names,
            artifacts=self.artifact_names,
        )
        return [
            _compile(site, placed, step, names)
            for placed, step in self.decoded
            for site in iterate_expressions(step)
        ]

    @cached_property
    def references(self) -> list[PlacedReference]:
        """What the expressions read; what one of them reads twice is there once."""
        found: dict[object, PlacedReference] = {}
        for number, expression in enumerate(self.expressions):
            for item in expression.program.references if expression.program else ():
                key = (number, item.root, item.path, item.is_guarded)
                if key not in found:
                    found[key] = PlacedReference(item, expression)
        return [*found.values()]

    @cached_property
    def triggers(self) -> list[tuple[Path, StartEvent]]:
        """The triggers that could be decoded, with their paths."""
        built = self.draft.built
        paths = sorted(path for path in built if len(path) == 2 and path[0] == "triggers")  # noqa: PLR2004  # key and index
        return [(path, built[path]) for path in paths]

    @property
    def cron_triggers(self) -> list[tuple[Path, CronTrigger]]:
        """The cron triggers among them."""
        return [
            (path, trigger) for path, trigger in self.triggers if isinstance(trigger, CronTrigger)
        ]

    def has(self, *path: str | int) -> bool:
        """Whether the file gives a value other than null at a path."""
        value: Any = self.draft.value
        for item in path:
            value = value.get(item) if isinstance(value, dict) else value[item]
            if value is None:
                return False
        return True

    @cached_property
    def edges(self) -> dict[str, list[Edge]]:
        """What each main step waits for; see :func:`~mantle_provider.rules.edges.find_edges`."""
        return find_edges(self)

    @cached_property
    def dependents(self) -> dict[str, list[str]]:
        """The steps that directly wait for each main step; without those that none waits for."""
        found: dict[str, list[str]] = {}
        for source, edges in self.edges.items():
            for edge in edges:
                found.setdefault(edge.target, []).append(source)
        return found

    @cached_property
    def ways(self) -> list[Way]:
        """Where main steps may go; see :func:`~mantle_provider.rules.ways.find_ways`."""
        return find_ways(self)

    @cached_property
    def backward_ways(self) -> list[Way]:
        """See :func:`~mantle_provider.rules.ways.find_backward`."""
        return find_backward(self)

    @cached_property
    def passed_by(self) -> set[str]:
        """See :func:`~mantle_provider.rules.ways.passed_by`."""
        return passed_by(self)

    def references_to(self, *roots: str) -> Iterator[PlacedReference]:
        """Yield the references below some variables."""
        return (item for item in self.references if item.reference.root in roots)


def _compile(site: ExpressionSite, placed: PlacedStep, step: Step, names: Names) -> Expression:
    try:
        return Expression(site, placed, compile_site(site, step, names))
    except ExpressionError as error:
        return Expression(site, placed, error=error)


def index_at(text: str, line: int, column: int) -> int:
    """Return the index of a line and column, both from 1, in a text."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return min(start + column - 1, len(text))


def _first_by_name(steps: list[PlacedStep]) -> dict[str, PlacedStep]:
    found: dict[str, PlacedStep] = {}
    for placed in steps:
        if placed.name is not None:
            found.setdefault(placed.name, placed)
    return found
