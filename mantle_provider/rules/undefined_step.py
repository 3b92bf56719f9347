"""A name of a step is used that no step has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mantle_provider.diagnostics.diagnostic import Diagnostic
from mantle_provider.diagnostics.wording import quote, suggest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mantle_provider.rules.subject import Subject
    from mantle_provider.source.span import Path


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Check expressions, and every key that names a step."""
    readable = [*subject.before_names, *subject.main_names]
    for item in subject.references_to("steps"):
        if item.name is not None and item.name not in readable:
            message = f"step {quote(item.name)} does not exist{suggest(item.name, readable)}"
            if item.name in subject.hook_names:
                message = (
                    f"step {quote(item.name)} does not exist; a hook of that name is read as"
                    f" hooks['{item.name}']"
                )
            yield Diagnostic(
                "undefined-step", message, item.expression.path, fragment=item.fragment
            )
    for expression in subject.expressions:
        misspelt = expression.misspelt
        if misspelt and misspelt.root == "steps":
            message = (
                f"step {quote(misspelt.name)} does not exist{suggest(misspelt.name, readable)}"
            )
            yield Diagnostic("undefined-step", message, expression.path, fragment=misspelt.fragment)
    for relation, name, path in _named_steps(subject):
        if name not in subject.main_names:
            yield _undefined(subject, relation, name, path)


def _undefined(subject: Subject, relation: str, name: str, path: Path) -> Diagnostic:
    is_dependency = "depends_on" in path
    if name in subject.before_names:
        cure = "; every main step comes after it, so remove the entry" if is_dependency else ""
        message = (
            f'{relation} {quote(name)}, which is no main step, but stands in "before_start"{cure}'
        )
    elif name in subject.hook_names:
        cure = ", which comes after all main steps" if is_dependency else ""
        message = f"{relation} {quote(name)}, which is no main step, but a hook{cure}"
    elif name == "end" and not is_dependency:
        message = (
            f"{relation} {quote(name)}, which does not exist; a run cannot be ended from within,"
            " it ends when all of its steps have"
        )
    else:
        ending = suggest(name, subject.main_names)
        message = f"{relation} {quote(name)}, which does not exist{ending}"
    return Diagnostic("undefined-step", message, path)


def _named_steps(subject: Subject) -> Iterator[tuple[str, str, Path]]:
    """Yield (words before the name, name, path) for each key that must name a main step."""
    for placed, step in subject.decoded:
        if placed.is_hook or placed.section == "before_start":
            continue
        who = f"step {quote(step.name)}"
        for index, name in enumerate(step.depends_on):
            yield f"{who} depends on", name, (*placed.path, "depends_on", index)
        for index, case in enumerate(step.switch):
            key = "else" if case.when is None else "to"
            yield f"{who} switches to", case.to, (*placed.path, "switch", index, key)
        for index, rule in enumerate(step.on_error):
            if rule.transition_to is not None:
                path = (*placed.path, "on_error", index, "transition_to")
                yield f"{who} recovers with", rule.transition_to, path
    if subject.workflow.result is not None:
        yield '"result" names', subject.workflow.result, ("result",)
    if subject.workflow.error_handler is not None:
        for index, name in enumerate(subject.workflow.error_handler.targets):
            yield "the error handler goes to", name, ("error_handler", "targets", index)
